/* The Poller's native half: registrations, work lists, deadlines. See loop.h. */
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ASIDE (1 * CUTTLE_MILLISECOND)    /* for another worker to wake up and accept */
#define PATIENCE (3 * CUTTLE_MILLISECOND) /* with one that doesn't */
#define RECOVERY (100 * CUTTLE_MILLISECOND) /* before accept is tried again where there was no room */
#define EPISODE (60 * CUTTLE_SECOND)        /* without a shortage, before the next one is told */

static uint64_t token_of(int fd, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)fd;
}

static void note_watch(struct cuttle_loop *loop, struct cuttle_watch *watch, uint32_t ready)
{
	watch->ready |= ready;
	if (cuttle_list_empty(&watch->work))
		cuttle_list_append(&loop->fired, &watch->work);
}

/* The app's descriptor was closed behind Ruby's back, and its number is another's: the fiber that waits goes on. */
static void orphan(struct cuttle_loop *loop, struct cuttle_watch *watch)
{
	watch->fd = -1;
	note_watch(loop, watch, CUTTLE_READ | CUTTLE_WRITE);
}

/* Enters a descriptor's owner. Returns its token; 0 without memory. */
static uint64_t enroll(struct cuttle_loop *loop, int fd, enum cuttle_registrant kind, void *owner)
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
		orphan(loop, loop->registrations[fd].owner);
	if (++loop->generation == 0)
		loop->generation = 1;
	loop->registrations[fd] =
		(struct cuttle_registration){.owner = owner, .generation = loop->generation, .kind = kind};
	return token_of(fd, loop->generation);
}

static struct cuttle_registration *registration(struct cuttle_loop *loop, int fd)
{
	return fd >= 0 && (uint32_t)fd < loop->registration_room ? &loop->registrations[fd] : NULL;
}

static void strike(struct cuttle_loop *loop, int fd)
{
	struct cuttle_registration *entry = registration(loop, fd);

	if (entry && entry->kind != CUTTLE_NOBODY) {
		loop->type->remove(loop->backend, fd);
		entry->kind = CUTTLE_NOBODY;
		entry->owner = NULL;
	}
}

static void around_fork(struct cuttle_core *core, enum cuttle_fork when)
{
	struct cuttle_loop *loop = CUTTLE_CONTAINER(core, struct cuttle_loop, core);

	if (when == CUTTLE_FORK_BEGINS) {
		pthread_mutex_lock(&loop->lock);
		return;
	}
	if (when == CUTTLE_FORK_IN_CHILD) { /* no other thread came along */
		cuttle_stop_listening(loop->listeners, loop->listener_count);
		loop->type->abandon(loop->backend);
		cuttle_followers_reset(&loop->followers);
		loop->io_thread = NULL;
	}
	pthread_mutex_unlock(&loop->lock);
}

static void destroy(struct cuttle_core *core)
{
	struct cuttle_loop *loop = CUTTLE_CONTAINER(core, struct cuttle_loop, core);

	if (loop->backend)
		loop->type->close(loop->backend);
	pthread_mutex_destroy(&loop->lock);
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
	cuttle_list_reset(&loop->pending);
	cuttle_list_reset(&loop->ready);
	cuttle_list_reset(&loop->unparsed);
	cuttle_list_reset(&loop->watches);
	cuttle_list_reset(&loop->fired);
	cuttle_followers_reset(&loop->followers);
	loop->type = type;
	loop->backend = type->open();
	loop->listeners = malloc((size_t)(count ? count : 1) * sizeof *listeners);
	if (!loop->backend || !loop->listeners) {
		destroy(&loop->core);
		return NULL;
	}
	cuttle_core_reset(&loop->core, destroy, around_fork);
	memcpy(loop->listeners, listeners, (size_t)count * sizeof *listeners);
	loop->listener_count = count;
	loop->listeners_away = true;
	cuttle_loop_restore_listeners(loop);
	return loop;
}

void cuttle_loop_remove_listeners(struct cuttle_loop *loop)
{
	if (loop->listeners_away)
		return;
	for (int index = 0; index < loop->listener_count; index++)
		strike(loop, loop->listeners[index]);
	loop->listeners_away = true;
	loop->listeners_ready = false;
}

/* There was no memory for a listener in the back end: it would stay deaf. */
static void try_again(struct cuttle_loop *loop)
{
	cuttle_loop_remove_listeners(loop);
	loop->exhausted = true;
	loop->aside_until = cuttle_now() + RECOVERY;
}

