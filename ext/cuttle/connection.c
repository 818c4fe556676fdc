/* The connection's state machine; see connection.h. */
#include "connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define INBOX_LIMIT (CUTTLE_LIMIT_HEAD + 4096)
#define LINGER (2 * CUTTLE_SECOND)        /* for the peer to read our last words */
#define FIRST_GRACE (CUTTLE_SECOND / 2)   /* after stop, for a connection that has never asked */
#define LOOK CUTTLE_SECOND                /* between two looks at how fast octets move, at most */
#define SHORTEST_LOOK (10 * CUTTLE_MILLISECOND)

void cuttle_core_limit(struct cuttle_core *core, const struct cuttle_limits *limits)
{
	const uint64_t measured[] = {limits->body_timeout, limits->write_timeout};
	uint64_t look = LOOK;

	for (size_t index = 0; index < sizeof measured / sizeof *measured; index++)
		if (measured[index] && measured[index] / 4 < look)
			look = measured[index] / 4;
	core->limits = *limits;
	core->timeouts[CUTTLE_UNTIL_HEAD] = limits->header_timeout;
	core->timeouts[CUTTLE_UNTIL_IDLE] = limits->idle_timeout;
	core->timeouts[CUTTLE_UNTIL_LOOK] = look > SHORTEST_LOOK ? look : SHORTEST_LOOK;
	core->timeouts[CUTTLE_UNTIL_LINGERED] = LINGER;
	core->timeouts[CUTTLE_UNTIL_ASKED] = FIRST_GRACE;
	core->timeouts[CUTTLE_UNTIL_DRAINED] = limits->drain_grace;
	core->timeouts[CUTTLE_UNTIL_TAKEN] = limits->queue_timeout;
	core->timeouts[CUTTLE_UNTIL_BEGUN] = limits->app_timeout;
}

void cuttle_connection_clear_deadline(struct cuttle_connection *connection)
{
	if (connection->deadline) {
		cuttle_list_remove(&connection->timer);
		connection->deadline = 0;
	}
}

void cuttle_connection_set_deadline(struct cuttle_connection *connection, enum cuttle_deadline kind, uint64_t now)
{
	cuttle_connection_clear_deadline(connection);
	if (!connection->core->timeouts[kind])
		return;
	connection->deadline = now + connection->core->timeouts[kind];
	connection->deadline_kind = (uint8_t)kind;
	cuttle_list_append(&connection->core->deadlines[kind], &connection->timer);
}

struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, int fd, uint64_t now)
{
	struct cuttle_transport transport = {.type = &cuttle_plain_transport, .fd = fd};
	struct cuttle_connection *connection = calloc(1, sizeof *connection);

	if (!connection) {
		transport.type->close(&transport);
		return NULL;
	}
	connection->core = core;
	connection->transport = transport;
	connection->read_wants = CUTTLE_READ;
	connection->write_wants = CUTTLE_WRITE;
	connection->readable = true; /* a client seldom connects without something to say */
	connection->accepted = now;
	cuttle_list_reset(&connection->work);
	cuttle_list_reset(&connection->timer);
	cuttle_list_append(&core->connections, &connection->all);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_HEAD, now);
	cuttle_scoreboard_count(core->scoreboard, ++core->open);
	core->accepted++;
	return connection;
}

static bool stopping(const struct cuttle_connection *connection)
{
	return atomic_load_explicit(&connection->core->stopping, memory_order_relaxed);
}

static void end_exchange(struct cuttle_connection *connection)
{
	if (connection->exchange) {
		cuttle_exchange_end(&connection->core->exchanges, connection->exchange);
		connection->exchange = NULL;
	}
}

static void give_back_inbox(struct cuttle_connection *connection)
{
	if (connection->inbox) {
		cuttle_inbox_return(&connection->core->pool, connection->inbox);
		connection->inbox = NULL;
	}
}

