/* The header fields of a request as entries of its env, under the names that CGI gives them (RFC 3875, 4.1.18). */
#include "rb_env_parts.h"
#include "syntax.h"

#include <string.h>

#define NAME_ROOM 256   /* longest field name that is looked up; a longer one gets a new String */
#define KNOWN_SLOTS 256 /* of the table of known names; slot_of gives as many */

VALUE cuttle_env_request_start, cuttle_env_upgrade;
static VALUE content_type;

/* Known fields, hashed by their CGI names. */
static struct known {
	const char *name; /* as in the key, without HTTP_ */
	uint8_t length;
	VALUE key;
} known[KNOWN_SLOTS];

/* clang-format off */
static const char *const field_names[] = {
	"ACCEPT", "ACCEPT_CHARSET", "ACCEPT_ENCODING", "ACCEPT_LANGUAGE", "ACCESS_CONTROL_REQUEST_HEADERS",
	"ACCESS_CONTROL_REQUEST_METHOD", "AUTHORIZATION", "CACHE_CONTROL", "CLIENT_IP", "CONNECTION", "COOKIE", "DATE",
	"DNT", "EXPECT", "FORWARDED", "FROM", "HOST", "IF_MATCH", "IF_MODIFIED_SINCE", "IF_NONE_MATCH", "IF_RANGE",
	"IF_UNMODIFIED_SINCE", "KEEP_ALIVE", "MAX_FORWARDS", "ORIGIN", "PRAGMA", "PRIORITY", "PROXY_AUTHORIZATION",
	"RANGE", "REFERER", "SEC_CH_UA", "SEC_CH_UA_MOBILE", "SEC_CH_UA_PLATFORM", "SEC_FETCH_DEST", "SEC_FETCH_MODE",
	"SEC_FETCH_SITE", "SEC_FETCH_USER", "SEC_WEBSOCKET_KEY", "SEC_WEBSOCKET_VERSION", "TE", "TRACEPARENT",
	"TRAILER", "TURBO_FRAME", "UPGRADE", "UPGRADE_INSECURE_REQUESTS", "USER_AGENT", "VIA", "X_CSRF_TOKEN",
	"X_FORWARDED_FOR", "X_FORWARDED_HOST", "X_FORWARDED_PORT", "X_FORWARDED_PROTO", "X_FORWARDED_SCHEME",
	"X_FORWARDED_SSL", "X_HTTP_METHOD_OVERRIDE", "X_REAL_IP", "X_REQUESTED_WITH", "X_REQUEST_ID", "X_REQUEST_START",
};
/* clang-format on */

/* The length and three octets tell known names apart almost always. */
static uint32_t slot_of(const char *name, size_t length)
{
	uint32_t some = (uint32_t)(length << 24) | (uint32_t)(uint8_t)name[0] << 16 |
			(uint32_t)(uint8_t)name[length / 2] << 8 | (uint8_t)name[length - 1];

	return some * UINT32_C(2654435761) >> 24;
}

static struct known *find(const char *name, size_t length)
{
	uint32_t slot = slot_of(name, length);

	while (known[slot].name && (known[slot].length != length || memcmp(known[slot].name, name, length) != 0))
		slot = (slot + 1) & (KNOWN_SLOTS - 1);
	return &known[slot];
}

/* Converts a field's name to a CGI variable's: upper case, "_" for "-", without the prefix. */
static void cgi_name(char *into, const char *name, size_t length)
{
	for (size_t index = 0; index < length; index++) {
		char octet = name[index];

		into[index] = octet >= 'a' && octet <= 'z' ? (char)(octet - 32) : octet == '-' ? '_' : octet;
	}
}

static VALUE key_of(const char *name, size_t length)
{
	char text[NAME_ROOM + 5] = "HTTP_";
	struct known *entry;
	VALUE string;

	if (length > NAME_ROOM) {
		string = rb_str_new(NULL, (long)length + 5);
		memcpy(RSTRING_PTR(string), text, 5);
		cgi_name(RSTRING_PTR(string) + 5, name, length);
		return rb_str_freeze(string);
	}
	cgi_name(text + 5, name, length);
	entry = find(text + 5, length);
	return entry->name ? entry->key : rb_enc_interned_str(text, (long)length + 5, rb_usascii_encoding());
}

