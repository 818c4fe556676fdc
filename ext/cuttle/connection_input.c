/* What a connection reads, and what it makes of it: a head, a body, a complete request. */
#include "connection_parts.h"
#include "syntax.h"

#include <string.h>

#define INBOX_LIMIT (CUTTLE_LIMIT_HEAD + 4096)

/* Reads once. Returns the number of octets read, 0 at the end of input, or the transport's error. */
static ssize_t fill(struct cuttle_connection *connection, char *into, size_t room)
{
	ssize_t count = connection->transport.type->read(&connection->transport, into, room);

	/* A short read has emptied the socket, unless the peer has closed: then its end comes after. */
	connection->readable = (count > 0 && ((size_t)count == room || connection->transport.more)) ||
			       (connection->hangup && (count > 0 || count == CUTTLE_WANT_READ));
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

/* More octets are needed. A request that the peer doesn't finish never reaches the app. */
static enum cuttle_step hungry(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->eof)
		return connection->state == CUTTLE_IDLE ? CUTTLE_STEP_CLOSE
							: cuttle_connection_fail(connection, 400, now);
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* The request is complete: a thread may take it. */
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

/* RFC 9110, 10.1.1: a client that waits gets a 100 unless its body is already on the way. */
static int send_continue(struct cuttle_connection *connection)
{
	struct iovec part = {.iov_base = (char *)CUTTLE_CONTINUE, .iov_len = sizeof CUTTLE_CONTINUE - 1};

	connection->exchange->continued = true;
	return cuttle_exchange_send(connection->exchange, &part, NULL, 1);
}

/* Continues after a piece of the body was kept: with the rest, or with the app once everything is stored. A connection
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
		return cuttle_connection_fail(connection, 503, now);
	return whole ? complete(connection, now) : hungry(connection, now);
}

/* Appends octets to the body. Returns 0 or the status that ends the request: 503 (RFC 9110, 15.6.4) if there is no room
 * for it, since that is temporary and not the request's fault. */
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
		return cuttle_connection_fail(connection, status, now);
	cuttle_inbox_cut(inbox, exchange->head_size, count);
	exchange->body_left -= count;
	return go_on_with_body(connection, now);
}

/* Joins the data of all buffered chunks first, because a body of tiny chunks must not cost a write(2) each. */
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
			return cuttle_connection_fail(connection, -result, now);
		memmove(coded + decoded, coded + taken + data.offset, data.length);
		decoded += data.length;
		taken += count;
	} while (result == 0 && count > 0);
	status = keep_body(connection, coded, decoded);
	if (status)
		return cuttle_connection_fail(connection, status, now);
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

static enum cuttle_step begin_body(struct cuttle_connection *connection, uint64_t now)
{
	const struct cuttle_head *head = &connection->inbox->head;
	struct cuttle_exchange *exchange = connection->exchange;
	uint64_t most = connection->core->limits.max_body;

	exchange->body_left = head->chunked ? 1 : head->content_length;
	if (!exchange->body_left)
		return complete(connection, now);
	connection->state = CUTTLE_BODY;
	if (most && head->content_length > most)
		return cuttle_connection_fail(connection, 413, now);
	if (head->content_length > CUTTLE_BODY_MEMORY &&
	    !cuttle_spool_has_room(connection->core->spool, head->content_length))
		return cuttle_connection_fail(connection, 503, now);
	exchange->body = cuttle_body_open(head->content_length, connection->core->spool, connection);
	if (!exchange->body)
		return cuttle_connection_fail(connection, 503, now);
	if (head->expect_continue && cuttle_inbox_size(connection->inbox) == exchange->head_size &&
	    send_continue(connection) < 0)
		return CUTTLE_STEP_CLOSE;
	cuttle_meter_start(&exchange->meter, 0, now);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
	return take_body(connection, now);
}

/* An empty line before a request does not begin one (RFC 9112, 2.2). */
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

/* A trusted peer that names a client is replaced by that client, which may be trusted in turn. */
static void introduce(struct cuttle_connection *connection, const struct cuttle_proxy_header *header)
{
	bool named = header->client == CUTTLE_PROXY_NAMED;

	connection->proxy_due = false;
	if (named)
		connection->client = (struct cuttle_peer){.address = header->address, .kind = CUTTLE_PEER_NAMED};
	connection->secure = header->secure || connection->secured;
	connection->trusted = header->client == CUTTLE_PROXY_ITSELF ||
			      (named && cuttle_trust_includes(connection->core->trust, &header->address));
}

/* The handshake begins after the PROXY header. */
static enum cuttle_step begin_security(struct cuttle_connection *connection)
{
	struct cuttle_inbox *inbox = connection->inbox;

	if (cuttle_connection_secure(connection, cuttle_inbox_unused(inbox), cuttle_inbox_size(inbox)) < 0)
		return CUTTLE_STEP_CLOSE;
	cuttle_connection_give_back_inbox(connection);
	connection->readable = true;
	return CUTTLE_STEP_AGAIN;
}