/* Gives everything back but the descriptor and the structure itself. */
static void dismantle(struct cuttle_connection *connection)
{
	if (connection->state == CUTTLE_READY)
		connection->core->waiting--;
	connection->state = CUTTLE_CLOSED;
	cuttle_connection_clear_deadline(connection);
	cuttle_list_remove(&connection->work);
	cuttle_list_remove(&connection->all);
	end_exchange(connection);
	give_back_inbox(connection);
	cuttle_scoreboard_count(connection->core->scoreboard, --connection->core->open);
}

int cuttle_connection_release(struct cuttle_connection *connection)
{
	int fd;

	if (connection->state == CUTTLE_CLOSED)
		return -1;
	fd = connection->transport.type->release(&connection->transport);
	if (fd < 0)
		connection->transport.type->close(&connection->transport);
	dismantle(connection);
	return fd;
}

void cuttle_connection_close(struct cuttle_connection *connection)
{
	if (connection->state == CUTTLE_CLOSED)
		return;
	connection->transport.type->close(&connection->transport);
	dismantle(connection);
}

/* The request is whole: a thread may take it. */
static enum cuttle_step complete(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_core *core = connection->core;
	struct cuttle_exchange *exchange = connection->exchange;

	connection->state = CUTTLE_READY;
	connection->served++;
	core->requests++;
	exchange->times[CUTTLE_COMPLETE_AT] = now;
	exchange->keep_alive = connection->inbox->head.keep_alive && core->limits.keep_alive &&
			       !(core->limits.max_requests && connection->served >= core->limits.max_requests);
	core->waiting++;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_TAKEN, now);
	return CUTTLE_STEP_COMPLETE;
}