void cuttle_loop_restore_listeners(struct cuttle_loop *loop)
{
	if (!loop->listeners_away || atomic_load(&loop->core.stopping))
		return;
	loop->listeners_away = false;
	for (int index = 0; index < loop->listener_count; index++) {
		uint64_t token = enroll(loop, loop->listeners[index], CUTTLE_LISTENER, loop);

		if (token && loop->type->add_listener(loop->backend, loop->listeners[index], token) == 0)
			continue;
		if (errno == ENOMEM || errno == ENOSPC) {
			try_again(loop);
			return;
		}
	}
}

/* Connections */

/* Before a connection leaves: where accept had no room, there is some now. */
static void leave(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	if (connection->state == CUTTLE_TAKEN)
		loop->busy--;
	strike(loop, connection->transport.fd);
	if (loop->exhausted)
		loop->aside_until = 1;
}

int cuttle_loop_release(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	int fd;

	leave(loop, connection);
	fd = cuttle_connection_release(connection);
	free(connection);
	return fd;
}

void cuttle_loop_close(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	leave(loop, connection);
	cuttle_connection_close(connection);
	free(connection);
}

void cuttle_loop_finish(struct cuttle_loop *loop, struct cuttle_connection *connection, bool complete, uint64_t now)
{
	enum cuttle_step step = complete ? cuttle_connection_finish(connection, now) : CUTTLE_STEP_CLOSE;

	if (connection->state != CUTTLE_TAKEN)
		loop->busy--;
	cuttle_list_remove(&connection->work); /* it may have been pending, for its output */
	cuttle_loop_route(loop, connection, step);
	cuttle_followers_pass_on(loop); /* this thread may not ask for work again soon */
}

/* Which directions a connection in this state waits for. */
static uint32_t wanted(const struct cuttle_connection *connection)
{
	bool output = connection->exchange && !cuttle_outbox_empty(&connection->exchange->out);
	bool input = connection->state != CUTTLE_DRAIN && connection->state != CUTTLE_TAKEN;

	return (output ? connection->write_wants : 0) | (input ? connection->read_wants : 0);
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
		loop->type->arm(loop->backend, connection->transport.fd, wanted(connection));
		break;
	}
}

void cuttle_loop_drop(struct cuttle_loop *loop, struct cuttle_connection *connection)
{
	loop->core.dropped++;
	cuttle_loop_close(loop, connection);
}

static void note_connection(struct cuttle_loop *loop, struct cuttle_connection *connection, uint32_t ready)
{
	bool gone = (ready & CUTTLE_GONE) || ((ready & CUTTLE_HANGUP) && loop->core.limits.drop_half_closed);

	if (ready & connection->read_wants)
		connection->readable = true;
	if (ready & CUTTLE_HANGUP)
		connection->hangup = true;
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
		if (cuttle_list_empty(&connection->work))
			cuttle_list_append(&loop->pending, &connection->work);
	}
}

void cuttle_loop_note(struct cuttle_loop *loop, const struct cuttle_event *events, int count)
{
	for (int index = 0; index < count; index++) {
		struct cuttle_registration *entry = registration(loop, (int)(uint32_t)events[index].token);

		if (!entry || entry->generation != (uint32_t)(events[index].token >> 32))
			continue;
		switch (entry->kind) {
		case CUTTLE_CONNECTION:
			note_connection(loop, entry->owner, events[index].ready);
			break;
		case CUTTLE_WATCH:
			note_watch(loop, entry->owner, events[index].ready);
			break;
		case CUTTLE_LISTENER:
			loop->listeners_ready = true;
			break;
		default:
			break;
		}
	}
}

void cuttle_loop_step_pending(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_link turn, *link;

	if (cuttle_list_empty(&loop->pending))
		return;
	turn = loop->pending;
	turn.next->previous = turn.previous->next = &turn;
	cuttle_list_reset(&loop->pending);
	while ((link = cuttle_list_shift(&turn))) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, work);

		cuttle_loop_route(loop, connection, cuttle_connection_step(connection, now));
	}
}

static void expire(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now)
{
	enum cuttle_step step = cuttle_connection_expire(connection, now);

	if (connection->state == CUTTLE_PARSING)
		return; /* the parser's thread finds out */
	if (step != CUTTLE_STEP_WAIT || connection->refused) /* no parser has to look at one that was refused */
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

/* Accepting */

static int accept_one(int listener)
{
#ifdef HAVE_ACCEPT4
	return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	}
	return fd;
#endif
}

