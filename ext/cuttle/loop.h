/* The Poller without Ruby: many connections, one back end, and the threads that ask for work (followers.h).
 *
 * A connection with work is in one of three lists: pending (its descriptor was reported: to be stepped), ready (a
 * complete request: to be taken, first come, first served) or unparsed (octets for a Ruby parser).
 *
 * The lock guards everything here, and each connection that is not TAKEN. Whoever holds it never waits for the GVL
 * and calls no Ruby. */
#ifndef CUTTLE_LOOP_H
#define CUTTLE_LOOP_H

#include "connection.h"
#include "followers.h"

#include <pthread.h>

#define CUTTLE_EVENTS 128 /* reports taken at once */
#define CUTTLE_LONG_WAIT (10 * CUTTLE_MILLISECOND) /* of a complete request: its peer may have gone meanwhile */

enum cuttle_registrant { CUTTLE_NOBODY, CUTTLE_CONNECTION, CUTTLE_LISTENER, CUTTLE_WATCH };

/* Whose a descriptor is. A report carries descriptor and generation, so one that comes late names nobody. */
struct cuttle_registration {
	void *owner;
	uint32_t generation;
	enum cuttle_registrant kind;
};

/* A descriptor of the app's that a fiber waits for. */
struct cuttle_watch {
	struct cuttle_link all, work;
	uintptr_t token; /* the Ruby object that next returns */
	int fd;      /* -1: it was closed, and its number is another's now */
	uint32_t ready;
};

/* What a thread that asks for work finds where no request is complete. */
struct cuttle_found {
	uintptr_t token; /* of a watched descriptor, 0: none */
	bool over, woken, unparsed, complain;
	int spool;       /* what cuttle_spool_complaint said */
};

struct cuttle_loop {
	struct cuttle_core core;
	pthread_mutex_t lock;
	const struct cuttle_backend_type *type;
	struct cuttle_backend *backend;
	struct cuttle_registration *registrations; /* by descriptor */
	uint32_t registration_room, generation;
	struct cuttle_link pending, ready, unparsed, watches, fired;
	struct cuttle_followers followers;
	bool listeners_ready;   /* some listener was reported */
	bool listeners_away;    /* not registered: every thread is in the app, and another worker should accept */
	bool shut;              /* stop was noticed: no listener, no idle connection */
	bool full;              /* the engine takes no request: they wait in ready, and connections at the listeners */
	bool sheds;             /* requests that too many wait before, or too long, are refused: so all are accepted */
	int64_t vacancies;      /* requests that the engine may take at once now; -1: as many as threads are free */
	uint32_t round;         /* ready connections to hand out before the next look for others, */
	uint32_t batch;         /* of as many that the last look found */
	bool exhausted;         /* no descriptor or memory is left for a connection, or there are as many as may be */
	bool backlogged;        /* connections may have waited at the listeners for a while */
	bool complain;          /* that began for lack of descriptors or memory, and nobody has been told */
	uint64_t aside_since;   /* when it began to leave connections to workers that have fewer; 0: it doesn't */
	uint64_t aside_until;   /* when its listeners come back, 0: they are not away for that */
	bool aside_for_any;     /* whom they are left to: any worker that is free, else a free one that has fewer */
	uint64_t crowded_since; /* no other worker was seen free since, */
	uint64_t crowd_seen;    /* at the last look */
	uint64_t refused_at;    /* when a request was refused last; 0: never */
	int *listeners;         /* descriptors */
	int listener_count;
	uint32_t busy;          /* connections that are TAKEN */
	uint64_t polls;         /* times that reports were collected by threads that ask for work, */
	uint64_t looked;        /* and when that was last */
	struct cuttle_io_thread *io_thread;
	pthread_cond_t stuck;   /* a request is, that nobody has been told of */
};

/* A loop over listeners (copied; not owned). NULL with errno. */
struct cuttle_loop *cuttle_loop_open(const struct cuttle_backend_type *type, const int *listeners, int count);

/* All of the following are called under the lock. */

/* Takes the next exchange with a complete request for the calling thread, which has the GVL; without one returns NULL,
 * and notes what else there is. room: requests that the engine can take, -1: as many as it has threads. */
struct cuttle_exchange *cuttle_loop_take(struct cuttle_loop *loop, int64_t room, struct cuttle_found *found,
					 uint64_t now);

/* Whether the calling thread, which comes for work, may leave it to those who are in the app. Not under the lock. */
bool cuttle_loop_may_leave_work(struct cuttle_loop *loop);

/* Collects reports without waiting, accepts at most limit connections, and steps those that are pending. */
void cuttle_loop_turn(struct cuttle_loop *loop, int limit, uint64_t now);

/* Accepts at most limit connections of those that were reported. A loop that sheds goes on beyond the limit where no
 * other worker has a free thread. */
void cuttle_loop_accept(struct cuttle_loop *loop, int limit, uint64_t now);

/* Whether the listeners belong into the back end as far as the engine goes. */
static inline bool cuttle_loop_is_open(const struct cuttle_loop *loop)
{
	return !loop->full || loop->sheds;
}

/* Notes reports. */
void cuttle_loop_note(struct cuttle_loop *loop, const struct cuttle_event *events, int count);

