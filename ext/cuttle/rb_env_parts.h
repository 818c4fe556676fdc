/* What the files of the env share: rb_env.c with the entries of every request, rb_env_fields.c, rb_env_input.c and
 * rb_env_tls.c. */
#ifndef RB_CUTTLE_ENV_PARTS_H
#define RB_CUTTLE_ENV_PARTS_H

#include "rb_exchange.h"

extern VALUE cuttle_env_empty;         /* "" */
extern VALUE cuttle_env_request_start; /* the key of the time that a router states */
extern VALUE cuttle_env_upgrade;       /* HTTP_UPGRADE */

/* Returns an interned String, which is never collected. */
VALUE cuttle_env_interned(const char *text);

/* Returns a field's value as a String of the app's own. */
static inline VALUE cuttle_env_value(const struct cuttle_exchange *exchange, const struct cuttle_field *field)
{
	return field->value.length ? rb_str_new(cuttle_exchange_at(exchange, field->value), field->value.length)
				   : rb_str_dup(cuttle_env_empty);
}

/* rb_env_fields.c: returns the key of the entry that a field of this name has. nil for fields that have none, because
 * they frame the message, have been read (Host), or would pass for the server's. */
VALUE cuttle_env_key(const char *name, size_t length);
/* What the server itself needs of a request's fields. */
struct cuttle_env_fields {
	struct cuttle_slice start; /* the first X-Request-Start, of the outermost router; empty: none */
	bool upgrade;              /* there is an Upgrade */
};
/* Adds all fields. */
struct cuttle_env_fields cuttle_env_add_fields(VALUE env, const struct cuttle_exchange *exchange,
					       bool keep_underscores);
/* For rb_hash_foreach: adds an entry unless env has one of this key. */
int cuttle_env_add_unless_there(VALUE key, VALUE value, VALUE env);

/* rb_env_input.c: adds rack.input and CONTENT_LENGTH, for a request with a body or with a length of 0. Raises
 * SystemCallError without descriptors. */
void cuttle_env_add_input(VALUE env, struct cuttle_held *held);

/* rb_env_tls.c: adds what the app learns of a secured connection. */
void cuttle_env_add_facts(VALUE env, const struct cuttle_held *held);
/* Says that the client speaks TLS, with us or with a proxy. authority: the request names one. */
void cuttle_env_use_https(VALUE env, const struct cuttle_exchange *exchange, bool authority);

void Init_cuttle_env_fields(void);
void Init_cuttle_env_input(void);
void Init_cuttle_env_tls(void);

#endif
