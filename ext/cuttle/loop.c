/* The Poller's native half: registrations, work lists, deadlines; see loop.h. */
#include "loop_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 16                   /* each request counts for one of so many parts of the average time */
#define LONGEST_WAIT CUTTLE_SECOND /* while responses are in progress */

uint64_t cuttle_loop_enroll(struct cuttle_loop *loop, int fd, enum cuttle_registrant kind, void *owner)
{
	if ((uint32_t)fd >= loop->registration_room) {
		uint32_t room = (uint32_t)fd + 64 + loop->registration_room / 2;
		struct cuttle_registration *grown = realloc(loop->registrations, room * sizeof *grown);

		if (!grown) {
			errno = ENOMEM;
			return 0;
		}
		memset(grown + loop->registration_room, 0, (room - loop->registration_room) * sizeof *grown);
		loop->registrations = grown;
		loop->registration_room = room;
	}
	if (loop->registrations[fd].kind == CUTTLE_WATCH)
		cuttle_loop_orphan(loop, loop->registrations[fd].owner);
	if (++loop->generation == 0)
		loop->generation = 1;
	loop->registrations[fd] =
		(struct cuttle_registration){.owner = owner, .generation = loop->generation, .kind = kind};
	return cuttle_loop_token(fd, loop->generation);
}

struct cuttle_registration *cuttle_loop_registration(struct cuttle_loop *loop, int fd)
{
	return fd >= 0 && (uint32_t)fd < loop->registration_room ? &loop->registrations[fd] : NULL;
}

static void clear(struct cuttle_registration *entry)
{
	entry->kind = CUTTLE_NOBODY;
	entry->owner = NULL;
}

void cuttle_loop_strike(struct cuttle_loop *loop, int fd)
{
	struct cuttle_registration *entry = cuttle_loop_registration(loop, fd);

	if (entry && entry->kind != CUTTLE_NOBODY) {
		loop->type->remove(loop->backend, fd);
		clear(entry);
	}
}

static void around_fork(struct cuttle_core *core, enum cuttle_fork when)
{
	struct cuttle_loop *loop = CUTTLE_CONTAINER(core, struct cuttle_loop, core);

	if (when == CUTTLE_FORK_BEGINS) {
		pthread_mutex_lock(&loop->lock);
		return;
	}
	if (when == CUTTLE_FORK_IN_CHILD) { /* only the forking thread exists here */
		cuttle_stop_listening(loop->listeners, loop->listener_count);
		loop->listener_count = 0; /* Ruby closes them, and the child may reuse their numbers before it forks */
		loop->type->abandon(loop->backend);
		cuttle_followers_return(loop);
		cuttle_followers_reset(&loop->followers);
		loop->io_thread = NULL;
		pthread_cond_init(&loop->stuck, NULL); /* nobody waits here */
		cuttle_growth_reset(&loop->growth);
		loop->gives = loop->receives = loop->relay_ready = false;
	}
	pthread_mutex_unlock(&loop->lock);
}

static void destroy(struct cuttle_core *core)
{
	struct cuttle_loop *loop = CUTTLE_CONTAINER(core, struct cuttle_loop, core);

	if (loop->backend)
		loop->type->close(loop->backend);
	pthread_mutex_destroy(&loop->lock);
	pthread_cond_destroy(&loop->stuck);
	pthread_cond_destroy(&loop->growth.called);
	free(loop->registrations);
	free(loop->listeners);
	free(loop);
}

struct cuttle_loop *cuttle_loop_open(const struct cuttle_backend_type *type, const int *listeners, int count)
{
	struct cuttle_loop *loop = calloc(1, sizeof *loop);

	if (!loop)
		return NULL;
	pthread_mutex_init(&loop->lock, NULL);
	pthread_cond_init(&loop->stuck, NULL);
	loop->vacancies = -1;
	cuttle_list_reset(&loop->pending);
	cuttle_list_reset(&loop->ready);
	cuttle_list_reset(&loop->unparsed);
	cuttle_list_reset(&loop->watches);
	cuttle_list_reset(&loop->fired);
	cuttle_followers_reset(&loop->followers);
	cuttle_growth_reset(&loop->growth);
	loop->type = type;
	loop->backend = type->open();
	loop->listeners = malloc((size_t)(count ? count : 1) * sizeof *loop->listeners);
	if (!loop->backend || !loop->listeners) {
		destroy(&loop->core);
		return NULL;
	}
	cuttle_core_reset(&loop->core, destroy, around_fork);
	loop->core.loop = loop;
	for (int index = 0; index < count; index++)
		loop->listeners[index] = cuttle_listener_of(listeners[index]);
	loop->listener_count = count;
	loop->listeners_away = true;
	cuttle_loop_restore_listeners(loop);
	return loop;
}

