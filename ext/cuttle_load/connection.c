/*
 * What happens on a connection. Its worker's thread runs all of it. See worker.h for the states.
 *
 * Law: a request is one write and its response one read if they fit. A connection that got its response sends its next
 * request at once (closed loop) or becomes idle again (open loop). Every flight ends in exactly one of record_response
 * and record_failure.
 */
#include "transport.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECES 64

static struct flight *flight_at(const struct worker *worker, struct connection *connection, size_t place)
{
	size_t at = connection->first + place;

	return &connection->flights[at >= worker->plan->pipeline ? at - worker->plan->pipeline : at];
}

/* --- flights --- */

static void push_flight(struct worker *worker, struct connection *connection, int64_t intended)
{
	struct flight *flight = flight_at(worker, connection, connection->count);

	flight->request = worker_draw(worker);
	flight->intended = intended;
	flight->sent = 0;
	if (connection->count++ == 0) {
		connection->first_byte = 0;
		response_start(&connection->response, flight->request->head);
	}
	connection->unsent++;
	if (worker->in_flight++ == 0)
		worker->stats->gap_begin = worker->now - worker->plan->measure;
	record_sent(worker, intended);
}

static void pop_flight(struct worker *worker, struct connection *connection)
{
	if (connection->unsent == connection->count) /* answered before it was sent in full: the rest is never sent */
		connection->unsent--;
	if (++connection->first == worker->plan->pipeline)
		connection->first = 0;
	connection->count--;
	connection->first_byte = 0;
	worker->in_flight--;
	if (connection->count)
		response_start(&connection->response, connection->flights[connection->first].request->head);
}

static void fail_flights(struct worker *worker, struct connection *connection, enum failure failure)
{
	while (connection->count) {
		record_failure(worker, &connection->flights[connection->first], failure);
		pop_flight(worker, connection);
	}
}

/* --- closing, and what comes after --- */

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

