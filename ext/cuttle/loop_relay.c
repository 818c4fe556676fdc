/* A request that has to wait here goes to a worker that is idle, with its connection. Otherwise a kept connection would
 * tie its client to one worker, however busy that one is and however idle the others. */
#include "loop_parts.h"

#include <errno.h>
#include <unistd.h>

#define PATIENCE CUTTLE_MILLISECOND    /* a shorter wait costs less than to pass the request on */
#define AGAIN (2 * CUTTLE_MILLISECOND) /* before the next look for an idle worker: it reads what all of them share */
#define REST (20 * CUTTLE_MILLISECOND) /* before a request goes on that came from another worker */
#define GIVEN 8                        /* requests at a time */
#define LOOKED_AT 64                   /* the same, with those that can't move */

static struct cuttle_relay *own_relay(const struct cuttle_loop *loop)
{
	return cuttle_scoreboard_relay(loop->core.scoreboard, loop->core.place);
}

/* Begins to receive. Returns whether it could. */
static bool watch(struct cuttle_loop *loop)
{
	const struct cuttle_relay *relay = own_relay(loop);
	uint64_t token;

	if (!cuttle_relay_has_room(relay))
		return false;
	token = cuttle_loop_enroll(loop, relay->receive, CUTTLE_RELAY, loop);
	loop->relay_watched = token && loop->type->add_listener(loop->backend, relay->receive, token) == 0;
	atomic_store(&loop->core.place->reads, loop->relay_watched);
	return loop->relay_watched;
}

/* Receives no more. A sender sees this after it has sent, and takes its message back. */
static void unwatch(struct cuttle_loop *loop)
{
	atomic_store(&loop->core.place->reads, false);
	if (loop->relay_watched)
		cuttle_loop_strike(loop, own_relay(loop)->receive);
	loop->relay_watched = loop->relay_ready = false;
}

void cuttle_loop_open_relay(struct cuttle_loop *loop)
{
	if (loop->core.place && own_relay(loop))
		loop->gives = loop->receives = watch(loop);
}

/* When the request of a READY connection was complete. */
static uint64_t completed(const struct cuttle_link *work)
{
	return CUTTLE_CONTAINER(work, struct cuttle_connection, work)->exchange->times[CUTTLE_COMPLETE_AT];
}

/* Puts a request that has waited elsewhere before those that have waited less. */
static void queue(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	struct cuttle_link *behind = &loop->ready;

	while (behind->previous != &loop->ready && completed(behind->previous) > completed(&connection->work))
		behind = behind->previous;
	cuttle_list_append(behind, &connection->work);
}

static void adopt(struct cuttle_loop *loop, int fd, const struct cuttle_parcel *parcel, const char *octets,
		  uint64_t now)
{
	struct cuttle_connection *connection = cuttle_connection_unpack(&loop->core, fd, parcel, octets, now);
	enum cuttle_step step;

	if (!connection)
		return;
	loop->unwatched++;
	if (!cuttle_loop_enroll(loop, fd, CUTTLE_CONNECTION, connection)) {
		cuttle_loop_close(loop, connection);
		return;
	}
	step = cuttle_connection_settle(connection, parcel, now);
	if (step == CUTTLE_STEP_COMPLETE)
		queue(loop, connection);
	else
		cuttle_loop_route(loop, connection, step);
}

/* Receives all that is in the relay of a place. Returns false if a message is left for which there is no descriptor. */
static bool receive(struct cuttle_loop *loop, struct cuttle_place *place, uint64_t now)
{
	struct cuttle_parcel parcel;
	char octets[CUTTLE_PARCEL_ROOM];
	int fd;

	for (;;) {
		fd = cuttle_scoreboard_receive(loop->core.scoreboard, place, &parcel, octets);
		if (fd < 0 && errno != EBADMSG)
			return !cuttle_accept_exhausted(errno);
		if (fd >= 0)
			adopt(loop, fd, &parcel, octets, now);
		cuttle_scoreboard_load(loop->core.place, cuttle_loop_load(loop)); /* it counts here from now on */
	}
}

void cuttle_loop_receive(struct cuttle_loop *loop, uint64_t now)
{
	if (!loop->relay_ready)
		return;
	loop->relay_ready = false; /* reported again as long as there is a message */
	if (receive(loop, loop->core.place, now)) {
		atomic_store_explicit(&loop->core.place->coming, 0, memory_order_relaxed);
		return;
	}
	cuttle_loop_run_short(loop, now);
}