/* A peer sent plain HTTP where TLS is spoken. */
static enum cuttle_step turn_away(struct cuttle_connection *connection, uint64_t now)
{
	connection->secured = connection->secure = false;
	connection->readable = true; /* there may be more, which linger must read */
	if (begin_head(connection, now) == CUTTLE_STEP_CLOSE)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_turn_away(connection, now);
}

static enum cuttle_step take_proxy_header(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	struct cuttle_proxy_header header;
	int result = cuttle_parse_proxy_header(&header, cuttle_inbox_unused(inbox), cuttle_inbox_size(inbox));

	if (result == 0)
		return hungry(connection, now);
	if (result < 0) {
		connection->core->unproxied++;
		return CUTTLE_STEP_CLOSE;
	}
	introduce(connection, &header);
	cuttle_inbox_drop(inbox, (uint32_t)result);
	if (connection->security)
		return begin_security(connection);
	return cuttle_connection_advance(connection, now);
}

/* RFC 9110, 7.4: an https resource is asked for over TLS, with us or with a proxy that we trust. */
static bool is_misdirected(const struct cuttle_connection *connection)
{
	struct cuttle_slice target = connection->inbox->head.target;

	return !connection->secure && !connection->trusted && target.length > 5 &&
	       cuttle_same(cuttle_inbox_at(connection->inbox, target), 5, "https");
}

/* The head is complete, with size octets: judges what depends on the connection, which the parser doesn't know. */
static enum cuttle_step end_head(struct cuttle_connection *connection, uint32_t size, uint64_t now)
{
	connection->exchange->head_size = size;
	return is_misdirected(connection) ? cuttle_connection_fail(connection, 421, now) : begin_body(connection, now);
}

static enum cuttle_step take_head(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = connection->inbox;
	int result;

	if (connection->proxy_due)
		return take_proxy_header(connection, now);
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
	if (result < 0)
		return cuttle_connection_fail(connection, -result, now);
	return end_head(connection, (uint32_t)result, now);
}

enum cuttle_step cuttle_connection_advance(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->state == CUTTLE_BODY)
		return take_body(connection, now);
	if (connection->inbox && cuttle_inbox_size(connection->inbox) > 0)
		return take_head(connection, now);
	cuttle_connection_give_back_inbox(connection);
	return hungry(connection, now);
}

enum cuttle_step cuttle_connection_receive(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_inbox *inbox = inbox_with_room(connection);
	ssize_t count;

	if (!inbox && !connection->exchange)
		return CUTTLE_STEP_CLOSE;
	if (!inbox) /* out of memory, or the head exceeds its buffer */
		return cuttle_connection_fail(connection, connection->inbox ? 431 : 503, now);
	count = fill(connection, inbox->octets + inbox->length, inbox->room - inbox->length);
	if (count == CUTTLE_FAILED)
		return CUTTLE_STEP_CLOSE;
	if (count == CUTTLE_UNSECURED)
		return turn_away(connection, now);
	if (count > 0)
		inbox->length += (uint32_t)count;
	return cuttle_connection_advance(connection, now);
}

/* Excludes the waiting time, because the disk caused it and not the peer. */
enum cuttle_step cuttle_connection_end_spooling(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;

	if (connection->broken)
		return CUTTLE_STEP_CLOSE;
	cuttle_meter_excuse(&exchange->meter, exchange->body->total, now);
	connection->readable = true; /* perhaps: nobody has checked meanwhile */
	return go_on_with_body(connection, now);
}

enum cuttle_step cuttle_connection_throw_away(struct cuttle_connection *connection)
{
	char octets[16384];
	ssize_t count = fill(connection, octets, sizeof octets);

	if (count == 0 || count == CUTTLE_FAILED)
		return CUTTLE_STEP_CLOSE;
	return connection->readable ? CUTTLE_STEP_AGAIN : CUTTLE_STEP_WAIT;
}

/* Results of a Ruby parser */

void cuttle_connection_begin_parsing(struct cuttle_connection *connection)
{
	connection->parsed_state = connection->state;
	connection->state = CUTTLE_PARSING;
}

/* Takes the connection back. Returns whether its deadline has passed, which counts if more octets are needed. */
static bool end_parsing(struct cuttle_connection *connection)
{
	bool late = connection->late;

	connection->state = connection->parsed_state;
	connection->late = false;
	return late;
}

enum cuttle_step cuttle_connection_unsatisfied(struct cuttle_connection *connection, uint64_t now)
{
	bool late = end_parsing(connection);

	return late && !connection->readable ? cuttle_connection_fail(connection, 408, now) : hungry(connection, now);
}

enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now)
{
	end_parsing(connection);
	return end_head(connection, size, now);
}

enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now)
{
	bool late = end_parsing(connection);
	int status = keep_body(connection, data, length);

	if (!status && late && !done && !connection->readable && cuttle_connection_body_is_late(connection, now))
		status = 408;
	if (status)
		return cuttle_connection_fail(connection, status, now);
	cuttle_inbox_cut(connection->inbox, connection->exchange->head_size, consumed);
	connection->exchange->body_left = !done;
	return go_on_with_body(connection, now);
}

enum cuttle_step cuttle_connection_refuse(struct cuttle_connection *connection, int status, uint64_t now)
{
	end_parsing(connection);
	return cuttle_connection_fail(connection, status, now);
}
