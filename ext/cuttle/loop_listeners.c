/* A loop's listeners: accepting, leaving connections to free workers, and waiting for room. */
#include "loop_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE (1 * CUTTLE_MILLISECOND)           /* for another worker to wake up and accept */
#define PATIENCE (3 * CUTTLE_MILLISECOND)        /* with a worker that doesn't */
#define LONG_PATIENCE (250 * CUTTLE_MILLISECOND) /* the same if this worker has no thread for what waits */
#define CROWD 128                                /* connections accepted at once by a loop that sheds */
#define MOMENT (50 * CUTTLE_MILLISECOND)    /* time without a free worker: one that collects garbage only seems busy */
#define BACKLOG_WAIT CUTTLE_MILLISECOND     /* time without a look after which peers in the backlog may have gone */
#define EPISODE (60 * CUTTLE_SECOND)        /* time without a shortage after which the next one is reported */
#define RECOVERY (100 * CUTTLE_MILLISECOND) /* before the next accept after a shortage */
#define LONG_AGO 1                          /* a time that has passed */

void cuttle_loop_remove_listeners(struct cuttle_loop *loop)
{
	if (loop->listeners_away)
		return;
	for (int index = 0; index < loop->listener_count; index++)
		cuttle_loop_strike(loop, loop->listeners[index].fd);
	loop->listeners_away = true;
	loop->listeners_ready = false;
}

/* Takes the listeners away for at most the given nanoseconds. */
static void go_aside(struct cuttle_loop *loop, uint64_t nanoseconds, uint64_t now)
{
	cuttle_loop_remove_listeners(loop);
	loop->aside_until = now + nanoseconds;
	if (cuttle_followers_leader_waits(&loop->followers))
		loop->type->wake(loop->backend); /* its timeout must end then */
}

/* There is no room for another connection, so the loop accepts none for a while, or until one ends. The listeners leave
 * the back end, which would report a readable listener again and again. */
static void wait_for_room(struct cuttle_loop *loop, uint64_t now)
{
	loop->exhausted = true;
	go_aside(loop, RECOVERY, now);
}

void cuttle_loop_run_short(struct cuttle_loop *loop, uint64_t now)
{
	loop->complain = cuttle_accept_complains(&loop->core, now) || loop->complain;
	cuttle_loop_unwatch_relay(loop);
	wait_for_room(loop, now);
}

void cuttle_loop_note_room(struct cuttle_loop *loop)
{
	if (loop->exhausted)
		loop->aside_until = LONG_AGO;
}

void cuttle_loop_restore_listeners(struct cuttle_loop *loop)
{
	if (!loop->listeners_away || loop->aside_until || atomic_load(&loop->core.stopping))
		return;
	loop->listeners_away = false;
	loop->backlogged = true; /* connections may have arrived meanwhile */
	for (int index = 0; index < loop->listener_count; index++) {
		uint64_t token = cuttle_loop_enroll(loop, loop->listeners[index].fd, CUTTLE_LISTENER, loop);

		if (token && loop->type->add_listener(loop->backend, loop->listeners[index].fd, token) == 0)
			continue;
		if (errno == ENOMEM || errno == ENOSPC) { /* it would never be reported */
			wait_for_room(loop, cuttle_now());
			return;
		}
	}
}

/* Whether a connection waits. A call of accept that finds none costs ten times as much: it makes a socket first. */
static bool has_waiting(int listener)
{
	struct pollfd readiness = {.fd = listener, .events = POLLIN};
	int found;

	do
		found = poll(&readiness, 1, 0);
	while (found < 0 && errno == EINTR);
	return found > 0 && (readiness.revents & POLLIN);
}

bool cuttle_loop_has_backlog(const struct cuttle_loop *loop)
{
	if (atomic_load(&loop->core.stopping) || loop->exhausted)
		return false;
	for (int index = 0; index < loop->listener_count; index++)
		if (has_waiting(loop->listeners[index].fd))
			return true;
	return false;
}

static int accept_one(int listener, struct sockaddr_storage *address)
{
	socklen_t size = sizeof *address;
#ifdef HAVE_ACCEPT4
	return accept4(listener, (struct sockaddr *)address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	int fd = accept(listener, (struct sockaddr *)address, &size);

	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	}
	return fd;
#endif
}

int cuttle_accept(int listener, struct cuttle_peer *peer)
{
	struct sockaddr_storage address;
	int fd, one = 1;

	address.ss_family = AF_UNSPEC;
	do
		fd = accept_one(listener, &address);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO));
	if (fd < 0)
		return fd;
	if (address.ss_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	*peer = cuttle_peer_of(&address);
	return fd;
}

bool cuttle_accept_complains(struct cuttle_core *core, uint64_t now)
{
	bool news = !core->shortage || now - core->shortage >= EPISODE;

	core->shortage = now;
	return news;
}

bool cuttle_accept_exhausted(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

struct cuttle_listener cuttle_listener_of(int fd)
{
	struct stat status;

	return (struct cuttle_listener){.fd = fd, .inode = fstat(fd, &status) == 0 ? status.st_ino : 0};
}

static bool is_listening(const struct cuttle_listener *listener)
{
	int listening = 0;
	socklen_t size = sizeof listening;

	return cuttle_listener_of(listener->fd).inode == listener->inode &&
	       getsockopt(listener->fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening;
}

void cuttle_stop_listening(const struct cuttle_listener *listeners, int count)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0)
		return; /* Ruby's close will do */
	for (int index = 0; index < count; index++) {
		if (!is_listening(&listeners[index]))
			continue; /* Ruby has closed it, and its number may be reused */
		dup2(nothing, listeners[index].fd);
		fcntl(listeners[index].fd, F_SETFD, FD_CLOEXEC);
	}
	close(nothing);
}

