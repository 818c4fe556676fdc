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

void cuttle_exchange_phases(const struct cuttle_exchange *exchange, struct cuttle_phases *phases, uint64_t now)
{
	const struct cuttle_connection *connection = exchange->connection;
	const uint64_t *times = exchange->times;
	uint64_t returned = times[CUTTLE_RETURNED] ? times[CUTTLE_RETURNED] : now;
	uint64_t last = times[CUTTLE_LAST_OCTET] ? times[CUTTLE_LAST_OCTET] : now;
	uint64_t backlog = connection->served == 1 ? connection->backlog : 0;

	phases->known = 0;
	if (connection->timed)
		cuttle_phase_set(phases, CUTTLE_PHASE_ACCEPT, backlog);
	cuttle_phase_set(phases, CUTTLE_PHASE_READ,
			 cuttle_between(times[CUTTLE_FIRST_OCTET], times[CUTTLE_COMPLETE_AT]));
	cuttle_phase_set(phases, CUTTLE_PHASE_QUEUE, cuttle_between(times[CUTTLE_COMPLETE_AT], times[CUTTLE_TAKEN_AT]));
	cuttle_phase_set(phases, CUTTLE_PHASE_APP, cuttle_between(times[CUTTLE_TAKEN_AT], returned));
	cuttle_phases_divide(phases, &exchange->effort);
	if (times[CUTTLE_RETURNED] && times[CUTTLE_LAST_OCTET])
		cuttle_phase_set(phases, CUTTLE_PHASE_WRITE, cuttle_between(returned, last));
	cuttle_phase_set(phases, CUTTLE_PHASE_TOTAL, backlog + cuttle_between(times[CUTTLE_FIRST_OCTET], last));
}

const struct cuttle_head *cuttle_exchange_head(const struct cuttle_exchange *exchange)
{
	return &exchange->connection->inbox->head;
}

const char *cuttle_exchange_at(const struct cuttle_exchange *exchange, struct cuttle_slice slice)
{
	return cuttle_inbox_at(exchange->connection->inbox, slice);
}
