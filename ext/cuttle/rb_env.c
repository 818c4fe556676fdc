/* A request as a Rack env (Rack SPEC, The Environment). This is the only C file that knows Rack's and CGI's names.
 *
 * Keys are interned once. Each env starts as a copy of its source's env, which describes the most common request, so
 * what is the same (protocol, authority, address) is not entered again. The entries that each request sets come first
 * in it and are replaced in one pass: looking up each would cost more than everything else. A request with the fields
 * that most requests have (usual.h) starts as a copy of another env, where those come next. Values that recur are
 * frozen and shared; the app owns the others. All are binary and have every octet as it was sent. */
#include "rb_exchange.h"
#include "request_start.h"
#include "syntax.h"

#include <stdio.h>
#include <string.h>

#define NAME_ROOM 256   /* longest field name that is looked up; a longer one gets a new String */
#define KNOWN_SLOTS 256 /* of the table of known names; slot_of gives as many */

/* Entries that each request sets, in the order of an env. Lists of callbacks come first, because they are looked at
 * again; those that the source's env often has right come last. */
enum own {
	FINISHED,
	AFTER_REPLY,
	LISTS,
	PATH = LISTS,
	URI,
	HIJACK,
	HINTS,
	QUEUE_TIME,
	LEDGER,
	QUERY,
	METHOD,
	ADDRESS,
	PROTOCOL,
	OWN,
};

static const char *const own_names[OWN] = {
	[METHOD] = "REQUEST_METHOD",
	[PATH] = "PATH_INFO",
	[QUERY] = "QUERY_STRING",
	[URI] = "REQUEST_URI",
	[PROTOCOL] = "SERVER_PROTOCOL",
	[ADDRESS] = "REMOTE_ADDR",
	[HIJACK] = "rack.hijack",
	[HINTS] = "rack.early_hints",
	[FINISHED] = "rack.response_finished",
	[AFTER_REPLY] = "rack.after_reply",
	[QUEUE_TIME] = "cuttle.queue_time",
	[LEDGER] = "cuttle.ledger",
};

/* As WEBrick, Apache and nginx call them. */
static const char *const fact_names[CUTTLE_FACTS] = {
	[CUTTLE_FACT_PROTOCOL] = "SSL_PROTOCOL",          [CUTTLE_FACT_CIPHER] = "SSL_CIPHER",
	[CUTTLE_FACT_SERVER_NAME] = "SSL_SERVER_NAME",    [CUTTLE_FACT_CLIENT_VERIFY] = "SSL_CLIENT_VERIFY",
	[CUTTLE_FACT_CLIENT_SUBJECT] = "SSL_CLIENT_S_DN", [CUTTLE_FACT_CLIENT_CERT] = "SSL_CLIENT_CERT",
};

static VALUE own_keys[OWN];
static VALUE server_name, server_port, http_host, request_start, content_length, content_type, input_key;
static VALUE empty, slash, http_1_0, http_1_1, port_80, port_443, url_scheme, https, https_key, on;
static VALUE fact_keys[CUTTLE_FACTS];
static VALUE string_io;

/* Known fields, hashed by their CGI names. */
static struct known {
	const char *name; /* as in the key, without HTTP_ */
	uint8_t length;
	VALUE key;
} known[KNOWN_SLOTS];

static VALUE methods[10];
static const char *const method_names[10] = {"GET",   "POST",    "PUT",   "DELETE", "HEAD",
					     "PATCH", "OPTIONS", "TRACE", "LINK",   "UNLINK"};

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

static VALUE interned(const char *text)
{
	VALUE string = rb_enc_interned_str_cstr(text, rb_usascii_encoding());

	rb_gc_register_mark_object(string);
	return string;
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

/* Returns the key of a field's entry. nil for fields that have none, because they frame the message, have been read
 * (Host), or would pass for the server's. */
static VALUE entry_of(const char *name, size_t length)
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

static VALUE value_of(const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	return field->value.length ? rb_str_new(cuttle_exchange_at(exchange, field->value), field->value.length)
				   : rb_str_dup(empty);
}

/* RFC 9110, 5.3: fields of one name form one list, but there is one Content-Type. Cookies are joined as in RFC 6265,
 * 5.4. */
static void add_field(VALUE env, VALUE key, const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	VALUE before = rb_hash_lookup2(env, key, Qundef), joined;

	if (before == Qundef || key == content_type) {
		rb_hash_aset(env, key, value_of(exchange, field));
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
	key = entry_of(dashed, field->name.length);
	if (!NIL_P(key) && key != content_type)
		add_field(fields, key, exchange, field);
}

static int add_unless_there(VALUE key, VALUE value, VALUE env)
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
	rb_hash_foreach(fields, add_unless_there, env);
	RB_GC_GUARD(fields);
}

/* Adds all fields. Returns the first X-Request-Start, which the outermost router sent; empty if there is none. */
static struct cuttle_slice add_fields(VALUE env, const struct cuttle_exchange *exchange, bool keep_underscores)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	struct cuttle_slice start = {0};
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
		key = entry_of(name, field->name.length);
		if (NIL_P(key))
			continue;
		if (key == request_start && !start.length)
			start = field->value;
		add_field(env, key, exchange, field);
	}
	if (underscores && keep_underscores)
		add_all_underscored(env, exchange);
	return start;
}

