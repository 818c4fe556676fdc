/*
 * How a connection is made: connecting, the TLS handshake, and its first step after that. See worker.h for the states.
 * Its worker's thread runs all of it.
 */
#include "transport.h"
#include <errno.h>
#include <stdio.h>

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

static void refuse_connect(struct worker *worker, struct connection *connection, int error)
{
	if (worker->stats->connect_error == 0)
		worker->stats->connect_error = error;
	connection_fail(worker, connection, FAILURE_CONNECT);
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

/* Connects, for the connection's flight. Reads the clock, because others may have been opened since it was read. */
void connection_dial(struct worker *worker, struct connection *connection)
{
	connection->opened = worker->now = clock_now();
	connection->descriptor = transport_connect(worker->plan);
	if (connection->descriptor < 0) {
		refuse_connect(worker, connection, errno);
		return;
	}
	stats_count(&worker->stats->live.connections, 1);
	connection->state = CONNECTING;
	if (!waiter_watch(&worker->waiter, connection->descriptor, connection))
		refuse_connect(worker, connection, errno);
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

/* Handles an event of a connection that is not established yet. */
void connection_connecting(struct worker *worker, struct connection *connection)
{
	if (connection->state == CONNECTING)
		connected(worker, connection);
	else
		handshake(worker, connection);
}
