/* Who sent a request: the peer of the socket, the client that a PROXY header named, or the client that a trusted proxy
 * names in its fields (peer.h, proxy_header.h, forwarded.h). */
#include "forwarded.h"
#include "rb_exchange.h"
#include "syntax.h"

static VALUE text_of(const struct cuttle_address *address)
{
	char text[CUTTLE_ADDRESS_TEXT];

	cuttle_address_write(address, text);
	return rb_enc_interned_str_cstr(text, rb_usascii_encoding());
}

/* Returns the address that counts for all requests of the connection. */
static VALUE connection_address(struct cuttle_held *held)
{
	struct cuttle_connection *connection = held->live->connection;

	return cuttle_source_address(cuttle_held_core(held)->source, &connection->client);
}

/* Finds the client that X-Forwarded-For names. Its fields form one list (RFC 9110, 5.3), to which each proxy has added
 * the address that it got the request from. So the entries that trusted proxies have added count, from right to left. A
 * client may have invented everything before them. Returns false if there is no such field, or no address at its
 * end. */
static bool forwarded_address(const struct cuttle_exchange *exchange, struct cuttle_address *address)
{
	const struct cuttle_trust *trust = exchange->connection->core->trust;
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	bool found = false;

	for (uint32_t index = head->field_count; index-- > 0;) {
		const struct cuttle_field *field = &head->fields[index];

		if (cuttle_same(cuttle_exchange_at(exchange, field->name), field->name.length, "x-forwarded-for") &&
		    !cuttle_forwarded_for(trust, cuttle_exchange_at(exchange, field->value), field->value.length,
					  address, &found))
			break;
	}
	return found;
}

VALUE cuttle_client_address(struct cuttle_held *held)
{
	struct cuttle_address address;

	if (held->live->connection->trusted && forwarded_address(held->live, &address))
		return text_of(&address);
	return connection_address(held);
}

bool cuttle_client_secure(const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	enum cuttle_scheme scheme = CUTTLE_NO_SCHEME;

	for (uint32_t index = head->field_count; exchange->connection->trusted && !scheme && index-- > 0;) {
		const struct cuttle_field *field = &head->fields[index];

		if (cuttle_same(cuttle_exchange_at(exchange, field->name), field->name.length, "x-forwarded-proto"))
			scheme =
				cuttle_forwarded_proto(cuttle_exchange_at(exchange, field->value), field->value.length);
	}
	return scheme ? scheme == CUTTLE_HTTPS : exchange->connection->secure;
}

bool cuttle_client_hides(const struct cuttle_exchange *exchange, const char *name, size_t length)
{
	const struct cuttle_connection *connection = exchange->connection;

	return connection->core->trust && (!connection->trusted || memchr(name, '_', length)) &&
	       cuttle_forwarded_name(name, length);
}