static VALUE method_of(const struct cuttle_exchange *exchange)
{
	struct cuttle_slice method = cuttle_exchange_head(exchange)->method;
	const char *at = cuttle_exchange_at(exchange, method);

	for (size_t index = 0; index < sizeof methods / sizeof *methods; index++)
		if ((size_t)RSTRING_LEN(methods[index]) == method.length &&
		    memcmp(RSTRING_PTR(methods[index]), at, method.length) == 0)
			return methods[index];
	return rb_enc_interned_str(at, method.length, rb_usascii_encoding());
}

static VALUE binary(const struct cuttle_exchange *exchange, struct cuttle_slice slice)
{
	return rb_str_new(cuttle_exchange_at(exchange, slice), slice.length);
}

static bool same_octets(VALUE string, const struct cuttle_exchange *exchange, struct cuttle_slice slice)
{
	return (size_t)RSTRING_LEN(string) == slice.length &&
	       memcmp(RSTRING_PTR(string), cuttle_exchange_at(exchange, slice), slice.length) == 0;
}

/* Whether the source's env has this authority already. */
static bool same_authority(const struct cuttle_source *source, const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);

	return !NIL_P(source->server_name) && same_octets(source->server_name, exchange, head->host) &&
	       same_octets(source->sent_port, exchange, head->port);
}

/* Sets an entry that most requests have in common. */
static void set_for_all(struct cuttle_source *source, VALUE key, VALUE value)
{
	rb_hash_aset(source->env, key, value);
	if (!NIL_P(source->usual_env))
		rb_hash_aset(source->usual_env, key, value);
}

/* Puts the authority into the source's env, since most requests have the same. */
static void learn_authority(struct cuttle_source *source, const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE name = rb_str_freeze(binary(exchange, head->host)), port = rb_str_freeze(binary(exchange, head->port));
	VALUE host = name;

	if (RSTRING_LEN(port) > 0)
		host = rb_str_freeze(rb_str_append(rb_str_cat_cstr(rb_str_dup(name), ":"), port));
	RB_OBJ_WRITE(source->self, &source->server_name, name);
	RB_OBJ_WRITE(source->self, &source->sent_port, port);
	set_for_all(source, http_host, host);
	set_for_all(source, server_name, name);
	set_for_all(source, server_port, RSTRING_LEN(port) > 0 ? port : port_80);
}

/* A request without an authority (HTTP/1.0) gets the listener's. */
static void use_local_authority(VALUE env, const struct cuttle_source *source)
{
	rb_hash_delete(env, http_host);
	rb_hash_aset(env, server_name, source->local_name);
	rb_hash_aset(env, server_port, source->local_port);
}

/* Returns the file that a body was spooled to, as an IO of its own. The spool is charged for it until it is closed. */
static VALUE spooled_input(struct cuttle_extras *extras, struct cuttle_body *body)
{
	uint64_t charged = 0;
	int file;

	if (extras->spool) /* env was called before */
		return extras->input;
	file = cuttle_stream_take_file(body->stream, &charged);
	if (file < 0)
		rb_sys_fail("rack.input");
	extras->spool = cuttle_spool_share(body->spool);
	extras->charged = charged;
	rb_update_max_fd(file);
	return rb_funcall(rb_cFile, rb_intern("for_fd"), 2, INT2NUM(file), rb_str_new_lit("r+b"));
}

/* Returns a body in memory as a binary IO. */
static VALUE input_from(const struct cuttle_body *body)
{
	VALUE octets = rb_str_new(body->memory, (long)body->length);
	VALUE input = rb_class_new_instance(1, &octets, string_io);

	rb_funcall(input, rb_intern("binmode"), 0); /* it has the default encodings, if there is an internal one */
	return input;
}

static VALUE decimal(uint64_t number)
{
	char text[24];

	return rb_usascii_str_new(text, snprintf(text, sizeof text, "%llu", (unsigned long long)number));
}

