/* Exchanges and their pool; sending. See exchange.h. */
#include "connection.h"

#include <stdlib.h>
#include <string.h>

#define POOL_SIZE 64 /* free exchanges that are kept for later requests */

struct cuttle_exchange *cuttle_exchange_begin(struct cuttle_exchange_pool *pool, struct cuttle_connection *connection)
{
	struct cuttle_exchange *exchange = pool->first;

	if (exchange) {
		pool->first = exchange->next;
		pool->count--;
	} else {
		exchange = malloc(sizeof *exchange);
		if (!exchange)
			return NULL;
	}
	memset(exchange, 0, sizeof *exchange);
	exchange->connection = connection;
	cuttle_outbox_begin(&exchange->out, connection->core->spool);
	return exchange;
}

void cuttle_exchange_end(struct cuttle_exchange_pool *pool, struct cuttle_exchange *exchange)
{
	cuttle_body_close(exchange->body);
	cuttle_outbox_clear(&exchange->out);
	if (pool->count >= POOL_SIZE) {
		free(exchange);
		return;
	}
	exchange->next = pool->first;
	pool->first = exchange;
	pool->count++;
}

void cuttle_exchange_pool_free(struct cuttle_exchange_pool *pool)
{
	while (pool->first) {
		struct cuttle_exchange *exchange = pool->first;

		pool->first = exchange->next;
		free(exchange);
	}
	pool->count = 0;
}

int cuttle_exchange_send(struct cuttle_exchange *exchange, struct iovec *parts, const uintptr_t *objects, int count)
{
	struct cuttle_connection *connection = exchange->connection;
	size_t sent = 0;

	if (connection->broken)
		return -1;
	if (cuttle_outbox_empty(&exchange->out)) {
		ssize_t written = connection->transport.type->write(&connection->transport, parts, count);

		if (written == CUTTLE_FAILED) {
			connection->broken = true;
			return -1;
		}
		connection->write_wants = written == CUTTLE_WANT_READ ? CUTTLE_READ : CUTTLE_WRITE;
		sent = written > 0 ? (size_t)written : 0;
		exchange->bytes_sent += sent;
	}
	if (cuttle_outbox_append(&exchange->out, parts, objects, count, sent) < 0) {
		connection->broken = true;
		return -1;
	}
	return 0;
}

enum cuttle_flush cuttle_exchange_flush(struct cuttle_exchange *exchange)
{
	struct cuttle_connection *connection = exchange->connection;
	enum cuttle_flush result = cuttle_outbox_flush(&exchange->out, &connection->transport, &exchange->bytes_sent);

	if (result == CUTTLE_FLUSH_BROKEN)
		connection->broken = true;
	else
		connection->write_wants = result == CUTTLE_FLUSH_WANTS_READ ? CUTTLE_READ : CUTTLE_WRITE;
	return result;
}

const struct cuttle_head *cuttle_exchange_head(const struct cuttle_exchange *exchange)
{
	return &exchange->connection->inbox->head;
}

const char *cuttle_exchange_at(const struct cuttle_exchange *exchange, struct cuttle_slice slice)
{
	return cuttle_inbox_at(exchange->connection->inbox, slice);
}
