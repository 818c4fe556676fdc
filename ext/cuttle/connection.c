/* A connection's life from accept to close; see connection.h. connection_input.c has what it reads, connection_output.c
 * what it sends. */
#include "connection_parts.h"
#include "tunnel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER (2 * CUTTLE_SECOND)      /* for the peer to read our last octets */
#define FIRST_GRACE (CUTTLE_SECOND / 2) /* after stop, for the first request on a new connection */
#define LOOK CUTTLE_SECOND              /* the longest time between two measurements of a transfer */
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

#ifdef __linux__
/* Returns the system's tick, 1 to 10 ms. */
static uint64_t tick(void)
{
	static _Atomic uint64_t known;
	uint64_t nanoseconds = atomic_load_explicit(&known, memory_order_relaxed);
	struct timespec resolution;

	if (!nanoseconds && clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) == 0) {
		nanoseconds = (uint64_t)resolution.tv_nsec;
		atomic_store_explicit(&known, nanoseconds, memory_order_relaxed);
	}
	return nanoseconds;
}
#endif

/* Asks the system two things about a connection that was just accepted. The first is how long it waited for that, since
 * its handshake, or since the client last sent something. The system counts in ticks, so one tick can't be
 * distinguished from none, and counts as none. The second is whether the client has closed or reset the connection. If
 * the system doesn't say, nothing changes. It says nothing about a Unix socket. */
static void note_past(struct cuttle_connection *connection)
{
#ifdef __linux__
	struct tcp_info info;
	socklen_t size = offsetof(struct tcp_info, tcpi_last_data_recv) + sizeof info.tcpi_last_data_recv;

	if (getsockopt(connection->transport.fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return;
	connection->timed = true;
	connection->backlog = info.tcpi_last_data_recv * CUTTLE_MILLISECOND;
	if (connection->backlog <= tick())
		connection->backlog = 0;
	connection->suspect = info.tcpi_state != TCP_ESTABLISHED;
#else
	(void)connection;
#endif
}

int cuttle_connection_secure(struct cuttle_connection *connection, const char *octets, size_t count)
{
	struct cuttle_security *security = connection->security;

	connection->security = NULL;
	if (security->secure(security, &connection->transport, octets, count) < 0)
		return -1;
	connection->secured = connection->secure = true;
	return 0;
}

struct cuttle_connection *cuttle_connection_make(struct cuttle_core *core, int fd, const struct cuttle_peer *client,
						 uint64_t accepted)
{
	struct cuttle_connection *connection = calloc(1, sizeof *connection);

	if (!connection) {
		close(fd);
		return NULL;
	}
	connection->core = core;
	connection->transport = (struct cuttle_transport){.type = &cuttle_plain_transport, .fd = fd};
	connection->read_wants = CUTTLE_READ;
	connection->write_wants = CUTTLE_WRITE;
	connection->readable = true; /* a client seldom connects without sending something */
	connection->accepted = accepted;
	connection->client = *client;
	cuttle_list_reset(&connection->work);
	cuttle_list_reset(&connection->timer);
	return connection;
}

void cuttle_connection_begin(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_core *core = connection->core;

	cuttle_list_append(&core->connections, &connection->all);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_HEAD, now);
	cuttle_scoreboard_count(core->place, ++core->open);
}

struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, const struct cuttle_arrival *arrival,
						 uint64_t now)
{
	struct cuttle_connection *connection = cuttle_connection_make(core, arrival->fd, &arrival->peer, now);

	if (!connection)
		return NULL;
	connection->suspect = true; /* it may have waited in the backlog while its peer went away */
	if (core->ledger && arrival->peer.kind != CUTTLE_PEER_LOCAL)
		note_past(connection);
	connection->trusted = core->trust && cuttle_peer_is_trusted(&arrival->peer, core->trust);
	connection->proxy_due = connection->trusted && core->proxied && core->proxied[arrival->listener];
	if (core->securities)
		connection->security = core->securities[arrival->listener];
	if (connection->security && !connection->proxy_due && cuttle_connection_secure(connection, NULL, 0) < 0) {
		close(arrival->fd);
		free(connection);
		return NULL;
	}
	cuttle_connection_begin(connection, now);
	core->accepted++;
	return connection;
}