/* Ends a connection's TAKEN state. */
static void let_go(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	loop->busy--;
	cuttle_connection_let_go(connection);
}

/* Prepares for a connection's end. closes: its descriptor is closed next. In a forked child it is closed already. */
static void leave(struct cuttle_loop *loop, struct cuttle_connection *connection, bool closes)
{
	struct cuttle_registration *entry = cuttle_loop_registration(loop, connection->transport.fd);

	if (connection->state == CUTTLE_TAKEN)
		let_go(loop, connection);
	if (!connection->watched)
		loop->unwatched--;
	else if (entry && !(closes && loop->type->drops_closed))
		loop->type->remove(loop->backend, connection->transport.fd);
	if (entry)
		clear(entry);
	cuttle_loop_note_room(loop);
}

int cuttle_loop_release(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	int fd;

	leave(loop, connection, false);
	fd = cuttle_connection_release(connection);
	free(connection);
	return fd;
}

void cuttle_loop_close(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	leave(loop, connection, true);
	cuttle_connection_close(connection);
	free(connection);
}

/* Notes how long a request was TAKEN, for loops that give requests away (see cuttle_loop_relay). */
static void note_service(struct cuttle_loop *loop, const struct cuttle_exchange *exchange, uint64_t now)
{
	if (loop->gives)
		loop->service += (now - exchange->times[CUTTLE_TAKEN_AT]) / SHARE - loop->service / SHARE;
}

void cuttle_loop_finish(struct cuttle_loop *loop, struct cuttle_connection *connection, bool complete, uint64_t now)
{
	enum cuttle_step step;

	note_service(loop, connection->exchange, now);
	step = complete ? cuttle_connection_finish(connection, now) : CUTTLE_STEP_CLOSE;

	if (connection->state != CUTTLE_TAKEN)
		let_go(loop, connection);
	cuttle_list_remove(&connection->work); /* it may be pending for its output */
	cuttle_loop_route(loop, connection, step);
	cuttle_followers_pass_on(loop); /* this thread may not ask for work again soon */
}

/* Returns the directions that a connection in this state waits for. */
static uint32_t wanted(const struct cuttle_connection *connection)
{
	bool output = (connection->exchange && !cuttle_outbox_empty(&connection->exchange->out)) || connection->parting;
	bool input = connection->state != CUTTLE_DRAIN && connection->state != CUTTLE_TAKEN && !connection->spooling;

	return (output ? connection->write_wants : 0) | (input ? connection->read_wants : 0);
}

/* Has the back end watch a connection. Returns false if it can't. */
static bool watch(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	int fd = connection->transport.fd;
	const struct cuttle_registration *entry = cuttle_loop_registration(loop, fd);

	if (!entry || loop->type->add(loop->backend, fd, cuttle_loop_token(fd, entry->generation)) != 0)
		return false;
	connection->watched = true;
	loop->unwatched--;
	return true;
}

/* Those that it doesn't watch are among the newest. One that can't be watched now is watched, or closed, when it waits
 * for something. */
void cuttle_loop_watch_all(struct cuttle_loop *loop)
{
	struct cuttle_link *link = loop->core.connections.previous;

	for (; loop->unwatched > 0 && link != &loop->core.connections; link = link->previous) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		if (!connection->watched && !watch(loop, connection))
			return;
	}
}

/* Has the connection wait for its descriptor. One that can't ends; where a thread has it, by that thread. */
static void wait_for(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	if (connection->watched)
		loop->type->arm(loop->backend, connection->transport.fd, wanted(connection));
	else if (watch(loop, connection))
		return;
	else if (connection->state == CUTTLE_TAKEN)
		connection->broken = true;
	else
		cuttle_loop_close(loop, connection);
}

void cuttle_loop_route(struct cuttle_loop *loop, struct cuttle_connection *connection, enum cuttle_step step)
{
	switch (step) {
	case CUTTLE_STEP_COMPLETE:
		cuttle_list_append(&loop->ready, &connection->work);
		break;
	case CUTTLE_STEP_AGAIN:
		cuttle_list_append(&loop->pending, &connection->work);
		break;
	case CUTTLE_STEP_UNPARSED:
		cuttle_list_append(&loop->unparsed, &connection->work);
		break;
	case CUTTLE_STEP_CLOSE:
		cuttle_loop_close(loop, connection);
		break;
	case CUTTLE_STEP_WAIT:
		wait_for(loop, connection);
		break;
	}
}

void cuttle_loop_drop(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	loop->core.dropped++;
	cuttle_loop_close(loop, connection);
}