VALUE cuttle_env_key(const char *name, size_t length)
{
	bool none = false;

	switch (length) {
	case 4:
		none = cuttle_same(name, 4, "host");
		break;
	case 7:
		none = cuttle_same(name, 7, "version");
		break;
	case 12:
		if (cuttle_same(name, 12, "content-type"))
			return content_type;
		break;
	case 14:
		none = cuttle_same(name, 14, "content-length");
		break;
	case 17:
		none = cuttle_same(name, 17, "transfer-encoding");
		break;
	}
	return none ? Qnil : key_of(name, length);
}

/* RFC 9110, 5.3: fields of one name form one list, but there is one Content-Type. Cookies are joined as in RFC 6265,
 * 5.4. */
static void add_field(VALUE env, VALUE key, const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	VALUE before = rb_hash_lookup2(env, key, Qundef), joined;

	if (before == Qundef || key == content_type) {
		rb_hash_aset(env, key, cuttle_env_value(exchange, field));
		return;
	}
	joined = rb_str_dup(before);
	rb_str_cat_cstr(joined,
			RSTRING_LEN(key) == 11 && memcmp(RSTRING_PTR(key), "HTTP_COOKIE", 11) == 0 ? "; " : ", ");
	rb_str_cat(joined, cuttle_exchange_at(exchange, field->value), field->value.length);
	rb_hash_aset(env, key, joined);
}

static bool has_underscore(const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	return memchr(cuttle_exchange_at(exchange, field->name), '_', field->name.length);
}

static void add_underscored(VALUE fields, const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	const char *name = cuttle_exchange_at(exchange, field->name);
	char dashed[NAME_ROOM];
	VALUE key;

	if (field->name.length > NAME_ROOM || cuttle_client_hides(exchange, name, field->name.length))
		return;
	for (uint32_t at = 0; at < field->name.length; at++)
		dashed[at] = name[at] == '_' ? '-' : name[at];
	key = cuttle_env_key(dashed, field->name.length);
	if (!NIL_P(key) && key != content_type)
		add_field(fields, key, exchange, field);
}

int cuttle_env_add_unless_there(VALUE key, VALUE value, VALUE env)
{
	if (rb_hash_lookup2(env, key, Qundef) == Qundef)
		rb_hash_aset(env, key, value);
	return ST_CONTINUE;
}

/* Adds fields with an underscore in their name. They could pass for others: X_Remote_User for X-Remote-User. So they
 * are dropped unless an operator keeps them. They are then added only if there is no such field with dashes, and never
 * affect the framing. */
static void add_all_underscored(VALUE env, const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE fields = rb_hash_new();

	for (uint32_t index = 0; index < head->field_count; index++)
		if (has_underscore(exchange, &head->fields[index]))
			add_underscored(fields, exchange, &head->fields[index]);
	rb_hash_foreach(fields, cuttle_env_add_unless_there, env);
	RB_GC_GUARD(fields);
}

struct cuttle_env_fields cuttle_env_add_fields(VALUE env, const struct cuttle_exchange *exchange, bool keep_underscores)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	struct cuttle_env_fields fields = {.upgrade = false};
	bool underscores = false, trust = exchange->connection->core->trust;

	for (uint32_t index = 0; index < head->field_count; index++) {
		const struct cuttle_field *field = &head->fields[index];
		const char *name = cuttle_exchange_at(exchange, field->name);
		VALUE key;

		if (has_underscore(exchange, field)) {
			underscores = true;
			continue;
		}
		if (trust && cuttle_client_hides(exchange, name, field->name.length))
			continue;
		key = cuttle_env_key(name, field->name.length);
		if (NIL_P(key))
			continue;
		if (key == cuttle_env_request_start && !fields.start.length)
			fields.start = field->value;
		fields.upgrade = fields.upgrade || key == cuttle_env_upgrade;
		add_field(env, key, exchange, field);
	}
	if (underscores && keep_underscores)
		add_all_underscored(env, exchange);
	return fields;
}

void Init_cuttle_env_fields(void)
{
	content_type = cuttle_env_interned("CONTENT_TYPE");
	cuttle_env_request_start = cuttle_env_interned("HTTP_X_REQUEST_START");
	cuttle_env_upgrade = cuttle_env_interned("HTTP_UPGRADE");
	for (size_t index = 0; index < sizeof field_names / sizeof *field_names; index++) {
		size_t length = strlen(field_names[index]);
		char text[64] = "HTTP_";

		strcat(text, field_names[index]);
		*find(field_names[index], length) =
			(struct known){field_names[index], (uint8_t)length, cuttle_env_interned(text)};
	}
}