void cuttle_connection_end_exchange(struct cuttle_connection *connection)
{
	struct cuttle_core *core = connection->core;
	struct cuttle_exchange *exchange = connection->exchange;
	struct cuttle_phases phases;

	if (!exchange)
		return;
	if (core->ledger && exchange->times[CUTTLE_TAKEN_AT]) {
		cuttle_exchange_phases(exchange, &phases, exchange->times[CUTTLE_LAST_OCTET] ? 0 : cuttle_now());
		cuttle_ledger_add(core->ledger, &phases);
	}
	cuttle_exchange_end(&core->exchanges, exchange);
	connection->exchange = NULL;
	if (connection->references)
		cuttle_connection_forget(connection, CUTTLE_TO_PARSER, CUTTLE_TO_PARSER);
}

/* Releases everything except the descriptor and the structure itself. */
static void dismantle(struct cuttle_connection *connection)
{
	if (connection->state == CUTTLE_READY)
		connection->core->waiting--;
	connection->state = CUTTLE_CLOSED;
	cuttle_connection_clear_deadline(connection);
	cuttle_list_remove(&connection->work);
	cuttle_list_remove(&connection->all);
	cuttle_connection_end_exchange(connection);
	cuttle_connection_give_back_inbox(connection);
	if (connection->references)
		cuttle_connection_forget(connection, 0, CUTTLE_REFERENCES - 1);
	cuttle_scoreboard_count(connection->core->place, --connection->core->open);
}

int cuttle_connection_release(struct cuttle_connection *connection)
{
	int fd;

	if (connection->state == CUTTLE_CLOSED)
		return -1;
	fd = connection->transport.type->release ? connection->transport.type->release(&connection->transport)
						 : cuttle_tunnel_open(&connection->transport);
	if (fd < 0)
		connection->transport.type->close(&connection->transport);
	dismantle(connection);
	return fd;
}

/* RFC 9112, 8: a response without a length seems complete, unless the connection ends with an error. */
static void reset_if_cut(const struct cuttle_connection *connection)
{
	const struct cuttle_exchange *exchange = connection->exchange;
	const struct linger none = {.l_onoff = 1, .l_linger = 0};

	if (exchange && exchange->framing.unbounded &&
	    (connection->state == CUTTLE_TAKEN || !cuttle_outbox_empty(&exchange->out)))
		setsockopt(connection->transport.fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void cuttle_connection_close(struct cuttle_connection *connection)
{
	if (connection->state == CUTTLE_CLOSED)
		return;
	reset_if_cut(connection);
	/* Only between requests: anywhere else the end would cut a message, which the peer must see. */
	if (connection->state == CUTTLE_IDLE && !connection->broken && connection->transport.type->farewell)
		connection->transport.type->farewell(&connection->transport);
	connection->transport.type->close(&connection->transport);
	dismantle(connection);
}

bool cuttle_connection_gone(const struct cuttle_connection *connection)
{
	char octet;
	ssize_t count = recv(connection->transport.fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

	if (count < 0)
		return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
	return count == 0 && connection->core->limits.drop_half_closed;
}

void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now)
{
	connection->core->waiting--;
	connection->state = CUTTLE_TAKEN;
	connection->exchange->times[CUTTLE_TAKEN_AT] = now;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_BEGUN, now);
}

void cuttle_connection_let_go(struct cuttle_connection *connection)
{
	if (connection->references)
		cuttle_connection_forget(connection, CUTTLE_TO_THREAD, CUTTLE_TO_FIBER);
	if (!atomic_load(&connection->stuck))
		return;
	connection->core->stuck_now--;
	if (!connection->told)
		connection->core->untold--;
	connection->told = false;
	atomic_store(&connection->stuck, false);
}

enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now)
{
	switch (connection->state) {
	case CUTTLE_BODY:
		if (cuttle_connection_flush_early(connection) == CUTTLE_STEP_CLOSE)
			return CUTTLE_STEP_CLOSE;
		if (connection->spooling)
			return cuttle_connection_end_spooling(connection, now);
		/* fall through */
	case CUTTLE_IDLE:
	case CUTTLE_HEAD:
		return connection->readable ? cuttle_connection_receive(connection, now) : CUTTLE_STEP_WAIT;
	case CUTTLE_TAKEN: /* its thread closes it if it is broken */
		if (cuttle_connection_flush_early(connection) == CUTTLE_STEP_AGAIN)
			return CUTTLE_STEP_AGAIN;
		if (atomic_load(&connection->stuck) && cuttle_outbox_empty(&connection->exchange->out))
			cuttle_connection_end_output(connection);
		return CUTTLE_STEP_WAIT;
	case CUTTLE_DRAIN:
		return cuttle_connection_drain(connection, now);
	case CUTTLE_LINGER:
		return connection->readable ? cuttle_connection_throw_away(connection) : CUTTLE_STEP_WAIT;
	default:
		return CUTTLE_STEP_WAIT;
	}
}