bool cuttle_connection_gone(const struct cuttle_connection *connection)
{
	char octet;
	ssize_t count = recv(connection->transport.fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

	if (count < 0)
		return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
	return count == 0 && connection->core->limits.drop_half_closed;
}

static enum cuttle_step linger(struct cuttle_connection *connection, uint64_t now)
{
	connection->transport.type->finish(&connection->transport);
	connection->state = CUTTLE_LINGER;
	end_exchange(connection);
	give_back_inbox(connection);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LINGERED, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* Our last response is out. What the peer still sent would make the system reset the connection, and the peer lose
 * the response, if it were not read (RFC 9112, 9.6). */
static enum cuttle_step end_connection(struct cuttle_connection *connection, uint64_t now)
{
	bool unread = connection->inbox && cuttle_inbox_size(connection->inbox) > connection->exchange->head_size;

	if (!connection->eof && (unread || connection->readable || connection->refused))
		return linger(connection, now);
	return CUTTLE_STEP_CLOSE;
}

static enum cuttle_step advance(struct cuttle_connection *connection, uint64_t now);

/* The response is out: the next request, or the end. After stop a connection that was promised to persist may still
 * carry one request: it may be on its way. */
static enum cuttle_step settle(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;
	bool last = stopping(connection);

	exchange->times[CUTTLE_LAST_OCTET] = now;
	if (!exchange->keep_alive || (last && !connection->core->limits.drain_grace))
		return end_connection(connection, now);

	cuttle_inbox_drop(connection->inbox, exchange->head_size);
	end_exchange(connection);
	connection->state = CUTTLE_IDLE;
	cuttle_connection_set_deadline(connection, last ? CUTTLE_UNTIL_DRAINED : CUTTLE_UNTIL_IDLE, now);
	return advance(connection, now);
}

void cuttle_connection_measure_output(struct cuttle_connection *connection, uint64_t now)
{
	cuttle_meter_start(&connection->exchange->meter, connection->exchange->bytes_sent, now);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
}

static enum cuttle_step drain(struct cuttle_connection *connection, uint64_t now)
{
	switch (cuttle_exchange_flush(connection->exchange)) {
	case CUTTLE_FLUSHED:
		return settle(connection, now);
	case CUTTLE_FLUSH_BROKEN:
		return CUTTLE_STEP_CLOSE;
	case CUTTLE_FLUSH_TURN:
		return CUTTLE_STEP_AGAIN;
	default:
		return CUTTLE_STEP_WAIT;
	}
}

enum cuttle_step cuttle_connection_finish(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->broken)
		return CUTTLE_STEP_CLOSE;
	connection->state = CUTTLE_DRAIN;
	if (cuttle_outbox_empty(&connection->exchange->out))
		return settle(connection, now);
	if (!connection->deadline)
		cuttle_connection_measure_output(connection, now);
	return drain(connection, now);
}

static void close_body(struct cuttle_exchange *exchange)
{
	cuttle_body_close(exchange->body);
	exchange->body = NULL;
}

/* Whether the request is known to be a HEAD, whose response has no body. */
static bool asks_for_head(const struct cuttle_exchange *exchange)
{
	struct cuttle_slice method;

	if (!exchange->head_size)
		return false;
	method = cuttle_exchange_head(exchange)->method;
	return method.length == 4 && memcmp(cuttle_exchange_at(exchange, method), "HEAD", 4) == 0;
}

/* The Connection field that says what becomes of the connection. */
static const char *persistence(const struct cuttle_exchange *exchange)
{
	if (!exchange->keep_alive)
		return "connection: close\r\n";
	return cuttle_exchange_head(exchange)->minor ? "" : "connection: keep-alive\r\n";
}

/* Sends a whole response in the application's place. retry_after: seconds (RFC 9110, 10.2.3), 0: unsaid. Returns 0, or
 * -1 when the connection is broken. */
static int send_error(struct cuttle_connection *connection, int status, uint64_t retry_after)
{
	const char *reason = cuttle_reason(status), *date;
	size_t date_length = cuttle_date_line(&date);
	char text[512], later[48] = "";
	struct iovec part = {.iov_base = text};
	int length;

	if (retry_after)
		snprintf(later, sizeof later, "retry-after: %llu\r\n", (unsigned long long)retry_after);
	length = snprintf(text, sizeof text,
			  "HTTP/1.1 %d %s\r\n%.*s%s%scontent-type: text/plain\r\ncontent-length: %zu\r\n\r\n%s%s",
			  status, reason, (int)date_length, date, persistence(connection->exchange), later,
			  strlen(reason) + 1, asks_for_head(connection->exchange) ? "" : reason,
			  asks_for_head(connection->exchange) ? "" : "\n");
	part.iov_len = (size_t)length;
	return cuttle_exchange_send(connection->exchange, &part, 1);
}

/* Answers for the application, which never saw the request, and closes. */
static enum cuttle_step fail(struct cuttle_connection *connection, int status, uint64_t now)
{
	connection->exchange->keep_alive = false;
	connection->refused = true;
	connection->spooling = false;
	close_body(connection->exchange);
	cuttle_connection_clear_deadline(connection);
	if (send_error(connection, status, 0) < 0)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_finish(connection, now);
}

/* A client pays for a new connection, and so do we, more than for a short answer: the connection persists. */
enum cuttle_step cuttle_connection_decline(struct cuttle_connection *connection, bool may_persist, uint64_t now)
{
	struct cuttle_core *core = connection->core;
	uint64_t wait = (core->limits.queue_timeout + CUTTLE_SECOND - 1) / CUTTLE_SECOND;

	core->waiting--;
	core->refused++;
	connection->state = CUTTLE_DRAIN;
	cuttle_connection_clear_deadline(connection);
	if (!may_persist || stopping(connection))
		connection->exchange->keep_alive = false;
	if (send_error(connection, 503, wait ? wait : 1) < 0)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_finish(connection, now);
}

/* The app has had its time. What the thread that has the request may look at stays as it is; the peer has its answer. */
static enum cuttle_step answer_for_app(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;

	atomic_store(&connection->stuck, true);
	connection->core->stuck++;
	connection->core->stuck_now++;
	connection->core->untold++;
	exchange->keep_alive = false;
	if (send_error(connection, 503, 0) < 0)
		return CUTTLE_STEP_WAIT;
	if (cuttle_outbox_empty(&exchange->out))
		connection->transport.type->finish(&connection->transport);
	else
		cuttle_connection_measure_output(connection, now);
	return CUTTLE_STEP_WAIT;
}

bool cuttle_connection_begin_response(struct cuttle_connection *connection)
{
	if (atomic_load(&connection->stuck))
		return false;
	if (connection->deadline && connection->deadline_kind == CUTTLE_UNTIL_BEGUN)
		cuttle_connection_clear_deadline(connection);
	return true;
}

void cuttle_connection_let_go(struct cuttle_connection *connection)
{
	connection->thread = connection->fiber = 0;
	if (!atomic_load(&connection->stuck))
		return;
	connection->core->stuck_now--;
	if (!connection->told)
		connection->core->untold--;
	connection->told = false;
	atomic_store(&connection->stuck, false);
}

/* More octets are needed. A request that the peer did not finish never reaches the application. */
static enum cuttle_step hungry(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->eof)
		return connection->state == CUTTLE_IDLE ? CUTTLE_STEP_CLOSE : fail(connection, 400, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* RFC 9110, 10.1.1: a client that waits for leave is told to go on, unless its body is already on the way. */
static int send_continue(struct cuttle_connection *connection)
{
	static char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec part = {.iov_base = text, .iov_len = sizeof text - 1};

	return cuttle_exchange_send(connection->exchange, &part, 1);
}

/* What has come of the body is kept: on to the rest, or to the app once everything is where it belongs. A connection
 * that is ahead of the disk waits for the spooler's report. */
static enum cuttle_step go_on_with_body(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;
	bool whole = exchange->body_left == 0;
	enum cuttle_body_state state = cuttle_body_look(exchange->body, whole);

	connection->spooling = state == CUTTLE_BODY_WAITS;
	if (state == CUTTLE_BODY_WAITS)
		return CUTTLE_STEP_WAIT;
	if (state == CUTTLE_BODY_FAILED)
		return fail(connection, 503, now);
	return whole ? complete(connection, now) : hungry(connection, now);
}

/* Appends octets to the body. Returns 0, or the status that ends the request: 503 (RFC 9110, 15.6.4) where there is no
 * room for it, which is for now, and no fault of the request's. */
static int keep_body(struct cuttle_connection *connection, const char *octets, size_t count)
{
	struct cuttle_body *body = connection->exchange->body;
	uint64_t most = connection->core->limits.max_body;

	if (most && body->total + count > most)
		return 413;
	return cuttle_body_append(body, octets, count) < 0 ? 503 : 0;
}

static enum cuttle_step take_known_length(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	struct cuttle_exchange *exchange = connection->exchange;
	uint32_t buffered = cuttle_inbox_size(inbox) - exchange->head_size;
	uint32_t count = exchange->body_left < buffered ? (uint32_t)exchange->body_left : buffered;
	int status = keep_body(connection, cuttle_inbox_unused(inbox) + exchange->head_size, count);

	if (status)
		return fail(connection, status, now);
	cuttle_inbox_cut(inbox, exchange->head_size, count);
	exchange->body_left -= count;
	return go_on_with_body(connection, now);
}

/* What chunks hold is moved together first: a body of tiny ones must not cost a write(2) each. */
static enum cuttle_step take_chunks(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	const uint32_t head_size = connection->exchange->head_size;
	char *const coded = cuttle_inbox_unused(inbox) + head_size;
	const size_t size = cuttle_inbox_size(inbox) - head_size;
	size_t taken = 0, decoded = 0, count;
	struct cuttle_slice data;
	int result, status;

	do {
		count = size - taken;
		result = cuttle_parse_chunks(&inbox->chunks, coded + taken, &count, &data);
		if (result < 0)
			return fail(connection, -result, now);
		memmove(coded + decoded, coded + taken + data.offset, data.length);
		decoded += data.length;
		taken += count;
	} while (result == 0 && count > 0);
	status = keep_body(connection, coded, decoded);
	if (status)
		return fail(connection, status, now);
	cuttle_inbox_cut(inbox, head_size, (uint32_t)taken);
	connection->exchange->body_left = result == 0;
	return go_on_with_body(connection, now);
}

static enum cuttle_step take_body(struct cuttle_connection *connection, uint64_t now)
{
	bool buffered = cuttle_inbox_size(connection->inbox) > connection->exchange->head_size;

	if (!connection->inbox->head.chunked)
		return take_known_length(connection, now);
	if (!connection->core->foreign_parser)
		return take_chunks(connection, now);
	return buffered ? CUTTLE_STEP_UNPARSED : go_on_with_body(connection, now);
}

static enum cuttle_step begin_body(struct cuttle_connection *connection, uint32_t size, uint64_t now)
{
	const struct cuttle_head *head = &connection->inbox->head;
	struct cuttle_exchange *exchange = connection->exchange;
	uint64_t most = connection->core->limits.max_body;

	exchange->head_size = size;
	exchange->body_left = head->chunked ? 1 : head->content_length;
	if (!exchange->body_left)
		return complete(connection, now);
	connection->state = CUTTLE_BODY;
	if (most && head->content_length > most)
		return fail(connection, 413, now);
	if (head->content_length > CUTTLE_BODY_MEMORY &&
	    !cuttle_spool_has_room(connection->core->spool, head->content_length))
		return fail(connection, 503, now);
	exchange->body = cuttle_body_open(head->content_length, connection->core->spool, connection);
	if (!exchange->body)
		return fail(connection, 503, now);
	if (head->expect_continue && cuttle_inbox_size(connection->inbox) == size && send_continue(connection) < 0)
		return CUTTLE_STEP_CLOSE;
	cuttle_meter_start(&exchange->meter, 0, now);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
	return take_body(connection, now);
}

/* An empty line before a request is no request yet (RFC 9112, 2.2). */
static bool only_an_empty_line(struct cuttle_inbox *inbox)
{
	uint32_t size = cuttle_inbox_size(inbox);

	return size <= 2 && memcmp(cuttle_inbox_unused(inbox), "\r\n", size) == 0;
}

static enum cuttle_step begin_head(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = cuttle_exchange_begin(&connection->core->exchanges, connection);

	if (!exchange)
		return CUTTLE_STEP_CLOSE;
	connection->exchange = exchange;
	connection->state = CUTTLE_HEAD;
	exchange->times[CUTTLE_ACCEPTED] = connection->accepted;
	exchange->times[CUTTLE_FIRST_OCTET] = now;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_HEAD, now);
	return CUTTLE_STEP_WAIT;
}

static enum cuttle_step take_head(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	int result;

	if (connection->state == CUTTLE_IDLE) {
		if (only_an_empty_line(inbox))
			return hungry(connection, now);
		if (begin_head(connection, now) == CUTTLE_STEP_CLOSE)
			return CUTTLE_STEP_CLOSE;
	}
	if (connection->core->foreign_parser)
		return CUTTLE_STEP_UNPARSED;
	result = cuttle_parse_head(&inbox->state, &inbox->head, cuttle_inbox_unused(inbox), cuttle_inbox_size(inbox));
	if (result == 0)
		return hungry(connection, now);
	return result < 0 ? fail(connection, -result, now) : begin_body(connection, (uint32_t)result, now);
}

/* Makes of the buffered octets what they are enough for. */
static enum cuttle_step advance(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->state == CUTTLE_BODY)
		return take_body(connection, now);
	if (connection->inbox && cuttle_inbox_size(connection->inbox) > 0)
		return take_head(connection, now);
	give_back_inbox(connection);
	return hungry(connection, now);
}

