/* The Poller without Ruby: many connections, one back end, and the threads that ask for work (followers.h).
 *
 * A connection with work is in one of three lists: pending (its descriptor was reported and it must be stepped), ready
 * (it has a complete request, taken first come, first served) or unparsed (it has octets for a Ruby parser).
 *
 * The lock guards everything here and each connection that is not TAKEN. A thread that holds it never waits for the GVL
 * and calls no Ruby. */
#ifndef CUTTLE_LOOP_H
#define CUTTLE_LOOP_H

#include "connection.h"
#include "followers.h"
#include "growth.h"

#include <pthread.h>
#include <sys/types.h>

#define CUTTLE_EVENTS 128                          /* most reports collected at once */
#define CUTTLE_LONG_WAIT (10 * CUTTLE_MILLISECOND) /* for a complete request; its peer may have gone meanwhile */

enum cuttle_registrant { CUTTLE_NOBODY, CUTTLE_CONNECTION, CUTTLE_LISTENER, CUTTLE_WATCH, CUTTLE_RELAY };

/* Who owns a descriptor. A report carries descriptor and generation, so a late report matches no owner. */
struct cuttle_registration {
	void *owner;
	uint32_t generation;
	enum cuttle_registrant kind;
};

/* A listener. Its inode tells it from another socket that has its number, after Ruby has closed it. */
struct cuttle_listener {
	int fd;
	ino_t inode;
};

/* A descriptor of the app that a fiber waits for. */
struct cuttle_watch {
	struct cuttle_link all, work;
	uintptr_t token; /* the Ruby object that next returns */
	int fd;          /* -1: it was closed, and its number was reused */
	uint32_t ready;
};

/* What a thread that asks for work finds when no request is complete. */
struct cuttle_found {
	uintptr_t token; /* of a watched descriptor; 0: none */
	bool over, woken, unparsed, complain;
	bool unproxied; /* the result of cuttle_core_tells_unproxied */
	int spool;      /* the result of cuttle_spool_complaint */
};

struct cuttle_loop {
	struct cuttle_core core;
	pthread_mutex_t lock;
	const struct cuttle_backend_type *type;
	struct cuttle_backend *backend;
	struct cuttle_registration *registrations; /* by descriptor */
	uint32_t registration_room, generation;
	struct cuttle_link pending, ready, unparsed, watches, fired;
	uint32_t unwatched; /* number of connections that the back end does not watch yet */
	struct cuttle_followers followers;
	struct cuttle_growth growth;
	bool listeners_ready;   /* a listener was reported */
	bool listeners_away;    /* not registered: for full, aside_until, the io thread, or the stop */
	bool shut;              /* stop was handled: no listener, no idle connection */
	bool full;              /* the engine takes no more: requests wait in ready, connections in the backlog */
	bool sheds;             /* excess requests (max_queue, queue_timeout) are refused, not left in the backlog */
	int64_t vacancies;      /* requests that the engine can take now; -1: as many as threads are free */
	uint32_t round;         /* ready connections to hand out before the next look */
	uint32_t batch;         /* ready connections that the last look found */
	bool others_next;       /* a request was handed out last: next comes what else there is */
	bool backlogged;        /* connections may have waited in the backlog for a while */
	bool complain;          /* a shortage of descriptors or memory began and has not been reported */
	uint64_t aside_until;   /* when the listeners come back; 0: they are not away for that */
	bool exhausted;         /* away for room: no descriptor or memory is left, or max_connections is reached */
	bool aside_for_any;     /* left to any free worker; otherwise to a free one with fewer connections */
	uint64_t aside_since;   /* since when it leaves connections to other workers; 0: it doesn't */
	uint64_t crowded_since; /* since when no other worker was seen free */
	uint64_t crowd_seen;    /* the last time that it checked for one */
	uint64_t refused_at;    /* when a request was last refused; 0: never */
	struct cuttle_listener *listeners;
	int listener_count;
	bool gives;           /* requests that have to wait go to idle workers */
	bool receives;        /* and theirs come here, until the stop */
	bool relay_watched;   /* by the back end; not after a shortage of descriptors */
	bool relay_ready;     /* a connection from another worker was reported */
	uint64_t relay_again; /* when it looks for an idle worker again */
	uint64_t relayed;     /* requests given to other workers */
	uint64_t service;     /* nanoseconds that a request is TAKEN: a moving average */
	uint32_t busy;        /* number of TAKEN connections */
	uint64_t looked;      /* when a thread that asks for work last collected reports */
	bool resting;         /* a thread keeps the GVL, to collect garbage while there is no request */
	struct cuttle_io_thread *io_thread;
	pthread_cond_t stuck; /* signalled when a request is stuck that has not been reported */
};

/* Opens a loop over listeners, whose descriptors it copies and doesn't own. Returns NULL with errno. */
struct cuttle_loop *cuttle_loop_open(const struct cuttle_backend_type *type, const int *listeners, int count);