/* Adds rack.input: the file that the body was spooled to, or the body itself. The source's env has the entry for
 * requests without a body. */
static void add_input(VALUE env, struct cuttle_held *held)
{
	struct cuttle_body *body = held->live->body;
	struct cuttle_extras *extras;
	VALUE input;

	if (!body) {
		if (cuttle_exchange_head(held->live)->has_length)
			rb_hash_aset(env, content_length, rb_str_new_lit("0"));
		return;
	}
	extras = cuttle_held_extras(held);
	input = body->stream ? spooled_input(extras, body) : input_from(body);
	RB_OBJ_WRITE(held->self, &extras->input, input);
	rb_hash_aset(env, input_key, input);
	rb_hash_aset(env, content_length, decimal(body->total));
}

/* The first entries of an env while they are replaced. Qundef keeps an entry. */
struct replacement {
	VALUE values[OWN + CUTTLE_USUAL_FIELDS];
	int at, end; /* the next entry, and the end of those to replace */
};

static int next_own(st_data_t key, st_data_t value, st_data_t data, int error)
{
	struct replacement *replacement = (struct replacement *)data;

	if (replacement->at == replacement->end)
		return ST_STOP;
	if (replacement->values[replacement->at] != Qundef)
		return ST_REPLACE;
	replacement->at++;
	return ST_CONTINUE;
}

static int replace_own(st_data_t *key, st_data_t *value, st_data_t data, int existing)
{
	struct replacement *replacement = (struct replacement *)data;

	*value = replacement->values[replacement->at++]; /* a Hash whose RHASH_TBL was taken has no write barrier */
	return ST_CONTINUE;
}

/* Returns how long the request waited for a thread, in seconds. It counts from the time that its router states. Without
 * one it counts from completion, and for a connection's first request adds the time from accept to the first octet. The
 * time that the client took to send the request does not count. */
static VALUE time_in_queue(const struct cuttle_exchange *exchange, struct cuttle_slice start)
{
	const uint64_t *times = exchange->times;
	uint64_t waited = cuttle_between(times[CUTTLE_COMPLETE_AT], times[CUTTLE_TAKEN_AT]);

	if (exchange->connection->served == 1)
		waited += times[CUTTLE_FIRST_OCTET] - times[CUTTLE_ACCEPTED];
	if (start.length)
		cuttle_request_start(cuttle_exchange_at(exchange, start), start.length, &waited);
	return DBL2NUM((double)waited / (double)CUTTLE_SECOND);
}

/* Whether the source's env has the address of the connection's client already. A trusted peer may speak for another. */
static bool same_address(const struct cuttle_source *source, const struct cuttle_connection *connection)
{
	return !connection->trusted && cuttle_peer_same(&connection->client, &source->peer);
}

/* Sets what belongs to this exchange alone, so that an app that keeps it gets nothing of the next one. The exchange
 * itself serves as rack.hijack, rack.early_hints and cuttle.ledger. usual: the env has entries for its fields. */
static void introduce(VALUE env, struct cuttle_held *held, const struct cuttle_source *source, bool usual)
{
	const struct cuttle_exchange *exchange = held->live;
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE method = method_of(exchange);
	struct cuttle_slice start = {0};
	struct replacement own;

	own.at = 0;
	own.end = OWN;
	for (uint32_t index = 0; usual && index < head->field_count; index++)
		if (source->usual_entries >> index & 1)
			own.values[own.end++] = value_of(exchange, &head->fields[index]);
	if (usual && source->usual_start >= 0)
		start = head->fields[source->usual_start].value;
	own.values[METHOD] = method == methods[0] ? Qundef : method;
	own.values[PATH] = head->path.length ? binary(exchange, head->path) : rb_str_dup(slash);
	own.values[QUERY] = head->query.length ? binary(exchange, head->query) : Qundef;
	own.values[URI] = binary(exchange, head->target);
	own.values[PROTOCOL] = head->minor ? Qundef : http_1_0;
	own.values[ADDRESS] = same_address(source, exchange->connection) ? Qundef : cuttle_client_address(held);
	own.values[HIJACK] = own.values[HINTS] = own.values[LEDGER] = held->self;
	own.values[FINISHED] = rb_ary_new();
	own.values[AFTER_REPLY] = rb_ary_new();
	own.values[QUEUE_TIME] = time_in_queue(exchange, start);
	while (own.values[own.end - 1] == Qundef)
		own.end--;
	st_foreach_with_replace(RHASH_TBL(env), next_own, replace_own, (st_data_t)&own);
}

/* Makes the env that requests with the fields of this one start as. There is none where a field may be joined with
 * another. It runs no Ruby code, so that no other thread changes what it reads. */