/* What a Ruby parser finds. */

void cuttle_connection_begin_parsing(struct cuttle_connection *connection)
{
	connection->parsed_state = connection->state;
	connection->state = CUTTLE_PARSING;
}

/* Takes the connection back; true where its time was over meanwhile. */
static bool end_parsing(struct cuttle_connection *connection)
{
	bool late = connection->late;

	connection->state = connection->parsed_state;
	connection->late = false;
	return late;
}

enum cuttle_step cuttle_connection_unsatisfied(struct cuttle_connection *connection, uint64_t now)
{
	return end_parsing(connection) ? fail(connection, 408, now) : hungry(connection, now);
}

enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now)
{
	return end_parsing(connection) ? fail(connection, 408, now) : begin_body(connection, size, now);
}

enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now)
{
	int status = end_parsing(connection) ? 408 : keep_body(connection, data, length);

	if (status)
		return fail(connection, status, now);
	cuttle_inbox_cut(connection->inbox, connection->exchange->head_size, consumed);
	connection->exchange->body_left = !done;
	return go_on_with_body(connection, now);
}

enum cuttle_step cuttle_connection_refuse(struct cuttle_connection *connection, int status, uint64_t now)
{
	end_parsing(connection);
	return fail(connection, status, now);
}

/* Input */

