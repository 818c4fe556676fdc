/* A request as a Rack env (Rack SPEC, The Environment). Only the files rb_env*.c know Rack's and CGI's names: this one
 * sets what every request has, the others add the fields, the body, and what TLS tells.
 *
 * Keys are interned once. Each env starts as a copy of its source's env, which describes the most common request, so
 * what is the same (protocol, authority, address) is not entered again. The entries that each request sets come first
 * in it and are replaced in one pass: looking up each would cost more than everything else. A request with the fields
 * that most requests have (usual.h) starts as a copy of another env, where those come next. Values that recur are
 * frozen and shared; the app owns the others. All are binary and have every octet as it was sent. */
#include "rb_env_parts.h"
#include "request_start.h"

#include <string.h>

/* Entries that each request sets, in the order of an env. Lists of callbacks come first, because they are looked at
 * again; those that the source's env often has right come at the end. HINTS is the last, since it may be missing. */
enum own {
	FINISHED,
	AFTER_REPLY,
	LISTS,
	PATH = LISTS,
	URI,
	HIJACK,
	QUEUE_TIME,
	LEDGER,
	QUERY,
	METHOD,
	ADDRESS,
	PROTOCOL,
	HINTS,
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

VALUE cuttle_env_empty;
static VALUE own_keys[OWN];
static VALUE server_name, server_port, http_host, slash, asterisk, http_1_0, http_1_1, port_80;

enum { OPTIONS = 6, METHODS = 10 };

static VALUE methods[METHODS];
static const char *const method_names[METHODS] = {
	"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", [OPTIONS] = "OPTIONS", "TRACE", "LINK", "UNLINK",
};

VALUE cuttle_env_interned(const char *text)
{
	VALUE string = rb_enc_interned_str_cstr(text, rb_usascii_encoding());

	rb_gc_register_mark_object(string);
	return string;
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

/* The number of entries that each request sets. */
static int own_entries(const struct cuttle_source *source)
{
	return source->core->limits.early_hints ? OWN : HINTS;
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

/* RFC 9110, 4.2.3: an empty path means "/". With OPTIONS and no query it means the server, as "*" does. */
static VALUE without_path(const struct cuttle_head *head, VALUE method)
{
	return rb_str_dup(method == methods[OPTIONS] && !head->has_query ? asterisk : slash);
}

/* Sets what belongs to this exchange alone, so that an app that keeps it gets nothing of the next one. The exchange
 * itself serves as rack.hijack, rack.early_hints and cuttle.ledger. usual: the env has entries for its fields. Inlined,
 * because each request runs it once. */
__attribute__((always_inline)) static inline void introduce(VALUE env, struct cuttle_held *held,
							    const struct cuttle_source *source, bool usual)
{
	const struct cuttle_exchange *exchange = held->live;
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE method = method_of(exchange);
	struct cuttle_slice start = {0};
	struct replacement own;

	own.at = 0;
	own.end = own_entries(source);
	own.values[HINTS] = held->self; /* not counted if there are no hints */
	for (uint32_t index = 0; usual && index < head->field_count; index++)
		if (source->usual_entries >> index & 1)
			own.values[own.end++] = cuttle_env_value(exchange, &head->fields[index]);
	if (usual && source->usual_start >= 0)
		start = head->fields[source->usual_start].value;
	own.values[METHOD] = method == methods[0] ? Qundef : method;
	own.values[PATH] = head->path.length ? binary(exchange, head->path) : without_path(head, method);
	own.values[QUERY] = head->query.length ? binary(exchange, head->query) : Qundef;
	own.values[URI] = binary(exchange, head->target);
	own.values[PROTOCOL] = head->minor ? Qundef : http_1_0;
	own.values[ADDRESS] = same_address(source, exchange->connection) ? Qundef : cuttle_client_address(held);
	own.values[HIJACK] = own.values[LEDGER] = held->self;
	own.values[FINISHED] = rb_ary_new();
	own.values[AFTER_REPLY] = rb_ary_new();
	own.values[QUEUE_TIME] = time_in_queue(exchange, start);
	while (own.values[own.end - 1] == Qundef)
		own.end--;
	st_foreach_with_replace(RHASH_TBL(env), next_own, replace_own, (st_data_t)&own);
}

/* Makes the env that requests with the fields of this one start as. There is none where a field may be joined with
 * another, or where the app may keep the env (see cuttle_env). It runs no Ruby code, so that no other thread changes
 * what it reads. */
static void learn_fields(struct cuttle_source *source, const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	VALUE env = rb_hash_new();
	uint32_t entries = 0;
	int start = -1;

	source->usual.fresh = false;
	source->usual_env = Qnil;
	for (int index = 0; index < own_entries(source); index++)
		rb_hash_aset(env, own_keys[index], rb_hash_lookup(source->env, own_keys[index]));
	for (uint32_t index = 0; index < head->field_count; index++) {
		const char *name = cuttle_exchange_at(exchange, head->fields[index].name);
		uint32_t length = head->fields[index].name.length;
		VALUE key = memchr(name, '_', length) ? Qundef : cuttle_env_key(name, length);

		if (key == Qundef && source->core->limits.underscores)
			return;
		if (key == Qundef || NIL_P(key) || cuttle_client_hides(exchange, name, length))
			continue;
		if (key == cuttle_env_upgrade || rb_hash_lookup2(env, key, Qundef) != Qundef ||
		    rb_hash_lookup2(source->env, key, Qundef) != Qundef)
			return;
		rb_hash_aset(env, key, cuttle_env_empty);
		entries |= UINT32_C(1) << index;
		if (key == cuttle_env_request_start)
			start = (int)index;
	}
	rb_hash_foreach(source->env, cuttle_env_add_unless_there, env);
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

VALUE cuttle_env_model(const struct cuttle_source *source, VALUE env)
{
	VALUE model = rb_hash_new();

	for (int index = 0; index < own_entries(source); index++)
		rb_hash_aset(model, own_keys[index], cuttle_env_empty);
	rb_hash_aset(model, own_keys[METHOD], methods[0]);
	rb_hash_aset(model, own_keys[PROTOCOL], http_1_1);
	rb_hash_aset(model, server_name, cuttle_env_empty);
	rb_hash_aset(model, server_port, port_80);
	rb_hash_aset(model, http_host, cuttle_env_empty);
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

VALUE cuttle_env(struct cuttle_held *held)
{
	struct cuttle_source *source = cuttle_held_core(held)->source;
	const struct cuttle_head *head = cuttle_exchange_head(held->live);
	bool authority = head->has_host && head->host.length > 0;
	struct cuttle_env_fields fields;
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
		fields = cuttle_env_add_fields(env, held->live, source->core->limits.underscores);
		if (fields.start.length)
			rb_hash_aset(env, own_keys[QUEUE_TIME], time_in_queue(held->live, fields.start));
		/* An app may keep this env with the connection. The copy has a write barrier, so that the garbage
		 * collector does not visit it in every minor collection. */
		if (fields.upgrade)
			env = rb_hash_dup(env);
	}
	if (held->live->connection->secured)
		cuttle_env_add_facts(env, held);
	if ((source->core->trust || held->live->connection->secured) && cuttle_client_secure(held->live))
		cuttle_env_use_https(env, held->live, authority);
	if (held->live->body || head->has_length)
		cuttle_env_add_input(env, held);
	return env;
}

void Init_cuttle_env(void)
{
	for (size_t index = 0; index < sizeof methods / sizeof *methods; index++)
		methods[index] = cuttle_env_interned(method_names[index]);
	for (int index = 0; index < OWN; index++)
		own_keys[index] = cuttle_env_interned(own_names[index]);
	server_name = cuttle_env_interned("SERVER_NAME");
	server_port = cuttle_env_interned("SERVER_PORT");
	http_host = cuttle_env_interned("HTTP_HOST");
	http_1_0 = cuttle_env_interned("HTTP/1.0");
	http_1_1 = cuttle_env_interned("HTTP/1.1");
	port_80 = cuttle_env_interned("80");
	slash = cuttle_env_interned("/");
	asterisk = cuttle_env_interned("*");
	cuttle_env_empty = cuttle_env_interned("");
	Init_cuttle_env_fields();
	Init_cuttle_env_input();
	Init_cuttle_env_tls();
}