/* Steps each connection that is pending now; what they leave for another turn waits for the next call. */
void cuttle_loop_step_pending(struct cuttle_loop *loop, uint64_t now);

/* For the spooler, not under the lock: connections that waited for the disk go on. The context is the loop. */
void cuttle_loop_note_spooled(void *context);

/* The first of ready, pending or unparsed, which it is in no more; NULL without one. */
static inline struct cuttle_connection *cuttle_loop_shift(struct cuttle_link *list)
{
	struct cuttle_link *link = cuttle_list_shift(list);

	return link ? CUTTLE_CONTAINER(link, struct cuttle_connection, work) : NULL;
}

/* Puts a connection where its step says; closes it where it says so. */
void cuttle_loop_route(struct cuttle_loop *loop, struct cuttle_connection *connection, enum cuttle_step step);

/* Ends the connections whose deadlines passed. Returns nanoseconds to the next deadline, -1 where there is none. */
int64_t cuttle_loop_expire(struct cuttle_loop *loop, uint64_t now);

/* The listeners leave the back end (they are not closed), or come back. */
void cuttle_loop_remove_listeners(struct cuttle_loop *loop);
void cuttle_loop_restore_listeners(struct cuttle_loop *loop);

/* The listeners come back if they were left to other workers long enough, or no other worker is free any more, or if
 * there is room for connections again. Returns nanoseconds until then, or -1. */
int64_t cuttle_loop_come_back(struct cuttle_loop *loop, uint64_t now);

/* After stop, first: accepts what already waits at the listeners (it would be reset otherwise), and leaves them. */
void cuttle_loop_leave_listeners(struct cuttle_loop *loop, uint64_t now);
/* Then, when they are closed: ends idle connections. One that has not asked yet has a moment left to do so. */
void cuttle_loop_shut(struct cuttle_loop *loop, uint64_t now);

/* The thread that took a connection is done with its exchange: the connection goes on, or ends where the response is
 * not complete. */
void cuttle_loop_finish(struct cuttle_loop *loop, struct cuttle_connection *connection, bool complete, uint64_t now);

/* Takes a connection out of the loop and frees it; the first without closing its descriptor, which it returns (-1 where
 * the transport has none to give). */
int cuttle_loop_release(struct cuttle_loop *loop, struct cuttle_connection *connection);
void cuttle_loop_close(struct cuttle_loop *loop, struct cuttle_connection *connection);
/* Closes a READY connection whose peer would read nothing: its request never reaches the app. */
void cuttle_loop_drop(struct cuttle_loop *loop, struct cuttle_connection *connection);

/* Refuses the requests that came last, where more wait than may (max_queue). spare of those who wait need not, for
 * there are threads for them. Tells the other workers whether there is room. */
void cuttle_loop_shed(struct cuttle_loop *loop, uint64_t spare, uint64_t now);
/* Refuses those that were complete at a time. */
void cuttle_loop_refuse_since(struct cuttle_loop *loop, uint64_t time, uint64_t now);
/* Refuses a READY connection. */
void cuttle_loop_refuse(struct cuttle_loop *loop, struct cuttle_connection *connection, uint64_t now);

/* A TAKEN connection whose request is stuck in the app, and that was not returned before; NULL without one. */
struct cuttle_connection *cuttle_loop_tell_stuck(struct cuttle_loop *loop);

/* Reports fd once to next, as token, when it is ready as wanted. Watching it again changes what is wanted and the
 * token. Returns 0, or -1 with errno: EBADF for a descriptor that is not the app's. */
int cuttle_loop_watch(struct cuttle_loop *loop, int fd, uint32_t wanted, uintptr_t token);
/* Returns what was seen of it; 0 where it is not watched. */
uint32_t cuttle_loop_unwatch(struct cuttle_loop *loop, int fd);
void cuttle_loop_unwatch_all(struct cuttle_loop *loop);
/* The token of a descriptor that was seen ready since it was watched last, 0 without one. */
uintptr_t cuttle_loop_fired(struct cuttle_loop *loop);

/* Accepts a connection from a non-blocking listener: non-blocking, close-on-exec, without delay of small packets.
 * Returns its descriptor, or -1 with errno. */
int cuttle_accept(int listener);

/* Whether an errno of accept means that the process or the system has no room for a connection now. */
bool cuttle_accept_exhausted(int error);

/* accept failed so. Returns whether that is news: the failures of a shortage, between which some connections are
 * accepted as others end, are told once. */
bool cuttle_accept_complains(struct cuttle_core *core, uint64_t now);

/* Ends listening at once, for what connects between the last accept and the end is reset. The descriptors stay valid
 * (as /dev/null), so that Ruby, whose they are, can close them in its own time. */
void cuttle_stop_listening(const int *listeners, int count);

/* Stopped, and every connection has ended. */
static inline bool cuttle_loop_over(const struct cuttle_loop *loop)
{
	return loop->shut && loop->core.open == 0;
}

static inline bool cuttle_loop_has_work(const struct cuttle_loop *loop)
{
	return atomic_load(&loop->followers.woken) || loop->listeners_ready ||
	       (!cuttle_list_empty(&loop->ready) && !loop->full) || !cuttle_list_empty(&loop->pending) ||
	       !cuttle_list_empty(&loop->unparsed) || !cuttle_list_empty(&loop->fired) || cuttle_loop_over(loop);
}

#endif