/* Decides what a closed connection without flights does: it opens again (closed loop), or waits until it is needed. */
static void go_on_closed(struct worker *worker, struct connection *connection, bool backing_off)
{
	if (connection->queued)
		return; /* it opens when its delay ends */
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

static void fail(struct worker *worker, struct connection *connection, enum failure failure)
{
	bool connecting = connection->state != OPEN;

	if (connection->descriptor >= 0)
		connection_close(worker, connection);
	fail_flights(worker, connection, failure);
	go_on_closed(worker, connection, connecting);
}

static void keep_sample(struct stats *stats, const char *octets, size_t length)
{
	if (stats->sample_length)
		return;
	stats->sample_length = length < SAMPLE ? length : SAMPLE;
	memcpy(stats->sample, octets, stats->sample_length);
}

/* --- writing --- */

static int gather(struct worker *worker, struct connection *connection, struct iovec *pieces)
{
	size_t begin = connection->count - connection->unsent, offset = connection->offset;
	int count = 0;

	for (; begin < connection->count && count < PIECES; begin++, offset = 0) {
		struct flight *flight = flight_at(worker, connection, begin);

		if (!flight->sent)
			flight->sent = worker->now;
		pieces[count].iov_base = (char *)flight->request->octets + offset;
		pieces[count++].iov_len = flight->request->length - offset;
	}
	return count;
}

static void written(struct worker *worker, struct connection *connection, size_t octets)
{
	while (octets) {
		struct flight *flight = flight_at(worker, connection, connection->count - connection->unsent);
		size_t rest = flight->request->length - connection->offset;

		if (octets < rest) {
			connection->offset += octets;
			return;
		}
		octets -= rest;
		connection->offset = 0;
		connection->unsent--;
	}
}

static void flush(struct worker *worker, struct connection *connection)
{
	struct iovec pieces[PIECES];

	while (connection->unsent && !connection->broken) {
		ssize_t put = transport_write(connection, pieces, gather(worker, connection, pieces));

		if (put > 0)
			written(worker, connection, (size_t)put);
		else if (put < 0 && errno == EAGAIN)
			return;
		else if (put == 0 || errno != EINTR)
			connection->broken = true;
	}
}

/* --- between requests --- */

void connection_fill(struct worker *worker, struct connection *connection)
{
	while (connection->count < worker->plan->pipeline && worker_claim(worker))
		push_flight(worker, connection, worker->now);
}

/* Continues after one or more complete responses on a connection that persists. */
static void next_request(struct worker *worker, struct connection *connection)
{
	if (worker->plan->open) {
		connection->next = worker->idle;
		worker->idle = connection;
	} else if (worker->plan->think) {
		if (connection->count == 0)
			delay(&worker->thinking, connection, worker->now + worker->plan->think);
	} else {
		connection_fill(worker, connection);
	}
	flush(worker, connection);
}

/* --- reading --- */

/*
 * Handles a complete response to the first flight; +rest+ octets came after it. Returns false if the connection is
 * closed.
 */
static bool complete(struct worker *worker, struct connection *connection, size_t rest)
{
	struct flight *flight = &connection->flights[connection->first];
	bool sent = connection->unsent < connection->count;
	bool persists = connection->response.head.keep_alive && worker->plan->keep_alive && sent && !connection->broken;

	if (rest && connection->count == 1) {
		fail(worker, connection, FAILURE_LENGTH);
		return false;
	}
	record_response(worker, connection, flight, judge_status(flight->request, connection->response.head.status));
	pop_flight(worker, connection);
	connection->served = true;
	if (persists)
		return true;
	connection_close(worker, connection);
	fail_flights(worker, connection, FAILURE_EARLY_CLOSE);
	go_on_closed(worker, connection, false);
	return false;
}

/* Handles octets that are no response; after a complete response, they exceed its length. Returns false: the connection
 * is closed. */
static bool refuse(struct worker *worker, struct connection *connection, const char *octets, size_t length)
{
	bool beyond = connection->served && !connection->response.begun;

	keep_sample(worker->stats, octets, length);
	fail(worker, connection, beyond ? FAILURE_LENGTH : FAILURE_MALFORMED);
	return false;
}

/* Takes octets that were read. Returns false if the connection is closed. */
static bool take(struct worker *worker, struct connection *connection, const char *octets, size_t length)
{
	bool responded = false;

	worker->stats->current.octets += length;
	while (length) {
		enum response_result result;
		size_t taken;

		if (connection->first_byte == 0)
			connection->first_byte = worker->now;
		result = response_feed(&connection->response, &worker->memo, octets, length, &taken);
		if (result == RESPONSE_MALFORMED)
			return refuse(worker, connection, octets, length);
		octets += taken;
		length -= taken;
		if (result == RESPONSE_MORE)
			break;
		if (!complete(worker, connection, length))
			return false;
		responded = true;
	}
	if (responded)
		next_request(worker, connection);
	return true;
}

/* Ends a connection that owes no response. */
static void drop(struct worker *worker, struct connection *connection)
{
	if (worker->plan->open)
		forget_idle(worker, connection);
	connection_close(worker, connection);
	go_on_closed(worker, connection, false);
}

static void ended(struct worker *worker, struct connection *connection)
{
	if (connection->count == 0) {
		drop(worker, connection);
		return;
	}
	switch (response_end(&connection->response)) {
	case RESPONSE_END_DONE:
		complete(worker, connection, 0);
		return;
	case RESPONSE_END_SHORT:
		fail(worker, connection, FAILURE_LENGTH);
		return;
	default:
		fail(worker, connection, FAILURE_EARLY_CLOSE);
	}
}

/* Handles a failed read. */
static void unread(struct worker *worker, struct connection *connection)
{
	if (errno == EAGAIN && !connection->broken)
		return;
	if (connection->count)
		fail(worker, connection, FAILURE_RESET);
	else
		drop(worker, connection);
}

/* Handles octets that no request asked for. */
static void refuse_stray(struct worker *worker, struct connection *connection)
{
	record_stray(worker, FAILURE_LENGTH);
	drop(worker, connection);
}

/* Pauses a slow reader during a response. */
static bool rest_a_while(struct worker *worker, struct connection *connection)
{
	if (!worker->plan->slow_octets || connection->count == 0 || !connection->response.begun)
		return false;
	delay(&worker->pausing, connection, worker->now + worker->plan->slow_tick);
	return true;
}

/*
 * Reads what is available. A short read took everything, so further octets cause a new event. There are two exceptions:
 * the connection's end may come with the last octets (+to_end+), and TLS may hold octets that the socket no longer has.
 */
static void receive(struct worker *worker, struct connection *connection, bool to_end)
{
	size_t room = worker->plan->slow_octets ? (size_t)worker->plan->slow_octets : READ_SIZE;
	ssize_t got;

	if (room > READ_SIZE)
		room = READ_SIZE;
	do {
		got = transport_read(connection, worker->buffer, room);
		if (got < 0 && errno == EINTR)
			continue;
		worker->now = clock_now();
		if (got < 0) {
			unread(worker, connection);
			return;
		}
		if (got == 0) {
			ended(worker, connection);
			return;
		}
		if (connection->count == 0) {
			refuse_stray(worker, connection);
			return;
		}
		if (!take(worker, connection, worker->buffer, (size_t)got) || rest_a_while(worker, connection))
			return;
	} while (got < 0 || (size_t)got == room || to_end || connection->tls || connection->broken);
}

/* Writes. If that breaks the connection, reads, as an answer may have come before. */
static void flush_or_hear(struct worker *worker, struct connection *connection)
{
	flush(worker, connection);
	if (connection->broken)
		receive(worker, connection, true);
}

/* --- opening --- */

/* The first request of a connection opened ahead begins now. One that belongs to the warm-up keeps belonging to it. */
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
	flush_or_hear(worker, connection);
}

