/* The entries of an env for TLS: the scheme, and the facts of a secured connection. */
#include "rb_env_parts.h"

/* As WEBrick, Apache and nginx call them. */
static const char *const fact_names[CUTTLE_FACTS] = {
	[CUTTLE_FACT_PROTOCOL] = "SSL_PROTOCOL",          [CUTTLE_FACT_CIPHER] = "SSL_CIPHER",
	[CUTTLE_FACT_SERVER_NAME] = "SSL_SERVER_NAME",    [CUTTLE_FACT_CLIENT_VERIFY] = "SSL_CLIENT_VERIFY",
	[CUTTLE_FACT_CLIENT_SUBJECT] = "SSL_CLIENT_S_DN", [CUTTLE_FACT_CLIENT_CERT] = "SSL_CLIENT_CERT",
};

static VALUE fact_keys[CUTTLE_FACTS];
static VALUE https_key, on, url_scheme, https, server_port, port_443;

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

void cuttle_env_add_facts(VALUE env, const struct cuttle_held *held)
{
	VALUE facts = secured_facts(held);

	for (long index = 0; index < RARRAY_LEN(facts); index += 2)
		rb_hash_aset(env, RARRAY_AREF(facts, index), RARRAY_AREF(facts, index + 1));
}

void cuttle_env_use_https(VALUE env, const struct cuttle_exchange *exchange, bool authority)
{
	rb_hash_aset(env, url_scheme, https);
	if (exchange->connection->secured)
		rb_hash_aset(env, https_key, on);
	if (authority && !cuttle_exchange_head(exchange)->port.length)
		rb_hash_aset(env, server_port, port_443);
}

void Init_cuttle_env_tls(void)
{
	for (int index = 0; index < CUTTLE_FACTS; index++)
		fact_keys[index] = cuttle_env_interned(fact_names[index]);
	https_key = cuttle_env_interned("HTTPS");
	on = cuttle_env_interned("on");
	url_scheme = cuttle_env_interned("rack.url_scheme");
	https = cuttle_env_interned("https");
	server_port = cuttle_env_interned("SERVER_PORT");
	port_443 = cuttle_env_interned("443");
}