void cuttle_loop_refuse(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now)
{
	bool better_elsewhere = loop->core.scoreboard &&
				cuttle_scoreboard_any_other(loop->core.scoreboard, loop->core.place, false);

	loop->refused_at = now;
	cuttle_list_remove(&connection->work);
	cuttle_loop_route(loop, connection, cuttle_connection_decline(connection, !better_elsewhere, now));
}

void cuttle_loop_shed(struct cuttle_loop *loop, uint64_t spare, uint64_t now)
{
	uint64_t most = loop->core.limits.max_queue + spare;

	while (loop->core.limits.max_queue && loop->core.waiting > most && !cuttle_list_empty(&loop->ready))
		cuttle_loop_refuse(loop, CUTTLE_CONTAINER(loop->ready.previous, struct cuttle_connection, work), now);
	if (loop->sheds)
		cuttle_scoreboard_room(loop->core.place, !loop->shut && !cuttle_loop_tight(loop, now));
}

void cuttle_loop_refuse_since(struct cuttle_loop *loop, uint64_t time, uint64_t now)
{
	while (!cuttle_list_empty(&loop->ready)) {
		struct cuttle_connection *first = CUTTLE_CONTAINER(loop->ready.next, struct cuttle_connection, work);

		if (first->exchange->times[CUTTLE_COMPLETE_AT] > time)
			break;
		cuttle_loop_refuse(loop, first, now);
	}
}

struct cuttle_connection *cuttle_loop_tell_stuck(struct cuttle_loop *loop)
{
	struct cuttle_link *link = loop->core.connections.next;

	for (; loop->core.untold && link != &loop->core.connections; link = link->next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		if (atomic_load(&connection->stuck) && !connection->told) {
			connection->told = true;
			loop->core.untold--;
			return connection;
		}
	}
	return NULL;
}

static void note_connection(struct cuttle_loop *loop, struct cuttle_connection *connection, uint32_t ready)
{
	bool gone = (ready & CUTTLE_GONE) || ((ready & CUTTLE_HANGUP) && loop->core.limits.drop_half_closed);

	if (ready & connection->read_wants)
		connection->readable = true;
	if (ready & CUTTLE_HANGUP)
		connection->hangup = true;
	if (gone)
		connection->suspect = true;
	switch (connection->state) {
	case CUTTLE_PARSING:
		break;
	case CUTTLE_READY:
		if (gone)
			cuttle_loop_drop(loop, connection);
		break;
	case CUTTLE_TAKEN:
		if (gone)
			connection->broken = true;
		if (connection->broken || cuttle_outbox_empty(&connection->exchange->out))
			break;
		/* fall through */
	default:
		if (gone && connection->spooling)
			connection->broken = true; /* nothing is read that would show it */
		if (cuttle_list_empty(&connection->work))
			cuttle_list_append(&loop->pending, &connection->work);
	}
}

void cuttle_loop_note(struct cuttle_loop *loop, const struct cuttle_event *events, int count)
{
	for (int index = 0; index < count; index++) {
		struct cuttle_registration *entry = cuttle_loop_registration(loop, (int)(uint32_t)events[index].token);

		if (!entry || entry->generation != (uint32_t)(events[index].token >> 32))
			continue;
		switch (entry->kind) {
		case CUTTLE_CONNECTION:
			note_connection(loop, entry->owner, events[index].ready);
			break;
		case CUTTLE_WATCH:
			cuttle_loop_note_watch(loop, entry->owner, events[index].ready);
			break;
		case CUTTLE_LISTENER:
			loop->listeners_ready = true;
			break;
		case CUTTLE_RELAY:
			loop->relay_ready = true;
			break;
		default:
			break;
		}
	}
}

void cuttle_loop_note_spooled(void *context)
{
	struct cuttle_loop *loop = context;
	struct cuttle_connection *connection;
	bool leader_waits;

	pthread_mutex_lock(&loop->lock);
	while ((connection = cuttle_spool_reported(loop->core.spool)))
		if (connection->spooling && cuttle_list_empty(&connection->work))
			cuttle_list_append(&loop->pending, &connection->work);
	leader_waits = cuttle_followers_leader_waits(&loop->followers);
	cuttle_followers_pass_on(loop);
	if (!leader_waits)
		loop->type->wake(loop->backend); /* the io thread, if it is on duty */
	pthread_mutex_unlock(&loop->lock);
}

void cuttle_loop_step_pending(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_connection *connection;
	struct cuttle_link turn;

	if (cuttle_list_empty(&loop->pending))
		return;
	turn = loop->pending;
	turn.next->previous = turn.previous->next = &turn;
	cuttle_list_reset(&loop->pending);
	while ((connection = cuttle_loop_shift(&turn)))
		cuttle_loop_route(loop, connection, cuttle_connection_step(connection, now));
}