/* Adds what the loop with this core has counted. Call it without the lock. */
void cuttle_loop_count(struct cuttle_core *core, struct cuttle_counts *counts);

/* Call all of the following under the lock, unless stated otherwise. */

/* Takes the next exchange with a complete request for the calling thread, which has the GVL. Returns NULL if there is
 * none, or if it is the turn of something else, and sets *found to what else there is. room: how many requests the
 * engine can take; -1: as many as it has threads. */
struct cuttle_exchange *cuttle_loop_take(struct cuttle_loop *loop, int64_t room, struct cuttle_found *found,
					 uint64_t now);

/* Requests that will be taken without waiting for one in the app to end. They may wait beyond max_queue. */
static inline uint64_t cuttle_loop_spare(const struct cuttle_loop *loop)
{
	return loop->vacancies >= 0 ? (uint64_t)loop->vacancies
				    : cuttle_followers_free(&loop->followers) + (loop->resting ? 1 : 0);
}

/* Requests in the app, and complete ones that wait. */
static inline uint32_t cuttle_loop_load(const struct cuttle_loop *loop)
{
	return loop->busy + loop->core.waiting;
}

/* Shows the other workers whether this one is free. Call it when what it depends on has changed. */
static inline void cuttle_loop_show_free(const struct cuttle_loop *loop)
{
	cuttle_scoreboard_free(loop->core.place, !loop->full && !loop->shut && !loop->resting);
}

/* Begins a time in which the calling thread, which has found no work, keeps the GVL. Requests that come meanwhile go to
 * other workers. Returns false, and begins nothing, while there is a request, at the end, and if no other worker has a
 * free thread, unless this is the only one. */
bool cuttle_loop_begin_rest(struct cuttle_loop *loop);
void cuttle_loop_end_rest(struct cuttle_loop *loop);

/* Whether the calling thread, which asks for work, may leave it to threads in the app. Call it without the lock. */
bool cuttle_loop_may_leave_work(struct cuttle_loop *loop);

/* Collects reports without waiting, accepts at most limit connections, and steps the pending ones. */
void cuttle_loop_turn(struct cuttle_loop *loop, int limit, uint64_t now);

/* Accepts at most limit connections from listeners that were reported. A loop that sheds exceeds the limit if no other
 * worker has a free thread. */
void cuttle_loop_accept(struct cuttle_loop *loop, int limit, uint64_t now);

/* Lets other workers give connections to this one, and this one to others, if its place has a relay. Call it once. */
void cuttle_loop_open_relay(struct cuttle_loop *loop);
/* Takes the connections that other workers gave to this one, if there are any. */
void cuttle_loop_receive(struct cuttle_loop *loop, uint64_t now);
/* Gives requests that wait to workers with less to do. Returns the nanoseconds until it should be called again; -1: not
 * before another request waits. */
int64_t cuttle_loop_relay(struct cuttle_loop *loop, uint64_t now);

/* Whether the engine's state allows the listeners in the back end. */
static inline bool cuttle_loop_is_open(const struct cuttle_loop *loop)
{
	return !loop->full || loop->sheds;
}

/* Notes what the back end reported. */
void cuttle_loop_note(struct cuttle_loop *loop, const struct cuttle_event *events, int count);

/* Steps each connection that is pending now. Those that need another turn wait for the next call. */
void cuttle_loop_step_pending(struct cuttle_loop *loop, uint64_t now);

/* Continues connections that waited for the disk. The spooler calls it without the lock; context is the loop. */
void cuttle_loop_note_spooled(void *context);

/* Removes and returns the first connection of ready, pending or unparsed; NULL if the list is empty. */
static inline struct cuttle_connection *cuttle_loop_shift(struct cuttle_link *list)
{
	struct cuttle_link *link = cuttle_list_shift(list);

	return link ? CUTTLE_CONTAINER(link, struct cuttle_connection, work) : NULL;
}

/* Has the back end watch all connections. Call it before a thread waits in the kernel: a connection whose first request
 * comes at once is otherwise watched only when it waits for something, so that one that closes after it never is. */
void cuttle_loop_watch_all(struct cuttle_loop *loop);

/* Puts a connection where its step says, or closes it. */
void cuttle_loop_route(struct cuttle_loop *loop, struct cuttle_connection *connection, enum cuttle_step step);

/* Ends the connections whose deadlines have passed. Returns nanoseconds to the next deadline, -1 if there is none. */
int64_t cuttle_loop_expire(struct cuttle_loop *loop, uint64_t now);
/* The same, for a thread that waits in the kernel next. During responses it is at most a second, because a thread that
 * sends or ends one sets deadlines without the knowledge of the thread that waits. */
int64_t cuttle_loop_keep_deadlines(struct cuttle_loop *loop, uint64_t now);

/* Whether connections wait that this process could accept. Other processes may accept them first. */
bool cuttle_loop_has_backlog(const struct cuttle_loop *loop);