void cuttle_loop_unwatch_relay(struct cuttle_loop *loop)
{
	if (loop->receives)
		unwatch(loop);
}

void cuttle_loop_watch_relay(struct cuttle_loop *loop, uint64_t now)
{
	if (loop->receives && !loop->relay_watched && !watch(loop))
		cuttle_loop_run_short(loop, now);
}

void cuttle_loop_close_relay(struct cuttle_loop *loop, uint64_t now)
{
	if (!loop->receives)
		return;
	loop->receives = false;
	unwatch(loop);
	receive(loop, loop->core.place, now); /* what was sent before */
}

/* Gives a READY connection to the worker with that place. Returns whether it could. */
static bool give(struct cuttle_loop *loop, struct cuttle_connection *connection, struct cuttle_place *place,
		 const struct cuttle_parcel *parcel, const struct iovec parts[CUTTLE_PARCEL_PARTS], uint64_t now)
{
	if (!cuttle_scoreboard_send(loop->core.scoreboard, place, connection->transport.fd, parcel, parts))
		return false;
	close(cuttle_loop_release(loop, connection));
	loop->core.requests--; /* it counts there */
	loop->relayed++;
	if (!cuttle_scoreboard_reads(loop->core.scoreboard, place)) /* see unwatch */
		receive(loop, place, now);
	return true;
}

/* Whether requests may go to other workers. A stop that leaves the backlog to them leaves them these, too: the threads
 * here may be busy until the end. At any other stop they end as well. */
static bool may_give(const struct cuttle_loop *loop)
{
	const struct cuttle_core *core = &loop->core;

	return loop->gives && (!atomic_load_explicit(&core->stopping, memory_order_relaxed) ||
			       atomic_load_explicit(&core->leave_backlog, memory_order_relaxed));
}

/* The load to compare other workers' with. A worker that rests or stops gives to any that has a free thread. */
static uint32_t load_to_compare(const struct cuttle_loop *loop)
{
	bool leaves = loop->resting || atomic_load_explicit(&loop->core.stopping, memory_order_relaxed);

	return leaves ? UINT32_MAX : cuttle_loop_load(loop);
}

/* How long a request may wait before it is passed on. If requests take longer than PATIENCE, each that waits will wait
 * longer. A loop that sheds would refuse it. */
static uint64_t patience(const struct cuttle_loop *loop)
{
	return loop->service > PATIENCE || loop->sheds ? 0 : PATIENCE;
}

/* When to pass on a request that waits: at once while this worker collects garbage. A request that came from another
 * worker may go on, because an app that keeps the GVL may have stopped this worker since. */
static uint64_t due(const struct cuttle_loop *loop, const struct cuttle_exchange *exchange)
{
	if (loop->resting)
		return 0;
	return exchange->relayed ? exchange->relayed + REST : exchange->times[CUTTLE_COMPLETE_AT] + patience(loop);
}

int64_t cuttle_loop_relay(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_link *link = loop->ready.next, *next;
	uint64_t again = UINT64_MAX;
	int given = 0, looked_at = 0;

	if (link == &loop->ready || !may_give(loop))
		return -1;
	if (now < loop->relay_again)
		return (int64_t)(loop->relay_again - now);
	for (; link != &loop->ready && given < GIVEN && looked_at < LOOKED_AT; looked_at++, link = next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, work);
		uint64_t time = due(loop, connection->exchange);
		struct cuttle_parcel parcel;
		struct iovec parts[CUTTLE_PARCEL_PARTS];
		struct cuttle_place *place;

		next = link->next;
		if (now < time && time < again)
			again = time;
		if (now < time && !connection->exchange->relayed)
			break; /* those behind it have waited less */
		if (now < time || !cuttle_connection_pack(connection, &parcel, parts))
			continue;
		place = cuttle_scoreboard_least_busy(loop->core.scoreboard, loop->core.place, load_to_compare(loop),
						     loop->core.limits.max_connections);
		if (!place || !give(loop, connection, place, &parcel, parts, now)) {
			loop->relay_again = now + AGAIN;
			break;
		}
		given++;
	}
	if (given == 0 && looked_at > GIVEN)
		loop->relay_again = now + AGAIN; /* to pass by so many again and again would cost */
	if (link != &loop->ready && again > now + AGAIN)
		again = now + AGAIN;
	return again == UINT64_MAX ? -1 : (int64_t)(again - now);
}