static void learn_fields(struct cuttle_source *source, const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE env = rb_hash_new();
	uint32_t entries = 0;
	int start = -1;

	source->usual.fresh = false;
	source->usual_env = Qnil;
	for (int index = 0; index < OWN; index++)
		rb_hash_aset(env, own_keys[index], rb_hash_lookup(source->env, own_keys[index]));
	for (uint32_t index = 0; index < head->field_count; index++) {
		const char *name = cuttle_exchange_at(exchange, head->fields[index].name);
		uint32_t length = head->fields[index].name.length;
		VALUE key = memchr(name, '_', length) ? Qundef : entry_of(name, length);

		if (key == Qundef && source->core->limits.underscores)
			return;
		if (key == Qundef || NIL_P(key) || cuttle_client_hides(exchange, name, length))
			continue;
		if (rb_hash_lookup2(env, key, Qundef) != Qundef || rb_hash_lookup2(source->env, key, Qundef) != Qundef)
			return;
		rb_hash_aset(env, key, empty);
		entries |= UINT32_C(1) << index;
		if (key == request_start)
			start = (int)index;
	}
	rb_hash_foreach(source->env, add_unless_there, env);
	source->usual_entries = entries;
	source->usual_start = start;
	RB_OBJ_WRITE(source->self, &source->usual_env, env);
}

/* Whether the request's env starts as the source's usual one. */
static bool is_usual(struct cuttle_source *source, const struct cuttle_exchange *exchange)
{
	const char *octets = cuttle_exchange_at(exchange, (struct cuttle_slice){0});

	if (!cuttle_usual_vote(&source->usual, cuttle_exchange_head(exchange), octets, exchange->connection->trusted))
		return false;
	if (source->usual.fresh)
		learn_fields(source, exchange);
	return !NIL_P(source->usual_env);
}

/* Whether there are callbacks. The app may have put a list of its own there. */
static bool has_entries(VALUE list)
{
	return RB_TYPE_P(list, T_ARRAY) ? RARRAY_LEN(list) > 0 : RTEST(list);
}

struct callbacks {
	int at; /* the next list */
	bool any;
};

static int look_at_list(st_data_t key, st_data_t value, st_data_t data)
{
	struct callbacks *callbacks = (struct callbacks *)data;

	if ((VALUE)key != own_keys[callbacks->at])
		return ST_STOP;
	callbacks->any = callbacks->any || has_entries((VALUE)value);
	return ++callbacks->at == LISTS ? ST_STOP : ST_CONTINUE;
}

/* The lists are the first entries, unless the app has removed one. */
bool cuttle_env_has_callbacks(const struct cuttle_held *held)
{
	struct callbacks callbacks = {0};

	if (NIL_P(held->env))
		return false;
	st_foreach(RHASH_TBL(held->env), look_at_list, (st_data_t)&callbacks);
	for (; callbacks.at < LISTS; callbacks.at++)
		callbacks.any = callbacks.any || has_entries(rb_hash_lookup2(held->env, own_keys[callbacks.at], Qnil));
	return callbacks.any;
}

VALUE cuttle_env_model(VALUE env)
{
	VALUE model = rb_hash_new();

	for (int index = 0; index < OWN; index++)
		rb_hash_aset(model, own_keys[index], empty);
	rb_hash_aset(model, own_keys[METHOD], methods[0]);
	rb_hash_aset(model, own_keys[PROTOCOL], http_1_1);
	rb_hash_aset(model, server_name, empty);
	rb_hash_aset(model, server_port, port_80);
	rb_hash_aset(model, http_host, empty);
	return rb_funcall(model, rb_intern("update"), 1, env);
}

/* Puts the peer's address into the source's env, since behind a proxy most requests have the same. It does so once a
 * connection sends its second request. */
static void learn_address(struct cuttle_source *source, const struct cuttle_connection *connection)
{
	const struct cuttle_peer *peer = &connection->client;
	VALUE address;

	if (cuttle_peer_same(peer, &source->peer))
		return;
	address = cuttle_source_address(source, peer);
	RB_OBJ_WRITE(source->self, &source->address, address);
	source->peer = *peer;
	set_for_all(source, own_keys[ADDRESS], address);
}

/* Returns a fact of the connection's transport as a frozen String, nil if there is none. */
static VALUE fact(const struct cuttle_held *held, enum cuttle_fact fact)
{
	struct cuttle_transport *transport = &held->live->connection->transport;
	char text[CUTTLE_FACT_ROOM];
	ssize_t length;

	cuttle_held_lock(held);
	length = transport->type->describe(transport, fact, text);
	cuttle_held_unlock(held);
	if (length < 0)
		return Qnil;
	if (fact <= CUTTLE_FACT_CIPHER) /* of which there are few */
		return rb_enc_interned_str(text, length, rb_usascii_encoding());
	return rb_str_freeze(rb_str_new(text, length));
}

