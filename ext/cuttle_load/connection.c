/*
 * What happens on a connection. Its worker's thread runs all of it. See worker.h for the states.
 *
 * Law: a request is one write and its response one read if they fit. A connection that got its response sends its next
 * request immediately (closed loop) or becomes idle again (open loop). Every flight ends in exactly one call of
 * record_response or record_failure.
 */
#include "transport.h"
#include <errno.h>
#include <string.h>

#define PIECES 64
#define PAUSES 4 /* ticks whose octets a slow reader may read at once */
#define TURN 16  /* reads of a connection before the others have their turn */

/* --- flights --- */

/* Lets a session choose a request and compose what is sent. */
static void choose(struct worker *worker, struct connection *connection, struct flight *flight)
{
	struct session *session = connection->session;

	flight->request = session_choose(session, &worker->plan->mix, flight->request);
	flight->piece = session_compose(session, flight->request, &flight->request->script->sent);
}

/* Prepares for the response to +flight+, which comes next. */
static void await(struct connection *connection, const struct flight *flight)
{
	connection->first_byte = 0;
	if (connection->session)
		session_await(connection->session, flight->request);
	response_start(&connection->response, flight->request->head);
}

void connection_push(struct worker *worker, struct connection *connection, int64_t intended)
{
	struct flight *flight = flight_at(worker, connection, connection->count);

	flight->request = worker_draw(worker);
	if (connection->session)
		choose(worker, connection, flight);
	else
		flight->piece = &flight->request->whole;
	flight->intended = intended;
	flight->sent = 0;
	if (connection->count++ == 0)
		await(connection, flight);
	connection->unsent++;
	if (worker->in_flight++ == 0)
		worker->stats->gap_begin = worker->now - worker->plan->measure;
	record_sent(worker, intended);
}

void connection_pop(struct worker *worker, struct connection *connection)
{
	if (connection->unsent == connection->count) /* answered before it was sent in full: the rest is never sent */
		connection->unsent--;
	if (++connection->first == worker->plan->pipeline)
		connection->first = 0;
	connection->count--;
	worker->in_flight--;
	if (connection->count)
		await(connection, &connection->flights[connection->first]);
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
		pieces[count].iov_base = (char *)flight->piece->octets + offset;
		pieces[count++].iov_len = flight->piece->length - offset;
	}
	return count;
}

static void written(struct worker *worker, struct connection *connection, size_t octets)
{
	while (octets) {
		struct flight *flight = flight_at(worker, connection, connection->count - connection->unsent);
		size_t rest = flight->piece->length - connection->offset;

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
		connection_push(worker, connection, worker->now);
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

/* What happens after a complete response. */
enum outcome {
	ENDED,     /* the connection is closed */
	GOES_ON,   /* it persists */
	REDIRECTED /* it sends the request that follows a redirect */
};

/* Sends the request that follows a redirect, in place of the first flight, whose time continues. */
static enum outcome redirect(struct worker *worker, struct connection *connection, const struct template *next,
			     bool persists)
{
	struct flight *flight = &connection->flights[connection->first];

	flight->piece = session_compose(connection->session, flight->request, next);
	await(connection, flight);
	if (!persists) {
		connection_reopen(worker, connection);
		return ENDED;
	}
	connection->unsent = 1;
	connection->offset = 0;
	flush(worker, connection);
	return REDIRECTED;
}

/* Returns what is wrong with the response to +flight+; NO_FAILURE if nothing is. */
static enum failure judge(struct worker *worker, struct connection *connection, const struct flight *flight)
{
	enum failure failure = judge_status(flight->request, connection->response.head.status);

	if (failure != NO_FAILURE || !connection->session)
		return failure;
	return session_judge(connection->session, flight->request, worker->matcher);
}

/* Records a response. Its time ended when its last octet was read. So the work of a session on it is not part of its
 * time, and not part of the next request's time. */
static void conclude(struct worker *worker, struct connection *connection, const struct flight *flight)
{
	record_response(worker, connection, flight, judge(worker, connection, flight));
	if (connection->session)
		worker->now = clock_now();
}

/* Handles a complete response to the first flight; +rest+ octets came after it. */
static enum outcome complete(struct worker *worker, struct connection *connection, size_t rest)
{
	struct flight *flight = &connection->flights[connection->first];
	int status = connection->response.head.status;
	bool sent = connection->unsent < connection->count;
	bool persists = connection->response.head.keep_alive && worker->plan->keep_alive && sent && !connection->broken;
	const struct template *next;

	if (rest && connection->count == 1) {
		connection_fail(worker, connection, FAILURE_LENGTH);
		return ENDED;
	}
	next = connection->session ? session_redirected(connection->session, flight->request, status) : NULL;
	connection->served = true;
	if (next)
		return redirect(worker, connection, next, persists);
	conclude(worker, connection, flight);
	connection_pop(worker, connection);
	if (persists)
		return GOES_ON;
	connection_close(worker, connection);
	connection_fail_flights(worker, connection, FAILURE_EARLY_CLOSE);
	connection_rest(worker, connection, false);
	return ENDED;
}

static void keep_sample(struct stats *stats, const char *octets, size_t length)
{
	if (stats->sample_length)
		return;
	stats->sample_length = length < SAMPLE ? length : SAMPLE;
	memcpy(stats->sample, octets, stats->sample_length);
}

/* Handles octets that are not a response; after a complete response, they exceed its length. Returns false: the
 * connection is closed. */
static bool refuse(struct worker *worker, struct connection *connection, const char *octets, size_t length)
{
	bool beyond = connection->served && !connection->response.begun;

	keep_sample(worker->stats, octets, length);
	connection_fail(worker, connection, beyond ? FAILURE_LENGTH : FAILURE_MALFORMED);
	return false;
}

/* Processes octets that were read. Returns false if the connection is closed. */
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
		switch (complete(worker, connection, length)) {
		case ENDED:
			return false;
		case GOES_ON:
			responded = true;
			break;
		case REDIRECTED:
			break;
		}
	}
	if (responded)
		next_request(worker, connection);
	return true;
}

