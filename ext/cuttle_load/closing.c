/*
 * How a connection ends: its closing, the end of its flights, and its next step after that. Its worker's thread runs
 * all of it. See worker.h for the states.
 */
#include "worker.h"
#include <string.h>
#include <unistd.h>

/* A flight behind the one that timed out may have time left: then only its connection was given up. */
static enum failure own_failure(const struct worker *worker, const struct flight *flight, enum failure failure)
{
	bool in_time = worker->now - flight->intended < worker->plan->timeout;

	return failure == FAILURE_TIMEOUT && in_time ? FAILURE_DROPPED : failure;
}

/* Ends all flights with +failure+. */
void connection_fail_flights(struct worker *worker, struct connection *connection, enum failure failure)
{
	while (connection->count) {
		const struct flight *flight = &connection->flights[connection->first];

		record_failure(worker, flight, own_failure(worker, flight, failure));
		connection_pop(worker, connection);
	}
}

/* Closes. The flights, if there are any, stay. */
void connection_close(struct worker *worker, struct connection *connection)
{
	tls_close(connection->tls);
	connection->tls = NULL;
	close(connection->descriptor);
	connection->descriptor = -1;
	connection->state = CLOSED;
	connection->offset = connection->unsent = 0;
	stats_count(&worker->stats->live.connections, (uint64_t)-1);
}

/* Removes an idle connection from its list. */
static void forget_idle(struct worker *worker, struct connection *connection)
{
	struct connection **at;

	for (at = &worker->idle; *at; at = &(*at)->next) {
		if (*at != connection)
			continue;
		*at = connection->next;
		return;
	}
}

/* Decides the next step of a closed connection without flights: it reconnects (closed loop), or waits until it is
 * needed. */
void connection_rest(struct worker *worker, struct connection *connection, bool backing_off)
{
	if (connection->queued)
		return; /* it reconnects when its delay ends */
	if (worker->plan->open) {
		connection->next = worker->closed;
		worker->closed = connection;
	} else if (backing_off) {
		delay(&worker->retrying, connection, worker->now + RETRY_DELAY);
	} else if (worker->plan->think) {
		delay(&worker->thinking, connection, worker->now + worker->plan->think);
	} else if (worker_claim(worker)) {
		connection_open(worker, connection, worker->now, false);
	}
}

/* Ends a connection, which may not be established yet, and all of its flights with +failure+. */
void connection_fail(struct worker *worker, struct connection *connection, enum failure failure)
{
	bool connecting = connection->state != OPEN;

	if (connection->descriptor >= 0)
		connection_close(worker, connection);
	connection_fail_flights(worker, connection, failure);
	connection_rest(worker, connection, connecting);
}

/* Closes a connection that awaits no response. */
void connection_drop(struct worker *worker, struct connection *connection)
{
	if (worker->plan->open)
		forget_idle(worker, connection);
	connection_close(worker, connection);
	connection_rest(worker, connection, false);
}

/* Whether the method of a request is one that may be repeated (RFC 9110, 9.2.2). */
static bool is_idempotent(const struct piece *piece)
{
	static const char *const METHODS[] = {"GET ", "HEAD ", "PUT ", "DELETE ", "OPTIONS ", "TRACE "};
	size_t at;

	for (at = 0; at < sizeof(METHODS) / sizeof(*METHODS); at++) {
		size_t length = strlen(METHODS[at]);

		if (piece->length >= length && memcmp(piece->octets, METHODS[at], length) == 0)
			return true;
	}
	return false;
}

/*
 * A server may close an idle connection at any time, also while a request is on its way (RFC 9112, 9.5). Then that is
 * no error: the request is sent once more, on a new connection, which can't be closed for idleness (9.3.1). Call this
 * when a connection has ended before the response. Returns false if that can't have been the reason, or if the request
 * can't be repeated.
 */
bool connection_send_again(struct worker *worker, struct connection *connection)
{
	const struct flight *flight = &connection->flights[connection->first];

	if (!connection->served || connection->count != 1 || connection->first_byte || !is_idempotent(flight->piece))
		return false;
	record_retried(worker, flight->intended);
	connection_reopen(worker, connection);
	return true;
}

/* Gives up a connection whose first flight has timed out. If its next request follows at once, the time without a
 * response goes on. */
void connection_expire(struct worker *worker, struct connection *connection)
{
	int64_t gap_begin = worker->stats->gap_begin;

	connection_fail(worker, connection, FAILURE_TIMEOUT);
	worker->stats->gap_begin = gap_begin;
}