/* Takes the listeners out of the back end without closing them. */
void cuttle_loop_remove_listeners(struct cuttle_loop *loop);
/* Puts them back. Does nothing while aside_until is set, because cuttle_loop_come_back does it then: the back end would
 * report listeners again and again from which no thread may accept. */
void cuttle_loop_restore_listeners(struct cuttle_loop *loop);

/* Puts the listeners back if they were left to other workers long enough, if no other worker is free any more, or if
 * there is room for connections again. Returns the nanoseconds until then, or -1. */
int64_t cuttle_loop_come_back(struct cuttle_loop *loop, uint64_t now);

/* The first step after stop: leaves the listeners. If they close with it, it first accepts what waits in the backlog,
 * which would be reset otherwise. */
void cuttle_loop_leave_listeners(struct cuttle_loop *loop, uint64_t now);
/* The second step, once they are closed: ends idle connections. A connection without a request so far gets a moment to
 * send one. */
void cuttle_loop_shut(struct cuttle_loop *loop, uint64_t now);

/* Ends the exchange of a connection that the calling thread took. The connection goes on if the response is complete,
 * and closes if not. */
void cuttle_loop_finish(struct cuttle_loop *loop, struct cuttle_connection *connection, bool complete, uint64_t now);

/* Takes a connection out of the loop and frees it. cuttle_loop_release returns its descriptor instead of closing it (-1
 * if the transport has none to give). */
int cuttle_loop_release(struct cuttle_loop *loop, struct cuttle_connection *connection);
void cuttle_loop_close(struct cuttle_loop *loop, struct cuttle_connection *connection);
/* Closes a READY connection whose peer would read nothing. Its request never reaches the app. */
void cuttle_loop_drop(struct cuttle_loop *loop, struct cuttle_connection *connection);

/* Refuses the newest requests beyond max_queue; spare more may wait, because there are threads for them. Shows the
 * other workers whether there is room. */
void cuttle_loop_shed(struct cuttle_loop *loop, uint64_t spare, uint64_t now);
/* Refuses the requests that were complete by the given time. */
void cuttle_loop_refuse_since(struct cuttle_loop *loop, uint64_t time, uint64_t now);
/* Refuses a READY connection. */
void cuttle_loop_refuse(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now);

/* Returns a TAKEN connection whose request is stuck in the app, each one once; NULL if there is none. */
struct cuttle_connection *cuttle_loop_tell_stuck(struct cuttle_loop *loop);

/* Makes next return token once when fd is ready for a wanted direction. Watching fd again replaces the directions and
 * the token. Returns 0, or -1 with errno: EBADF for a descriptor that the app doesn't own. */
int cuttle_loop_watch(struct cuttle_loop *loop, int fd, uint32_t wanted, uintptr_t token);
/* Whether fd is watched. It is no longer once a connection has its number. */
bool cuttle_loop_watches(struct cuttle_loop *loop, int fd);
/* Returns the directions that were reported so far; 0 if fd is not watched. */
uint32_t cuttle_loop_unwatch(struct cuttle_loop *loop, int fd);
void cuttle_loop_unwatch_all(struct cuttle_loop *loop);
/* Returns the token of a descriptor that became ready since it was last watched; 0 if there is none. */
uintptr_t cuttle_loop_fired(struct cuttle_loop *loop);

/* Accepts a connection from a non-blocking listener and makes it non-blocking, close-on-exec and TCP_NODELAY. Returns
 * its descriptor and sets its peer, or returns -1 with errno. */
int cuttle_accept(int listener, struct cuttle_peer *peer);

/* Whether an errno of accept means that the process or the system has no room for a connection now. */
bool cuttle_accept_exhausted(int error);

/* Records such a failure of accept. Returns whether to report it: a shortage is reported once, even if connections are
 * accepted in between as others end. */
bool cuttle_accept_complains(struct cuttle_core *core, uint64_t now);

/* The listener with that descriptor. */
struct cuttle_listener cuttle_listener_of(int fd);

/* Ends listening at once, because a connection that arrives between the last accept and the close is reset. The
 * descriptors stay valid (as /dev/null) for Ruby, which owns them, to close. One that Ruby has closed already is left
 * alone, for its number may be another socket's. */
void cuttle_stop_listening(const struct cuttle_listener *listeners, int count);

/* Whether the loop was stopped and every connection has ended. */
static inline bool cuttle_loop_over(const struct cuttle_loop *loop)
{
	return loop->shut && loop->core.open == 0;
}

static inline bool cuttle_loop_has_work(const struct cuttle_loop *loop)
{
	return atomic_load(&loop->followers.woken) || loop->listeners_ready || loop->relay_ready ||
	       (!cuttle_list_empty(&loop->ready) && !loop->full) || !cuttle_list_empty(&loop->pending) ||
	       !cuttle_list_empty(&loop->unparsed) || !cuttle_list_empty(&loop->fired) || cuttle_loop_over(loop);
}

#endif