/* Whether a response that the connection's end delimits is complete: over TLS, only with an announced end (RFC 9112,
 * 9.8). */
static bool delimited(const struct connection *connection)
{
	return !connection->tls || tls_announced(connection->tls);
}

static void ended(struct worker *worker, struct connection *connection)
{
	if (connection->count == 0) {
		connection_drop(worker, connection);
		return;
	}
	switch (response_end(&connection->response)) {
	case RESPONSE_END_DONE:
		if (delimited(connection))
			complete(worker, connection, 0);
		else
			connection_fail(worker, connection, FAILURE_EARLY_CLOSE);
		return;
	case RESPONSE_END_SHORT:
		connection_fail(worker, connection, FAILURE_LENGTH);
		return;
	default:
		if (!connection_send_again(worker, connection))
			connection_fail(worker, connection, FAILURE_EARLY_CLOSE);
	}
}

/* Handles a failed read. */
static void unread(struct worker *worker, struct connection *connection)
{
	if (errno == EAGAIN && !connection->broken)
		return;
	if (connection->count == 0)
		connection_drop(worker, connection);
	else if (!connection_send_again(worker, connection))
		connection_fail(worker, connection, FAILURE_RESET);
}

/* Handles octets that came without a request. */
static void refuse_stray(struct worker *worker, struct connection *connection)
{
	record_stray(worker, FAILURE_LENGTH);
	connection_drop(worker, connection);
}

/*
 * A slow reader pays for octets in advance: it pauses for a tick, and may then read the octets of a tick. What it does
 * not use is left for the connection's next response. Without a request it reads at once, to notice the end.
 */
static size_t slow_room(struct worker *worker, struct connection *connection)
{
	if (connection->count == 0)
		return READ_SIZE;
	if (connection->budget == 0)
		delay(&worker->pausing, connection, worker->now + worker->plan->slow_tick);
	return connection->budget < READ_SIZE ? connection->budget : READ_SIZE;
}

/* Returns how many octets to read next. 0: the connection continues after a pause. Without a limit, a response that
 * arrives faster than it is read would hold up all other connections, and the end of the run. */
static size_t room_to_read(struct worker *worker, struct connection *connection, size_t reads)
{
	if (worker->plan->slow_octets)
		return slow_room(worker, connection);
	if (reads < TURN || connection->count == 0)
		return READ_SIZE;
	delay(&worker->pausing, connection, worker->now);
	return 0;
}

static void spend(struct connection *connection, size_t octets)
{
	connection->budget -= octets < connection->budget ? octets : connection->budget;
}

/* Ends the pause of a slow reader. If it is late, its octets are those of the time that has passed, up to PAUSES. */
static void earn(const struct worker *worker, struct connection *connection)
{
	const struct plan *plan = worker->plan;
	double ticks = (double)(worker->now - connection->due) / (double)plan->slow_tick + 1;

	connection->budget = (size_t)((double)plan->slow_octets * (ticks < PAUSES ? ticks : PAUSES));
}

/*
 * Reads what is available. After a short read nothing is left, so further octets cause a new event. There are two
 * exceptions: the connection's end may come with the last octets (+to_end+), and TLS may hold octets that the socket no
 * longer has. It also returns at the end of a turn, or when the budget of a slow reader is spent.
 */
static void receive(struct worker *worker, struct connection *connection, bool to_end)
{
	size_t room, reads = 0;
	ssize_t got;

	do {
		room = room_to_read(worker, connection, reads++);
		if (room == 0)
			return;
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
		spend(connection, (size_t)got);
		if (!take(worker, connection, worker->buffer, (size_t)got))
			return;
	} while (got < 0 || (size_t)got == room || to_end || connection->tls || connection->broken);
}

/* Writes. If that breaks the connection, reads, because an answer may have arrived before. */
void connection_flush_or_hear(struct worker *worker, struct connection *connection)
{
	flush(worker, connection);
	if (connection->broken)
		receive(worker, connection, true);
}

/* --- what the worker calls --- */

/* Sends a request meant for +intended+ on an idle connection. */
void connection_send(struct worker *worker, struct connection *connection, int64_t intended)
{
	connection_push(worker, connection, intended);
	connection_flush_or_hear(worker, connection);
}

void connection_event(struct worker *worker, struct connection *connection, uint32_t events)
{
	bool to_end = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

	if (connection->state == CONNECTING || connection->state == HANDSHAKING)
		connection_connecting(worker, connection);
	else if (connection->state == OPEN && connection->unsent)
		flush(worker, connection);
	if (connection->state != OPEN || (connection->queued && connection->count))
		return;
	if ((events & EPOLLIN) || to_end || connection->broken || connection->tls)
		receive(worker, connection, to_end);
}

/* Resumes a connection whose delay has ended. */
void connection_resume(struct worker *worker, struct connection *connection)
{
	if (connection->state == CLOSED && connection->count) {
		connection_redial(worker, connection);
	} else if (connection->state == CLOSED && worker->plan->open) {
		connection_rest(worker, connection, false);
	} else if (connection->state == CLOSED) {
		if (worker_claim(worker))
			connection_open(worker, connection, worker->now, false);
	} else if (connection->count) {
		earn(worker, connection);
		receive(worker, connection, true);
	} else {
		connection_fill(worker, connection);
		connection_flush_or_hear(worker, connection);
	}
}
