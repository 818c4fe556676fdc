/*
 * How a connection is made: connecting, the TLS handshake, and its first step after that. See worker.h for the states.
 * Its worker's thread runs all of it.
 */
#include "transport.h"
#include <errno.h>
#include <stdio.h>

#define REDIAL_DELAY MILLISECOND /* before it tries again to connect to a Unix socket whose backlog is full */

/* The first request of a connection opened ahead begins now. A request of the warm-up stays one. */
static void begin_fresh(struct worker *worker, struct connection *connection)
{
	struct flight *flight = &connection->flights[connection->first];
	int64_t measure = worker->plan->measure;

	if (connection->fresh && (flight->intended >= measure || worker->now < measure))
		flight->intended = worker->now;
}

static void stand(struct worker *worker, struct connection *connection)
{
	connection->state = OPEN;
	record_connect(worker, connection);
	begin_fresh(worker, connection);
	if (!worker->plan->open && !worker->plan->think)
		connection_fill(worker, connection);
	connection_flush_or_hear(worker, connection);
}

/* Whether this machine lacked something that a connection needs (a descriptor, memory, a port), so that the server has
 * no part in the error. */
static bool is_local(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC: /* no more watches of epoll */
	case EADDRNOTAVAIL:
	case EAGAIN:
		return true;
	default:
		return false;
	}
}

static void refuse_connect(struct worker *worker, struct connection *connection, int error)
{
	int *kept = is_local(error) ? &worker->stats->local_error : &worker->stats->connect_error;

	if (*kept == 0)
		*kept = error;
	connection_fail(worker, connection, is_local(error) ? FAILURE_LOCAL : FAILURE_CONNECT);
}

static void handshake(struct worker *worker, struct connection *connection)
{
	char error[sizeof(worker->stats->tls_error)] = "";

	int result = tls_handshake(connection->tls, error, sizeof(error));

	worker->now = clock_now(); /* its computations take time */
	switch (result) {
	case 1:
		stand(worker, connection);
		return;
	case 0:
		return;
	default:
		if (!worker->stats->tls_error[0])
			snprintf(worker->stats->tls_error, sizeof(worker->stats->tls_error), "%s", error);
		refuse_connect(worker, connection, EPROTO);
	}
}

static void connected(struct worker *worker, struct connection *connection)
{
	int error = transport_connected(connection->descriptor);

	worker->now = clock_now();
	if (error == EINPROGRESS)
		return;
	if (error) {
		refuse_connect(worker, connection, error);
	} else if (!worker->plan->tls) {
		stand(worker, connection);
	} else if ((connection->tls = tls_open(worker->plan->tls, connection->descriptor))) {
		connection->state = HANDSHAKING;
		handshake(worker, connection);
	} else {
		refuse_connect(worker, connection, ENOMEM);
	}
}

/* Whether a Unix socket's backlog was full just now: then one attempt in REDIAL_DELAY is enough for all connections. */
static bool is_crowded(const struct worker *worker)
{
	return worker->now < worker->crowded_until;
}

/* Connects again later, with the same flight, because a Unix socket's backlog is full. TCP would wait by itself. */
static void wait_for_room(struct worker *worker, struct connection *connection)
{
	if (!is_crowded(worker))
		worker->crowded_until = worker->now + REDIAL_DELAY;
	delay(&worker->redialing, connection, worker->now + REDIAL_DELAY);
}

void connection_redial(struct worker *worker, struct connection *connection)
{
	const struct plan *plan = worker->plan;

	if (is_crowded(worker)) {
		wait_for_room(worker, connection);
		return;
	}
	connection->descriptor = transport_connect(plan);
	if (connection->descriptor < 0) {
		if (errno == EAGAIN && plan->address.ss_family == AF_UNIX)
			wait_for_room(worker, connection);
		else
			refuse_connect(worker, connection, errno);
		return;
	}
	stats_count(&worker->stats->live.connections, 1);
	connection->state = CONNECTING;
	if (!waiter_watch(&worker->waiter, connection->descriptor, connection))
		refuse_connect(worker, connection, errno);
}

/* Connects, for the connection's flight. Reads the clock, because others may have been opened since it was read. */
void connection_dial(struct worker *worker, struct connection *connection)
{
	connection->opened = worker->now = clock_now();
	connection_redial(worker, connection);
}

/* Opens a connection for a request meant for +intended+. With +fresh+, the request's time begins when the connection is
 * established. */
void connection_open(struct worker *worker, struct connection *connection, int64_t intended, bool fresh)
{
	connection->first = connection->count = connection->unsent = connection->offset = 0;
	connection->broken = connection->served = false;
	connection->fresh = fresh;
	connection_push(worker, connection, intended);
	connection_dial(worker, connection);
}

/* Opens a connection again for the flight that it has, whose time continues. */
void connection_reopen(struct worker *worker, struct connection *connection)
{
	connection_close(worker, connection);
	connection->unsent = 1;
	connection->fresh = connection->served = connection->broken = false;
	connection_dial(worker, connection);
}

/* Handles an event of a connection that is not established yet. */
void connection_connecting(struct worker *worker, struct connection *connection)
{
	if (connection->state == CONNECTING)
		connected(worker, connection);
	else
		handshake(worker, connection);
}
