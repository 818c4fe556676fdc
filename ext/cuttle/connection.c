/* The connection's state machine; see connection.h. */
#include "connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INBOX_LIMIT (CUTTLE_LIMIT_HEAD + 4096)

void cuttle_core_reset(struct cuttle_core *core, void (*destroy)(struct cuttle_core *core))
{
	memset(core, 0, sizeof *core);
	atomic_init(&core->stopping, false);
	cuttle_list_reset(&core->connections);
	for (int kind = 0; kind < CUTTLE_DEADLINES; kind++)
		cuttle_list_reset(&core->deadlines[kind]);
	core->timeouts[CUTTLE_UNTIL_LINGERED] = 2 * CUTTLE_SECOND;
	core->owners = 1;
	core->destroy = destroy;
}

void cuttle_core_disown(struct cuttle_core *core)
{
	if (--core->owners > 0)
		return;
	cuttle_pool_free(&core->pool);
	if (core->scoreboard)
		cuttle_scoreboard_disown(core->scoreboard);
	core->destroy(core);
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
	connection->deadline = now + connection->core->timeouts[kind];
	connection->deadline_kind = (uint8_t)kind;
	cuttle_list_append(&connection->core->deadlines[kind], &connection->timer);
}

struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, int fd, uint64_t now)
{
	struct cuttle_connection *connection = calloc(1, sizeof *connection);

	if (!connection) {
		cuttle_plain_transport.close(fd);
		return NULL;
	}
	connection->core = core;
	connection->transport = &cuttle_plain_transport;
	connection->fd = fd;
	connection->readable = true; /* a client seldom connects without something to say */
	connection->times[CUTTLE_ACCEPTED] = now;
	cuttle_list_reset(&connection->work);
	cuttle_list_reset(&connection->timer);
	cuttle_list_append(&core->connections, &connection->all);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_REQUEST, now);
	cuttle_scoreboard_count(core->scoreboard, ++core->open);
	core->accepted++;
	return connection;
}

static void end_request(struct cuttle_connection *connection)
{
	cuttle_body_close(connection->body);
	connection->body = NULL;
	connection->head_size = 0;
}

static void give_back_inbox(struct cuttle_connection *connection)
{
	if (connection->inbox) {
		cuttle_inbox_return(&connection->core->pool, connection->inbox);
		connection->inbox = NULL;
	}
}

int cuttle_connection_release(struct cuttle_connection *connection)
{
	int fd = connection->fd;

	if (connection->state == CUTTLE_CLOSED)
		return -1;
	connection->state = CUTTLE_CLOSED;
	connection->fd = -1;
	cuttle_connection_clear_deadline(connection);
	cuttle_list_remove(&connection->work);
	cuttle_list_remove(&connection->all);
	end_request(connection);
	give_back_inbox(connection);
	cuttle_outbox_clear(&connection->out);
	cuttle_scoreboard_count(connection->core->scoreboard, --connection->core->open);
	return fd;
}

void cuttle_connection_close(struct cuttle_connection *connection)
{
	int fd = cuttle_connection_release(connection);

	if (fd >= 0)
		connection->transport->close(fd);
}

/* The request is whole: a thread may take it. */
static enum cuttle_step complete(struct cuttle_connection *connection, uint64_t now)
{
	connection->state = CUTTLE_READY;
	connection->times[CUTTLE_COMPLETE_AT] = now;
	connection->keep_alive = connection->inbox->head.keep_alive && connection->core->keep_alive;
	connection->core->requests++;
	cuttle_connection_clear_deadline(connection);
	return CUTTLE_STEP_COMPLETE;
}

static enum cuttle_step linger(struct cuttle_connection *connection, uint64_t now)
{
	connection->transport->finish(connection->fd);
	connection->state = CUTTLE_LINGER;
	end_request(connection);
	give_back_inbox(connection);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LINGERED, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* Our last response is out. What the peer still sent would make the system reset the connection, and the peer lose
 * the response, if it were not read (RFC 9112, 9.6). */
static enum cuttle_step end_connection(struct cuttle_connection *connection, uint64_t now)
{
	bool unread = connection->inbox && cuttle_inbox_size(connection->inbox) > connection->head_size;

	if (!connection->eof && (unread || connection->readable || connection->body_left))
		return linger(connection, now);
	return CUTTLE_STEP_CLOSE;
}

static enum cuttle_step advance(struct cuttle_connection *connection, uint64_t now);

/* The response is out: the next request, or the end. */
static enum cuttle_step settle(struct cuttle_connection *connection, uint64_t now)
{
	connection->times[CUTTLE_LAST_OCTET] = now;
	if (!connection->keep_alive || atomic_load_explicit(&connection->core->stopping, memory_order_relaxed))
		return end_connection(connection, now);

	cuttle_inbox_drop(connection->inbox, connection->head_size);
	end_request(connection);
	connection->state = CUTTLE_IDLE;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_IDLE, now);
	return advance(connection, now);
}