static void expire(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now)
{
	enum cuttle_step step;

	if (connection->state == CUTTLE_READY) {
		cuttle_loop_refuse(loop, connection, now);
		return;
	}
	step = cuttle_connection_expire(connection, now);
	if (connection->state == CUTTLE_PARSING)
		return; /* the parsing thread will notice */
	if (loop->core.untold)
		pthread_cond_broadcast(&loop->stuck);
	if (step != CUTTLE_STEP_WAIT || connection->refused) /* a parser must not look at a refused one */
		cuttle_list_remove(&connection->work);
	if (cuttle_list_empty(&connection->work))
		cuttle_loop_route(loop, connection, step);
}

int64_t cuttle_loop_expire(struct cuttle_loop *loop, uint64_t now)
{
	int64_t nearest = -1;

	for (int kind = 0; kind < CUTTLE_DEADLINES; kind++) {
		struct cuttle_link *queue = &loop->core.deadlines[kind];

		while (!cuttle_list_empty(queue)) {
			struct cuttle_connection *connection =
				CUTTLE_CONTAINER(queue->next, struct cuttle_connection, timer);

			if (connection->deadline > now) {
				int64_t left = (int64_t)(connection->deadline - now);

				nearest = nearest < 0 || left < nearest ? left : nearest;
				break;
			}
			expire(loop, connection, now);
		}
	}
	return nearest;
}

int64_t cuttle_loop_keep_deadlines(struct cuttle_loop *loop, uint64_t now)
{
	int64_t patience = cuttle_loop_expire(loop, now);

	return loop->busy > 0 ? cuttle_sooner(patience, LONGEST_WAIT) : patience;
}

void cuttle_loop_turn(struct cuttle_loop *loop, int limit, uint64_t now)
{
	struct cuttle_event events[CUTTLE_EVENTS];

	cuttle_loop_note(loop, events, loop->type->wait(loop->backend, events, CUTTLE_EVENTS, 0));
	cuttle_loop_come_back(loop, now);
	cuttle_loop_receive(loop, now); /* before new connections, which would take the last descriptors */
	cuttle_loop_accept(loop, limit, now);
	loop->looked = now;
	cuttle_loop_step_pending(loop, now);
}

/* After stop, a request may still be on its way on an idle connection. A new connection waits a moment for it, a kept
 * one the drain grace. */
static void drain_idle(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now)
{
	enum cuttle_step step;

	cuttle_list_remove(&connection->work);
	connection->readable = true; /* input may have arrived without a report yet */
	step = cuttle_connection_step(connection, now);
	if (connection->state == CUTTLE_IDLE && step != CUTTLE_STEP_CLOSE) {
		if (connection->served && !loop->core.limits.drain_grace)
			step = CUTTLE_STEP_CLOSE;
		else
			cuttle_connection_set_deadline(
				connection, connection->served ? CUTTLE_UNTIL_DRAINED : CUTTLE_UNTIL_ASKED, now);
	}
	cuttle_loop_route(loop, connection, step);
}

static void drain_all_idle(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_link *link = loop->core.connections.next, *next;

	for (; link != &loop->core.connections; link = next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		next = link->next;
		if (connection->state == CUTTLE_IDLE)
			drain_idle(loop, connection, now);
	}
}

void cuttle_loop_shut(struct cuttle_loop *loop, uint64_t now)
{
	drain_all_idle(loop, now);
	loop->shut = true;
	if (cuttle_followers_leader_waits(&loop->followers))
		loop->type->wake(loop->backend); /* it waits for later deadlines than the new ones */
}

void cuttle_loop_count(struct cuttle_core *core, struct cuttle_counts *counts)
{
	struct cuttle_loop *loop = CUTTLE_CONTAINER(core, struct cuttle_loop, core);

	pthread_mutex_lock(&loop->lock);
	counts->accepted += core->accepted;
	counts->requests += core->requests - core->waiting; /* which may still go to another worker */
	counts->dropped += core->dropped;
	counts->refused += core->refused;
	counts->stuck += core->stuck;
	counts->unproxied += core->unproxied;
	counts->stood_by += loop->followers.stood_by;
	counts->relayed += loop->relayed;
	counts->connections += core->open;
	counts->busy += loop->busy;
	counts->ready += core->waiting;
	counts->threads += loop->busy + cuttle_followers_free(&loop->followers);
	counts->spooled += cuttle_spool_used(core->spool);
	pthread_mutex_unlock(&loop->lock);
}