static void welcome(struct cuttle_loop *loop, const struct cuttle_arrival *arrival, uint64_t now)
{
	struct cuttle_connection *connection = cuttle_connection_open(&loop->core, arrival, now);

	if (!connection)
		return;
	connection->suspect = connection->suspect && loop->backlogged;
	loop->unwatched++;
	if (cuttle_loop_enroll(loop, arrival->fd, CUTTLE_CONNECTION, connection))
		cuttle_list_append(&loop->pending, &connection->work);
	else
		cuttle_loop_close(loop, connection);
}

/* Whether to leave the listeners to another worker: a free one with fewer connections. With any set (this worker has no
 * thread for the waiting requests), any free worker will do, or one that refuses nothing while this one must refuse. A
 * thread between two requests, or in a garbage collection, is free again in a moment. So the answer changes to no only
 * after no worker was free for MOMENT. */
static bool another(struct cuttle_loop *loop, bool any, uint64_t now)
{
	const struct cuttle_scoreboard *scoreboard = loop->core.scoreboard;
	bool found;

	if (!scoreboard)
		return false;
	if (!any)
		return cuttle_scoreboard_another(scoreboard, loop->core.place);
	found = cuttle_scoreboard_any_other(scoreboard, loop->core.place, cuttle_loop_tight(loop, now));
	if (now > loop->crowd_seen + 2 * MOMENT) { /* the last sight is too old to count */
		loop->crowded_since = now;
		loop->aside_since = 0;
	} else if (found) {
		loop->crowded_since = now;
	}
	loop->crowd_seen = now;
	return now < loop->crowded_since + MOMENT;
}

int64_t cuttle_loop_come_back(struct cuttle_loop *loop, uint64_t now)
{
	if (!loop->aside_until)
		return -1;
	if (now < loop->aside_until && (loop->exhausted || another(loop, loop->aside_for_any, now)))
		return (int64_t)(loop->aside_until - now);
	loop->aside_until = 0;
	loop->exhausted = false;
	cuttle_loop_watch_relay(loop, now);
	if (cuttle_loop_is_open(loop))
		cuttle_loop_restore_listeners(loop);
	return loop->aside_until ? (int64_t)RECOVERY : -1;
}

/* Takes the listeners away if another worker should accept the waiting connections (see another), for as long as that
 * worker needs to wake up. Returns whether it did. After stop it never does: the other workers may stop too, and when
 * the last one closes its listeners, the kernel resets the connections that were not accepted. */
static bool stand_aside(struct cuttle_loop *loop, bool any, uint64_t now)
{
	if (atomic_load(&loop->core.stopping) || !another(loop, any, now)) {
		loop->aside_since = 0;
		return false;
	}
	if (!loop->aside_since)
		loop->aside_since = now;
	if (now - loop->aside_since >= (any ? LONG_PATIENCE : PATIENCE))
		return false;
	loop->aside_for_any = any;
	go_aside(loop, ASIDE, now);
	return true;
}

/* Whether there may be another connection. */
static bool has_room(struct cuttle_loop *loop, uint64_t now)
{
	uint64_t most = loop->core.limits.max_connections;

	if (!most || loop->core.open < most || atomic_load(&loop->core.stopping))
		return true;
	wait_for_room(loop, now);
	return false;
}

/* Accepts one connection from the listener of that index. reported: one waits there, unless another worker was faster.
 * Returns false if no connection waits or there is no room for it. */
static bool admit(struct cuttle_loop *loop, int listener, bool reported, uint64_t now)
{
	struct cuttle_arrival arrival = {.fd = -1, .listener = listener};

	errno = EAGAIN;
	if (reported || has_waiting(loop->listeners[listener].fd))
		arrival.fd = cuttle_accept(loop->listeners[listener].fd, &arrival.peer);
	if (arrival.fd >= 0) {
		welcome(loop, &arrival, now);
	} else if (cuttle_accept_exhausted(errno)) {
		cuttle_loop_run_short(loop, now);
	} else {
		loop->backlogged = false;
	}
	return arrival.fd >= 0;
}

void cuttle_loop_accept(struct cuttle_loop *loop, int limit, uint64_t now)
{
	int most = loop->sheds && limit < CROWD ? CROWD : limit, accepted = 0;

	if (!loop->listeners_ready)
		return;
	loop->listeners_ready = false; /* reported again as long as a connection waits */
	loop->backlogged = loop->backlogged || now - loop->looked >= BACKLOG_WAIT;
	for (int index = 0; index < loop->listener_count; index++)
		while (accepted < most && !loop->exhausted && !stand_aside(loop, accepted >= limit, now) &&
		       has_room(loop, now) && admit(loop, index, accepted == 0 && loop->listener_count == 1, now))
			accepted++;
	if (accepted > 0 && loop->aside_since && now - loop->aside_since >= PATIENCE)
		loop->aside_since = 0;
}

void cuttle_loop_leave_listeners(struct cuttle_loop *loop, uint64_t now)
{
	cuttle_loop_remove_listeners(loop);
	loop->listeners_ready = !atomic_load(&loop->core.leave_backlog);
	loop->exhausted = false;
	loop->aside_until = 0;
	cuttle_loop_accept(loop, INT_MAX, now);
	cuttle_loop_close_relay(loop, now);
	cuttle_stop_listening(loop->listeners, loop->listener_count);
	loop->listener_count = 0; /* Ruby closes them, and in a child forked later their numbers may be reused */
}