/* Returns what the app learns of a secured connection, which is the same for all of its requests: an Array of keys and
 * values by turns. */
static VALUE secured_facts(const struct cuttle_held *held)
{
	struct cuttle_connection *connection = held->live->connection;
	uintptr_t known = cuttle_connection_reference(connection, CUTTLE_TO_FACTS);
	VALUE facts;

	if (known)
		return (VALUE)known;
	facts = rb_ary_new();
	for (int index = 0; index < CUTTLE_FACTS; index++) {
		VALUE value = fact(held, (enum cuttle_fact)index);

		if (!NIL_P(value))
			rb_ary_push(rb_ary_push(facts, fact_keys[index]), value);
	}
	cuttle_source_refer(held->owner, connection, CUTTLE_TO_FACTS, facts); /* or it is made again */
	return facts;
}

static void add_facts(VALUE env, const struct cuttle_held *held)
{
	VALUE facts = secured_facts(held);

	for (long index = 0; index < RARRAY_LEN(facts); index += 2)
		rb_hash_aset(env, RARRAY_AREF(facts, index), RARRAY_AREF(facts, index + 1));
}

/* The client speaks TLS, with us or with a proxy. */
static void use_https(VALUE env, const struct cuttle_exchange *exchange, bool authority)
{
	rb_hash_aset(env, url_scheme, https);
	if (exchange->connection->secured)
		rb_hash_aset(env, https_key, on);
	if (authority && !cuttle_exchange_head(exchange)->port.length)
		rb_hash_aset(env, server_port, port_443);
}

VALUE cuttle_env(struct cuttle_held *held)
{
	struct cuttle_source *source = cuttle_held_core(held)->source;
	const struct cuttle_head *head = cuttle_exchange_head(held->live);
	bool authority = head->has_host && head->host.length > 0;
	struct cuttle_slice start;
	bool usual;
	VALUE env;

	if (authority && !same_authority(source, held->live))
		learn_authority(source, held->live);
	if (held->live->connection->served == 2)
		learn_address(source, held->live->connection);
	usual = is_usual(source, held->live);
	env = rb_hash_dup(usual ? source->usual_env : source->env);
	introduce(env, held, source, usual);
	if (!authority)
		use_local_authority(env, source);
	if (!usual) {
		start = add_fields(env, held->live, source->core->limits.underscores);
		if (start.length)
			rb_hash_aset(env, own_keys[QUEUE_TIME], time_in_queue(held->live, start));
	}
	if (held->live->connection->secured)
		add_facts(env, held);
	if ((source->core->trust || held->live->connection->secured) && cuttle_client_secure(held->live))
		use_https(env, held->live, authority);
	add_input(env, held);
	return env;
}

static void know_fields(void)
{
	for (size_t index = 0; index < sizeof field_names / sizeof *field_names; index++) {
		char text[64] = "HTTP_";
		struct known *entry = find(field_names[index], strlen(field_names[index]));

		strcat(text, field_names[index]);
		*entry = (struct known){field_names[index], (uint8_t)strlen(field_names[index]), interned(text)};
	}
}

void Init_cuttle_env(void)
{
	know_fields();
	for (size_t index = 0; index < sizeof methods / sizeof *methods; index++)
		methods[index] = interned(method_names[index]);
	for (int index = 0; index < OWN; index++)
		own_keys[index] = interned(own_names[index]);
	for (int index = 0; index < CUTTLE_FACTS; index++)
		fact_keys[index] = interned(fact_names[index]);
	https_key = interned("HTTPS");
	on = interned("on");
	server_name = interned("SERVER_NAME");
	server_port = interned("SERVER_PORT");
	http_host = interned("HTTP_HOST");
	content_length = interned("CONTENT_LENGTH");
	content_type = interned("CONTENT_TYPE");
	input_key = interned("rack.input");
	request_start = interned("HTTP_X_REQUEST_START");
	http_1_0 = interned("HTTP/1.0");
	http_1_1 = interned("HTTP/1.1");
	url_scheme = interned("rack.url_scheme");
	https = interned("https");
	port_80 = interned("80");
	port_443 = interned("443");
	slash = interned("/");
	empty = interned("");
	rb_require("stringio");
	string_io = rb_const_get(rb_cObject, rb_intern("StringIO"));
	rb_gc_register_mark_object(string_io);
}
