/* The output of a connection: the app's response, and responses that the server makes itself. */
#include "connection_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool cuttle_connection_begin_response(struct cuttle_connection *connection)
{
	if (atomic_load(&connection->stuck))
		return false;
	if (connection->deadline && connection->deadline_kind == CUTTLE_UNTIL_BEGUN)
		cuttle_connection_clear_deadline(connection);
	return true;
}

static enum cuttle_step linger(struct cuttle_connection *connection, uint64_t now)
{
	connection->transport.discards = true;
	connection->transport.type->finish(&connection->transport);
	connection->state = CUTTLE_LINGER;
	cuttle_connection_end_exchange(connection);
	cuttle_connection_give_back_inbox(connection);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LINGERED, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* Sends the transport's farewell, if it has one. Returns false if it has to wait for that. */
static bool part(struct cuttle_connection *connection, uint64_t now)
{
	const struct cuttle_transport_type *type = connection->transport.type;

	connection->parting = type->farewell && type->farewell(&connection->transport) == CUTTLE_WANT_WRITE;
	if (connection->parting && !connection->deadline)
		cuttle_connection_measure_output(connection, now);
	return !connection->parting;
}

/* Whether there is input. It may have arrived unreported while the app ran, so this asks the kernel. Under TLS any
 * record counts. */
static bool has_input(struct cuttle_connection *connection)
{
	char octet;

	if (!connection->readable)
		connection->readable = recv(connection->transport.fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
	return connection->readable;
}

/* The last response was sent. Reads what the peer still sends: unread input would make the system reset the
 * connection, and the peer could lose the response (RFC 9112, 9.6). */
static enum cuttle_step end_connection(struct cuttle_connection *connection, uint64_t now)
{
	bool unread = connection->inbox && cuttle_inbox_size(connection->inbox) > connection->exchange->head_size;

	if (!part(connection, now))
		return CUTTLE_STEP_WAIT;
	if (!connection->eof && (unread || connection->refused || has_input(connection)))
		return linger(connection, now);
	return CUTTLE_STEP_CLOSE;
}

/* The response was sent: begins the next request, or ends the connection. After stop, a connection that the server
 * promised to keep open may carry one more request, because that may already be on its way. */
static enum cuttle_step settle(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;
	bool last = cuttle_core_ending(connection->core);

	exchange->times[CUTTLE_LAST_OCTET] = now;
	if (!exchange->keep_alive || (last && !connection->core->limits.drain_grace))
		return end_connection(connection, now);

	cuttle_inbox_drop(connection->inbox, exchange->head_size);
	cuttle_connection_end_exchange(connection);
	connection->state = CUTTLE_IDLE;
	cuttle_connection_set_deadline(connection, last ? CUTTLE_UNTIL_DRAINED : CUTTLE_UNTIL_IDLE, now);
	return cuttle_connection_advance(connection, now);
}

void cuttle_connection_measure_output(struct cuttle_connection *connection, uint64_t now)
{
	cuttle_meter_start(&connection->exchange->meter, connection->exchange->bytes_sent, now);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
}

enum cuttle_step cuttle_connection_drain(struct cuttle_connection *connection, uint64_t now)
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
	return cuttle_connection_drain(connection, now);
}

enum cuttle_step cuttle_connection_flush_early(struct cuttle_connection *connection)
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

/* Responses without the app */

static void close_body(struct cuttle_exchange *exchange)
{
	cuttle_body_close(exchange->body);
	exchange->body = NULL;
}

/* Whether the request begins as a HEAD. Its response has no body (RFC 9110, 9.3.2), also if its head is refused. */
static bool asks_for_head(const struct cuttle_connection *connection)
{
	struct cuttle_inbox *inbox = connection->inbox;
	uint32_t size = inbox ? cuttle_inbox_size(inbox) : 0;
	uint32_t blank = size >= 2 && memcmp(cuttle_inbox_unused(inbox), "\r\n", 2) == 0 ? 2 : 0;

	return size >= blank + 5 && memcmp(cuttle_inbox_unused(inbox) + blank, "HEAD ", 5) == 0;
}

/* Returns the Connection field of the response. */
static const char *persistence(const struct cuttle_exchange *exchange)
{
	if (!exchange->keep_alive)
		return "connection: close\r\n";
	return cuttle_exchange_head(exchange)->minor ? "" : "connection: keep-alive\r\n";
}

/* What a response without the app says. RFC 9110, 15.6.6: a 505 names the versions that are served. */
static const char *explanation(int status)
{
	return status == 505 ? "HTTP Version Not Supported: this server speaks HTTP/1.1 and HTTP/1.0"
			     : cuttle_reason(status);
}

/* Sends a whole response without the app. retry_after is in seconds (RFC 9110, 10.2.3); 0 leaves the field out. The
 * body is the text (at most 99 octets), or for NULL an explanation. Returns 0, or -1 if the connection is broken. */
static int send_error(struct cuttle_connection *connection, int status, uint64_t retry_after, const char *body)
{
	const char *reason = cuttle_reason(status), *date;
	size_t date_length = cuttle_date_line(&date);
	bool head = asks_for_head(connection);
	char text[512], later[48] = "";
	struct iovec part = {.iov_base = text};
	int length;

	if (retry_after)
		snprintf(later, sizeof later, "retry-after: %llu\r\n", (unsigned long long)retry_after);
	if (!body)
		body = explanation(status);
	length = snprintf(text, sizeof text,
			  "HTTP/1.1 %d %s\r\n%.*s%s%scontent-type: text/plain\r\ncontent-length: %zu\r\n\r\n%s%s",
			  status, reason, (int)date_length, date, persistence(connection->exchange), later,
			  strlen(body) + 1, head ? "" : body, head ? "" : "\n");
	part.iov_len = (size_t)length;
	return cuttle_exchange_send(connection->exchange, &part, NULL, 1);
}

static enum cuttle_step fail(struct cuttle_connection *connection, int status, const char *body, uint64_t now)
{
	connection->exchange->keep_alive = false;
	connection->refused = true;
	connection->spooling = false;
	close_body(connection->exchange);
	cuttle_connection_clear_deadline(connection);
	if (send_error(connection, status, 0, body) < 0)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_finish(connection, now);
}

enum cuttle_step cuttle_connection_fail(struct cuttle_connection *connection, int status, uint64_t now)
{
	return fail(connection, status, NULL, now);
}

enum cuttle_step cuttle_connection_turn_away(struct cuttle_connection *connection, uint64_t now)
{
	return fail(connection, 400, "This port speaks TLS: take https://", now);
}

/* The connection persists, because a new one costs client and server more than this short response. */
enum cuttle_step cuttle_connection_decline(struct cuttle_connection *connection, bool may_persist, uint64_t now)
{
	struct cuttle_core *core = connection->core;
	uint64_t wait = (core->limits.queue_timeout + CUTTLE_SECOND - 1) / CUTTLE_SECOND;

	core->waiting--;
	core->refused++;
	connection->state = CUTTLE_DRAIN;
	cuttle_connection_clear_deadline(connection);
	if (!may_persist || cuttle_core_ending(connection->core))
		connection->exchange->keep_alive = false;
	if (send_error(connection, 503, wait ? wait : 1, NULL) < 0)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_finish(connection, now);
}

/* Changes nothing that the thread with the request may read. The peer has its response. */
enum cuttle_step cuttle_connection_answer_for_app(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;

	atomic_store(&connection->stuck, true);
	connection->core->stuck++;
	connection->core->stuck_now++;
	connection->core->untold++;
	exchange->keep_alive = false;
	if (send_error(connection, 503, 0, NULL) < 0)
		return CUTTLE_STEP_WAIT;
	if (cuttle_outbox_empty(&exchange->out))
		cuttle_connection_end_output(connection);
	else
		cuttle_connection_measure_output(connection, now);
	return CUTTLE_STEP_WAIT;
}