int cuttle_accept(int listener)
{
	int fd, one = 1;

	do
		fd = accept_one(listener);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO));
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* a unix socket refuses: no matter */
	return fd;
}

bool cuttle_accept_exhausted(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

bool cuttle_accept_complains(struct cuttle_core *core, uint64_t now)
{
	bool news = !core->shortage || now - core->shortage >= EPISODE;

	core->shortage = now;
	return news;
}

static bool is_listening(int fd)
{
	int listening = 0;
	socklen_t size = sizeof listening;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening;
}

void cuttle_stop_listening(const int *listeners, int count)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0)
		return; /* Ruby's close will do */
	for (int index = 0; index < count; index++) {
		if (!is_listening(listeners[index]))
			continue; /* Ruby has closed it, and the number may be another's */
		dup2(nothing, listeners[index]);
		fcntl(listeners[index], F_SETFD, FD_CLOEXEC);
	}
	close(nothing);
}

static void welcome(struct cuttle_loop *loop, int fd, uint64_t now)
{
	struct cuttle_connection *connection = cuttle_connection_open(&loop->core, fd, now);
	uint64_t token;

	if (!connection)
		return;
	token = enroll(loop, fd, CUTTLE_CONNECTION, connection);
	if (token && loop->type->add(loop->backend, fd, token) == 0)
		cuttle_list_append(&loop->pending, &connection->work);
	else
		cuttle_loop_close(loop, connection);
}

int64_t cuttle_loop_come_back(struct cuttle_loop *loop, uint64_t now)
{
	if (!loop->aside_until)
		return -1;
	if (now < loop->aside_until && (loop->exhausted || cuttle_scoreboard_another(loop->core.scoreboard)))
		return (int64_t)(loop->aside_until - now);
	loop->aside_until = 0;
	loop->exhausted = false;
	if (!loop->full)
		cuttle_loop_restore_listeners(loop);
	return loop->aside_until ? (int64_t)RECOVERY : -1;
}

/* The listeners go away for nanoseconds at most. */
static void go_aside(struct cuttle_loop *loop, uint64_t nanoseconds, uint64_t now)
{
	cuttle_loop_remove_listeners(loop);
	loop->aside_until = now + nanoseconds;
	if (loop->followers.leader_in_kernel)
		loop->type->wake(loop->backend); /* it waits until then, and no longer for ever */
}

/* Whether what waits at the door is for a worker that is free and has fewer connections: then the listeners go away, for
 * as long as it takes that one to wake up. */
static bool stand_aside(struct cuttle_loop *loop, uint64_t now)
{
	if (!loop->core.scoreboard || !cuttle_scoreboard_another(loop->core.scoreboard)) {
		loop->aside_since = 0;
		return false;
	}
	if (!loop->aside_since)
		loop->aside_since = now;
	go_aside(loop, ASIDE, now);
	return true;
}

/* Whether there may be another connection. */
static bool has_room(struct cuttle_loop *loop, uint64_t now)
{
	uint64_t most = loop->core.limits.max_connections;

	if (!most || loop->core.open < most || atomic_load(&loop->core.stopping))
		return true;
	loop->exhausted = true;
	go_aside(loop, RECOVERY, now);
	return false;
}

/* accept failed, for the lack of descriptors or memory: a listener that stays readable would be reported for ever. */
static void recover(struct cuttle_loop *loop, uint64_t now)
{
	loop->complain = cuttle_accept_complains(&loop->core, now) || loop->complain;
	loop->exhausted = true;
	go_aside(loop, RECOVERY, now);
}

/* Accepts one connection; false where there is none, or none can be had. */
static bool admit(struct cuttle_loop *loop, int listener, uint64_t now)
{
	int fd = cuttle_accept(listener);

	if (fd >= 0)
		welcome(loop, fd, now);
	else if (cuttle_accept_exhausted(errno))
		recover(loop, now);
	return fd >= 0;
}

static void accept_some(struct cuttle_loop *loop, int limit, uint64_t now)
{
	bool long_enough = loop->aside_since && now - loop->aside_since >= PATIENCE;
	int accepted = 0;

	if (!loop->listeners_ready)
		return;
	loop->listeners_ready = false; /* reported again as long as a connection waits */
	for (int index = 0; index < loop->listener_count; index++)
		while (accepted < limit && !loop->exhausted && (long_enough || !stand_aside(loop, now)) &&
		       has_room(loop, now) && admit(loop, loop->listeners[index], now))
			accepted++;
	if (accepted > 0 && long_enough)
		loop->aside_since = 0;
}