/* Deadlines */

static bool body_is_overdue(const struct cuttle_connection *connection, uint64_t now)
{
	uint64_t limit = connection->core->limits.body_timeout;

	return limit && now - connection->exchange->meter.began >= limit;
}

bool cuttle_connection_body_is_late(struct cuttle_connection *connection, uint64_t now)
{
	struct cuttle_exchange *exchange = connection->exchange;

	if (body_is_overdue(connection, now))
		return true;
	if (connection->spooling)
		cuttle_meter_excuse(&exchange->meter, exchange->body->total, now);
	return cuttle_meter_late(&exchange->meter, exchange->body->total, connection->core->limits.min_rate, 0, now);
}

static bool output_is_late(struct cuttle_connection *connection, uint64_t now)
{
	const struct cuttle_limits *limits = &connection->core->limits;
	struct cuttle_exchange *exchange = connection->exchange;

	return cuttle_meter_late(&exchange->meter, exchange->bytes_sent, limits->min_rate, limits->write_timeout, now);
}

/* unread: some octets are still to be read or parsed. Only the limit for a whole body doesn't wait for these. */
static bool input_is_late(struct cuttle_connection *connection, bool unread, uint64_t now)
{
	if (connection->state != CUTTLE_BODY)
		return !unread;
	return unread ? body_is_overdue(connection, now) : cuttle_connection_body_is_late(connection, now);
}

static enum cuttle_step end_late(struct cuttle_connection *connection, uint64_t now)
{
	if (connection->state == CUTTLE_IDLE)
		return CUTTLE_STEP_CLOSE;
	return cuttle_connection_fail(connection, connection->spooling ? 503 : 408, now);
}

/* Handles the deadline of a connection that waits for octets of a request. It reads first: if all threads were in the
 * app, octets that came in time may still be in the kernel. */
static enum cuttle_step expire_input(struct cuttle_connection *connection, uint64_t now)
{
	bool queued = !cuttle_list_empty(&connection->work); /* it has a turn of its own, or waits for a Ruby parser */
	bool unread = queued && !connection->spooling && !connection->core->foreign_parser;
	uint8_t state = connection->state;
	enum cuttle_step step = CUTTLE_STEP_WAIT;

	if (!queued && !connection->spooling) {
		connection->readable = true;
		step = cuttle_connection_step(connection, now);
		if (connection->state != state || step == CUTTLE_STEP_CLOSE)
			return step;
		unread = step != CUTTLE_STEP_WAIT;
	}
	if (input_is_late(connection, unread, now))
		return end_late(connection, now);
	if (step == CUTTLE_STEP_UNPARSED)
		connection->late = true;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LOOK, now);
	return step;
}

enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now)
{
	cuttle_connection_clear_deadline(connection);
	switch (connection->state) {
	case CUTTLE_IDLE:
	case CUTTLE_HEAD:
	case CUTTLE_BODY:
		return expire_input(connection, now);
	case CUTTLE_PARSING:
		connection->late = true;
		break;
	case CUTTLE_READY:
		return cuttle_connection_decline(connection, true, now);
	case CUTTLE_TAKEN:
		if (connection->deadline_kind == CUTTLE_UNTIL_BEGUN)
			return cuttle_connection_answer_for_app(connection, now);
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