/* Reads once. Returns the octets read, 0 at their end, else what the transport says. */
static ssize_t fill(struct cuttle_connection *connection, char *into, size_t room)
{
	ssize_t count = connection->transport.type->read(&connection->transport, into, room);

	/* A short read has emptied the socket, unless the peer's end is behind it. */
	connection->readable = count > 0 && ((size_t)count == room || connection->hangup);
	connection->read_wants = count == CUTTLE_WANT_WRITE ? CUTTLE_WRITE : CUTTLE_READ;
	if (count == 0)
		connection->eof = true;
	return count;
}

static struct cuttle_inbox *inbox_with_room(struct cuttle_connection *connection)
{
	struct cuttle_inbox *inbox = connection->inbox;

	if (!inbox)
		return connection->inbox = cuttle_inbox_borrow(&connection->core->pool);
	if (inbox->length == inbox->room)
		inbox = cuttle_inbox_make_room(inbox, INBOX_LIMIT);
	if (inbox)
		connection->inbox = inbox;
	return inbox;
}

static enum cuttle_step receive(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = inbox_with_room(connection);
	ssize_t count;

	if (!inbox) /* no memory, or a head that is too long for its buffer */
		return connection->exchange ? fail(connection, connection->inbox ? 431 : 503, now) : CUTTLE_STEP_CLOSE;
	count = fill(connection, inbox->octets + inbox->length, inbox->room - inbox->length);
	if (count == CUTTLE_FAILED)
		return CUTTLE_STEP_CLOSE;
	if (count > 0)
		inbox->length += (uint32_t)count;
	return advance(connection, now);
}