static enum cuttle_step drain(struct cuttle_connection *connection, uint64_t now)
{
	uint64_t before = connection->bytes_sent;

	switch (cuttle_outbox_flush(&connection->out, connection->transport, connection->fd, &connection->bytes_sent)) {
	case CUTTLE_FLUSHED:
		return settle(connection, now);
	case CUTTLE_BROKEN:
		return CUTTLE_STEP_CLOSE;
	case CUTTLE_TURN:
		cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_WRITTEN, now);
		return CUTTLE_STEP_AGAIN;
	default:
		if (connection->bytes_sent != before || !connection->deadline)
			cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_WRITTEN, now);
		return CUTTLE_STEP_WAIT;
	}
}

enum cuttle_step cuttle_connection_finish(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->broken)
		return CUTTLE_STEP_CLOSE;
	connection->state = CUTTLE_DRAIN;
	return cuttle_outbox_empty(&connection->out) ? settle(connection, now) : drain(connection, now);
}

int cuttle_connection_send(struct cuttle_connection *connection, struct iovec *parts, int count)
{
	size_t sent = 0;

	if (connection->broken)
		return -1;
	if (cuttle_outbox_empty(&connection->out)) {
		ssize_t written = connection->transport->write(connection->fd, parts, count);

		if (written < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
			connection->broken = true;
			return -1;
		}
		sent = written > 0 ? (size_t)written : 0;
		connection->bytes_sent += sent;
	}
	if (cuttle_outbox_append(&connection->out, parts, count, sent) < 0) {
		connection->broken = true;
		return -1;
	}
	return 0;
}

/* Answers for the application, which never saw the request, and closes. */
enum cuttle_step cuttle_connection_fail(struct cuttle_connection *connection, int status, uint64_t now)
{
	const char *reason = cuttle_reason(status), *date;
	size_t date_length = cuttle_date_line(&date);
	char text[512];
	struct iovec part = {.iov_base = text};
	int length = snprintf(text, sizeof text,
			      "HTTP/1.1 %d %s\r\n%.*sconnection: close\r\ncontent-type: text/plain\r\n"
			      "content-length: %zu\r\n\r\n%s\n",
			      status, reason, (int)date_length, date, strlen(reason) + 1, reason);

	part.iov_len = (size_t)length;
	connection->keep_alive = false;
	connection->body_left = 1; /* what else the peer sends is not a request any more */
	cuttle_connection_clear_deadline(connection);
	if (cuttle_connection_send(connection, &part, 1) < 0)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_finish(connection, now);
}

/* More octets are needed. A request that the peer did not finish never reaches the application. */
enum cuttle_step cuttle_connection_hungry(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->eof)
		return connection->state == CUTTLE_IDLE ? CUTTLE_STEP_CLOSE : cuttle_connection_fail(connection, 400, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* RFC 9110, 10.1.1: a client that waits for leave is told to go on, unless its body is already on the way. */
static int send_continue(struct cuttle_connection *connection)
{
	static char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec part = {.iov_base = text, .iov_len = sizeof text - 1};

	return cuttle_connection_send(connection, &part, 1);
}

static enum cuttle_step take_known_length(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	uint32_t buffered = cuttle_inbox_size(inbox) - connection->head_size;
	uint32_t count = connection->body_left < buffered ? (uint32_t)connection->body_left : buffered;

	if (cuttle_body_append(connection->body, cuttle_inbox_unused(inbox) + connection->head_size, count) < 0)
		return cuttle_connection_fail(connection, 500, now);
	cuttle_inbox_cut(inbox, connection->head_size, count);
	connection->body_left -= count;
	return connection->body_left ? cuttle_connection_hungry(connection, now) : complete(connection, now);
}

/* What chunks hold is moved together first: a body of tiny ones must not cost a write(2) each. */
static enum cuttle_step take_chunks(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	char *const coded = cuttle_inbox_unused(inbox) + connection->head_size;
	const size_t size = cuttle_inbox_size(inbox) - connection->head_size;
	size_t taken = 0, decoded = 0, count;
	struct cuttle_slice data;
	int result;

	do {
		count = size - taken;
		result = cuttle_parse_chunks(&inbox->chunks, coded + taken, &count, &data);
		if (result < 0)
			return cuttle_connection_fail(connection, -result, now);
		memmove(coded + decoded, coded + taken + data.offset, data.length);
		decoded += data.length;
		taken += count;
	} while (result == 0 && count > 0);
	if (cuttle_body_append(connection->body, coded, decoded) < 0)
		return cuttle_connection_fail(connection, 500, now);
	cuttle_inbox_cut(inbox, connection->head_size, (uint32_t)taken);
	if (result == 0)
		return cuttle_connection_hungry(connection, now);
	connection->body_left = 0;
	return complete(connection, now);
}

static enum cuttle_step take_body(struct cuttle_connection *connection, uint64_t now)
{
	bool buffered = cuttle_inbox_size(connection->inbox) > connection->head_size;

	if (!connection->inbox->head.chunked)
		return take_known_length(connection, now);
	if (!connection->core->foreign_parser)
		return take_chunks(connection, now);
	return buffered ? CUTTLE_STEP_UNPARSED : cuttle_connection_hungry(connection, now);
}

enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now)
{
	if (cuttle_body_append(connection->body, data, length) < 0)
		return cuttle_connection_fail(connection, 500, now);
	cuttle_inbox_cut(connection->inbox, connection->head_size, consumed);
	if (!done)
		return cuttle_connection_hungry(connection, now);
	connection->body_left = 0;
	return complete(connection, now);
}

enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now)
{
	const struct cuttle_head *head = &connection->inbox->head;

	connection->head_size = size;
	connection->body_left = head->chunked ? 1 : head->content_length;
	if (!connection->body_left)
		return complete(connection, now);
	connection->state = CUTTLE_BODY;
	connection->body = cuttle_body_open(head->content_length);
	if (!connection->body)
		return cuttle_connection_fail(connection, 500, now);
	if (head->expect_continue && cuttle_inbox_size(connection->inbox) == size && send_continue(connection) < 0)
		return CUTTLE_STEP_CLOSE;
	return take_body(connection, now);
}

static enum cuttle_step take_head(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	int result;

	if (connection->state == CUTTLE_IDLE) {
		connection->state = CUTTLE_HEAD;
		connection->bytes_sent = 0;
		connection->times[CUTTLE_FIRST_OCTET] = now;
		connection->times[CUTTLE_RETURNED] = connection->times[CUTTLE_LAST_OCTET] = 0;
		cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_REQUEST, now);
	}
	if (connection->core->foreign_parser)
		return CUTTLE_STEP_UNPARSED;
	result = cuttle_parse_head(&inbox->state, &inbox->head, cuttle_inbox_unused(inbox), cuttle_inbox_size(inbox));
	if (result == 0)
		return cuttle_connection_hungry(connection, now);
	return result < 0 ? cuttle_connection_fail(connection, -result, now)
			  : cuttle_connection_head_parsed(connection, (uint32_t)result, now);
}

/* Makes of the buffered octets what they are enough for. */
static enum cuttle_step advance(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->state == CUTTLE_BODY)
		return take_body(connection, now);
	if (connection->inbox && cuttle_inbox_size(connection->inbox) > 0)
		return take_head(connection, now);
	give_back_inbox(connection);
	return cuttle_connection_hungry(connection, now);
}

/* Reads once. Returns the octets read, 0 at their end, -1 with errno (EAGAIN: none now). */
static ssize_t fill(struct cuttle_connection *connection, char *into, size_t room)
{
	ssize_t count = connection->transport->read(connection->fd, into, room);

	/* A short read has emptied the socket, unless the peer's end is behind it. */
	connection->readable = count > 0 && ((size_t)count == room || connection->hangup);
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

	if (!inbox)
		return cuttle_connection_fail(connection, connection->inbox ? 431 : 503, now);
	count = fill(connection, inbox->octets + inbox->length, inbox->room - inbox->length);
	if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		return CUTTLE_STEP_CLOSE;
	if (count > 0)
		inbox->length += (uint32_t)count;
	if (count > 0 && connection->state == CUTTLE_BODY)
		cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_REQUEST, now);
	return advance(connection, now);
}

/* A 100 (Continue) that did not leave at once. */
static bool flush_interim(struct cuttle_connection *connection)
{
	return cuttle_outbox_empty(&connection->out) ||
	       cuttle_outbox_flush(&connection->out, connection->transport, connection->fd, &connection->bytes_sent) !=
		       CUTTLE_BROKEN;
}

static enum cuttle_step throw_away(struct cuttle_connection *connection)
{
	char octets[16384];
	ssize_t count = fill(connection, octets, sizeof octets);

	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
		return CUTTLE_STEP_CLOSE;
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now)
{
	switch (connection->state) {
	case CUTTLE_BODY:
		if (!flush_interim(connection))
			return CUTTLE_STEP_CLOSE;
		/* fall through */
	case CUTTLE_IDLE:
	case CUTTLE_HEAD:
		return connection->readable ? receive(connection, now) : CUTTLE_STEP_WAIT;
	case CUTTLE_DRAIN:
		return drain(connection, now);
	case CUTTLE_LINGER:
		return connection->readable ? throw_away(connection) : CUTTLE_STEP_WAIT;
	default:
		return CUTTLE_STEP_WAIT;
	}
}

enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now)
{
	bool begun = connection->state == CUTTLE_HEAD || connection->state == CUTTLE_BODY;

	cuttle_connection_clear_deadline(connection);
	return begun ? cuttle_connection_fail(connection, 408, now) : CUTTLE_STEP_CLOSE;
}

void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now)
{
	connection->state = CUTTLE_TAKEN;
	connection->times[CUTTLE_TAKEN_AT] = now;
}