static void refuse_connect(struct worker *worker, struct connection *connection, int error)
{
	if (worker->stats->connect_error == 0)
		worker->stats->connect_error = error;
	fail(worker, connection, FAILURE_CONNECT);
}

static void handshake(struct worker *worker, struct connection *connection)
{
	char error[sizeof(worker->stats->tls_error)] = "";

	switch (tls_handshake(connection->tls, error, sizeof(error))) {
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

/* Opens a connection for a request meant for +intended+. With +fresh+, the request's time begins when the connection is
 * established. */
void connection_open(struct worker *worker, struct connection *connection, int64_t intended, bool fresh)
{
	connection->first = connection->count = connection->unsent = connection->offset = 0;
	connection->broken = connection->served = false;
	connection->fresh = fresh;
	connection->opened = worker->now;
	push_flight(worker, connection, intended);
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

/* --- what the worker calls --- */

/* Sends a request meant for +intended+ on an idle connection. */
void connection_send(struct worker *worker, struct connection *connection, int64_t intended)
{
	push_flight(worker, connection, intended);
	flush_or_hear(worker, connection);
}

void connection_event(struct worker *worker, struct connection *connection, uint32_t events)
{
	bool to_end = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

	if (connection->state == CONNECTING)
		connected(worker, connection);
	else if (connection->state == HANDSHAKING)
		handshake(worker, connection);
	else if (connection->state == OPEN && connection->unsent)
		flush(worker, connection);
	if (connection->state != OPEN || (connection->queued && connection->count))
		return;
	if ((events & EPOLLIN) || to_end || connection->broken || connection->tls)
		receive(worker, connection, to_end);
}

/* Continues a connection whose delay is over. */
void connection_resume(struct worker *worker, struct connection *connection)
{
	if (connection->state == CLOSED && worker->plan->open) {
		go_on_closed(worker, connection, false);
	} else if (connection->state == CLOSED) {
		if (worker_claim(worker))
			connection_open(worker, connection, worker->now, false);
	} else if (connection->count) {
		receive(worker, connection, true);
	} else {
		connection_fill(worker, connection);
		flush_or_hear(worker, connection);
	}
}

/* Gives up a connection whose first flight is overdue. */
void connection_expire(struct worker *worker, struct connection *connection)
{
	fail(worker, connection, FAILURE_TIMEOUT);
}