/* The spooler has written, or failed; or the peer has gone. The time was the disk's, not the peer's. */
static enum cuttle_step end_spooling(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;

	if (connection->broken)
		return CUTTLE_STEP_CLOSE;
	cuttle_meter_excuse(&exchange->meter, exchange->body->total, now);
	connection->readable = true; /* perhaps: nobody has looked meanwhile */
	return go_on_with_body(connection, now);
}

/* Sends what is queued while the request still comes (a 100), or while the application adds to it. */
static enum cuttle_step flush_early(struct cuttle_connection *connection)
{
	if (!connection->exchange || cuttle_outbox_empty(&connection->exchange->out))
		return CUTTLE_STEP_WAIT;
	switch (cuttle_exchange_flush(connection->exchange)) {
	case CUTTLE_FLUSH_BROKEN:
		return CUTTLE_STEP_CLOSE;
	case CUTTLE_FLUSH_TURN:
		return CUTTLE_STEP_AGAIN;
	default:
		return CUTTLE_STEP_WAIT;
	}
}

static enum cuttle_step throw_away(struct cuttle_connection *connection)
{
	char octets[16384];
	ssize_t count = fill(connection, octets, sizeof octets);

	if (count == 0 || count == CUTTLE_FAILED)
		return CUTTLE_STEP_CLOSE;
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now)
{
	switch (connection->state) {
	case CUTTLE_BODY:
		if (flush_early(connection) == CUTTLE_STEP_CLOSE)
			return CUTTLE_STEP_CLOSE;
		if (connection->spooling)
			return end_spooling(connection, now);
		/* fall through */
	case CUTTLE_IDLE:
	case CUTTLE_HEAD:
		return connection->readable ? receive(connection, now) : CUTTLE_STEP_WAIT;
	case CUTTLE_TAKEN: /* a broken one is closed by the thread that has it */
		if (flush_early(connection) == CUTTLE_STEP_AGAIN)
			return CUTTLE_STEP_AGAIN;
		if (atomic_load(&connection->stuck) && cuttle_outbox_empty(&connection->exchange->out))
			connection->transport.type->finish(&connection->transport);
		return CUTTLE_STEP_WAIT;
	case CUTTLE_DRAIN:
		return drain(connection, now);
	case CUTTLE_LINGER:
		return connection->readable ? throw_away(connection) : CUTTLE_STEP_WAIT;
	default:
		return CUTTLE_STEP_WAIT;
	}
}