void cuttle_loop_turn(struct cuttle_loop *loop, int limit, uint64_t now)
{
	struct cuttle_event events[CUTTLE_EVENTS];

	cuttle_loop_note(loop, events, loop->type->wait(loop->backend, events, CUTTLE_EVENTS, 0));
	loop->polls++;
	cuttle_loop_come_back(loop, now);
	accept_some(loop, limit, now);
	cuttle_loop_step_pending(loop, now);
}

/* After stop, an idle connection may still carry a request that is on its way: one that has never asked has a moment
 * for it, one that was kept has the drain grace. */
static void drain_idle(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now)
{
	enum cuttle_step step;

	cuttle_list_remove(&connection->work);
	connection->readable = true; /* it may have come, and not be reported yet */
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

void cuttle_loop_leave_listeners(struct cuttle_loop *loop, uint64_t now)
{
	cuttle_loop_remove_listeners(loop);
	loop->listeners_ready = true;
	loop->exhausted = false;
	loop->aside_until = 0;
	loop->aside_since = 1; /* long enough: every connection that still waits here comes in */
	accept_some(loop, INT_MAX, now);
	cuttle_stop_listening(loop->listeners, loop->listener_count);
}

void cuttle_loop_shut(struct cuttle_loop *loop, uint64_t now)
{
	drain_all_idle(loop, now);
	loop->shut = true;
}

/* Descriptors of the app's */

int cuttle_loop_watch(struct cuttle_loop *loop, int fd, uint32_t wanted, uintptr_t token)
{
	struct cuttle_registration *entry = registration(loop, fd);
	struct cuttle_watch *watch = entry && entry->kind == CUTTLE_WATCH ? entry->owner : NULL;
	uint64_t id;

	if (fd < 0 || (entry && (entry->kind == CUTTLE_CONNECTION || entry->kind == CUTTLE_LISTENER))) {
		errno = EBADF;
		return -1;
	}
	if (!watch) {
		watch = calloc(1, sizeof *watch);
		id = watch ? enroll(loop, fd, CUTTLE_WATCH, watch) : 0;
		if (!id) {
			free(watch);
			errno = ENOMEM;
			return -1;
		}
		watch->fd = fd;
		cuttle_list_reset(&watch->work);
		cuttle_list_append(&loop->watches, &watch->all);
	} else {
		id = token_of(fd, entry->generation);
	}
	watch->token = token;
	watch->ready = 0;
	cuttle_list_remove(&watch->work);
	if (loop->type->watch(loop->backend, fd, id, wanted) == 0)
		return 0;
	cuttle_loop_unwatch(loop, fd);
	return -1;
}

static void free_watch(struct cuttle_watch *watch)
{
	cuttle_list_remove(&watch->all);
	cuttle_list_remove(&watch->work);
	free(watch);
}

uint32_t cuttle_loop_unwatch(struct cuttle_loop *loop, int fd)
{
	struct cuttle_registration *entry = registration(loop, fd);
	struct cuttle_watch *watch = entry && entry->kind == CUTTLE_WATCH ? entry->owner : NULL;
	int saved = errno;
	uint32_t seen;

	if (!watch)
		return 0;
	seen = watch->ready;
	strike(loop, fd);
	free_watch(watch);
	errno = saved;
	return seen;
}

void cuttle_loop_unwatch_all(struct cuttle_loop *loop)
{
	while (!cuttle_list_empty(&loop->watches)) {
		struct cuttle_watch *watch = CUTTLE_CONTAINER(loop->watches.next, struct cuttle_watch, all);

		if (watch->fd >= 0)
			strike(loop, watch->fd);
		free_watch(watch);
	}
}

uintptr_t cuttle_loop_fired(struct cuttle_loop *loop)
{
	struct cuttle_link *link = cuttle_list_shift(&loop->fired);
	struct cuttle_watch *watch = link ? CUTTLE_CONTAINER(link, struct cuttle_watch, work) : NULL;
	uintptr_t token = watch ? watch->token : 0;

	if (watch && watch->fd < 0)
		free_watch(watch); /* nobody can unwatch it by its number */
	return token;
}