/* Deadlines */

static bool body_is_late(struct cuttle_connection *connection, uint64_t now)
{
	const struct cuttle_limits *limits = &connection->core->limits;
	struct cuttle_exchange *exchange = connection->exchange;

	if (limits->body_timeout && now - exchange->meter.began >= limits->body_timeout)
		return true;
	if (connection->spooling)
		cuttle_meter_excuse(&exchange->meter, exchange->body->total, now);
	return cuttle_meter_late(&exchange->meter, exchange->body->total, limits->min_rate, 0, now);
}

static bool output_is_late(struct cuttle_connection *connection, uint64_t now)
{
	const struct cuttle_limits *limits = &connection->core->limits;
	struct cuttle_exchange *exchange = connection->exchange;

	return cuttle_meter_late(&exchange->meter, exchange->bytes_sent, limits->min_rate, limits->write_timeout, now);
}

enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now)
{
	cuttle_connection_clear_deadline(connection);
	switch (connection->state) {
	case CUTTLE_HEAD:
		return fail(connection, 408, now);
	case CUTTLE_BODY:
		if (body_is_late(connection, now))
			return fail(connection, connection->spooling ? 503 : 408, now);
		break;
	case CUTTLE_PARSING:
		connection->late = connection->parsed_state == CUTTLE_HEAD || body_is_late(connection, now);
		break;
	case CUTTLE_READY:
		return cuttle_connection_decline(connection, true, now);
	case CUTTLE_TAKEN:
		if (connection->deadline_kind == CUTTLE_UNTIL_BEGUN)
			return answer_for_app(connection, now);
		if (cuttle_outbox_empty(&connection->exchange->out))
			return CUTTLE_STEP_WAIT;
		connection->broken = connection->broken || output_is_late(connection, now);
		break;
	case CUTTLE_DRAIN:
		if (output_is_late(connection, now))
			return CUTTLE_STEP_CLOSE;
		break;
	default:
		return CUTTLE_STEP_CLOSE;
	}
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
	return CUTTLE_STEP_WAIT;
}

void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now)
{
	connection->core->waiting--;
	connection->state = CUTTLE_TAKEN;
	connection->exchange->times[CUTTLE_TAKEN_AT] = now;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_BEGUN, now);
}
