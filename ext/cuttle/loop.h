/* The Poller without Ruby: many connections, one back end, and the question who waits.
 *
 * A connection with work is in one of three lists: pending (its descriptor was reported: to be stepped), ready (a
 * complete request: to be taken, first come, first served) or unparsed (octets for a Ruby parser).
 *
 * Who waits. Any number of threads ask for work. The one that has the GVL moves bytes and takes; when there is
 * nothing, it lets go of the GVL and one of them (the waiter) waits in the kernel, while the others are parked on a
 * condition without the GVL. The law, kept whenever a thread leaves with work or gives up waiting:
 *   - work is left over:  a free thread, if there is one, is on its way to the GVL, or stands by (below);
 *   - none is left over:  a free thread, if there is one, waits in the kernel or is on its way to the GVL.
 * "On its way" costs nothing while another thread runs, so under load no request changes threads, and the moment an
 * app blocks, the GVL falls to a thread that goes on with the work. Passing the waiting on needs no GVL.
 *
 * But many an app lets the GVL go for moments (it looks for a file), and each time the one that queues for it is woken up
 * for nothing, or begins a request where another is in its midst. So, where several threads run the app, one may stand by
 * instead: neither in the kernel nor on its way, it looks again and again whether those in the app compute, and goes for the
 * GVL when they wait (and then at once, for a while), or stay long. A thread that comes for work stands by too if others
 * are in the app.
 *
 * The lock guards everything here, and each connection that is not TAKEN. Whoever holds it never waits for the GVL
 * and calls no Ruby. */
#ifndef CUTTLE_LOOP_H
#define CUTTLE_LOOP_H

#include "backend.h"
#include "connection.h"

#include <pthread.h>

#define CUTTLE_EVENTS 128 /* reports taken at once */
#define CUTTLE_TAKERS 8   /* threads whose CPU clocks are remembered */

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
	int fd;
	uint32_t ready;
};

/* A thread that waits, on its own stack. */
struct cuttle_seat {
	struct cuttle_link link; /* in parked */
	pthread_cond_t called;
	bool summoned;    /* to the GVL: there is work */
	bool interrupted; /* by Ruby: a signal, Thread#kill, Timeout */
};

struct cuttle_loop {
	struct cuttle_core core;
	pthread_mutex_t lock;
	const struct cuttle_backend_type *type;
	struct cuttle_backend *backend;
	struct cuttle_registration *registrations; /* by descriptor */
	uint32_t registration_room, generation;
	struct cuttle_link pending, ready, unparsed, watches, fired, parked;
	struct cuttle_seat *waiter; /* in the kernel, standing by, or on its way to the GVL */
	bool waiter_in_kernel;  /* and not told to come back */
	bool standing_by;       /* the waiter leaves the work to a thread in the app, which will soon be back */
	bool shared;            /* several threads may run the app at once */
	bool listeners_ready;   /* some listener was reported */
	bool listeners_away;    /* not registered: every thread is in the app, and another worker should accept */
	bool woken;             /* cuttle_loop_wake was called */
	bool shut;              /* stop was noticed: no listener, no idle connection */
	bool full;              /* the engine wants no connection: they wait in ready, and at the listeners */
	bool forked;            /* this is the copy in a child of the app's: nothing here is ours */
	uint64_t hasty_until;   /* the app waited lately: nobody stands by until then, */
	uint64_t haste;         /* which was so long */
	uint64_t aside_since;   /* when it began to leave connections to workers that have fewer; 0: it doesn't */
	uint64_t aside_until;   /* when its listeners come back, 0: they are not away for that */
	int *listeners;         /* descriptors */
	int listener_count;
	uint32_t parked_count;
	uint32_t busy;          /* connections that are TAKEN */
	clockid_t takers[CUTTLE_TAKERS]; /* CPU clocks of threads that took requests lately; 0: none */
	uint32_t next_taker;
	uint64_t taken;         /* requests that threads took, since the start */
	uint64_t polls;         /* times that reports were collected */
	struct cuttle_io_thread *io_thread;
	struct cuttle_link living; /* in the list of loops that a fork must find in order */
};

/* A loop over listeners (copied; not owned). NULL with errno. */
struct cuttle_loop *cuttle_loop_open(const struct cuttle_backend_type *type, const int *listeners, int count);

/* All of the following are called under the lock. */

/* Collects reports without waiting, accepts at most limit connections, and steps those that are pending. */
void cuttle_loop_turn(struct cuttle_loop *loop, int limit, uint64_t now);

/* Notes reports. */
void cuttle_loop_note(struct cuttle_loop *loop, const struct cuttle_event *events, int count);

/* Steps each connection that is pending now; what they leave for another turn waits for the next call. */
void cuttle_loop_step_pending(struct cuttle_loop *loop, uint64_t now);

/* Puts a connection where its step says; closes it where it says so. */
void cuttle_loop_route(struct cuttle_loop *loop, struct cuttle_connection *connection, enum cuttle_step step);

/* Ends the connections whose deadlines passed. Returns nanoseconds to the next deadline, -1 where there is none. */
int64_t cuttle_loop_expire(struct cuttle_loop *loop, uint64_t now);

/* The listeners leave the back end (they are not closed), or come back. */
void cuttle_loop_remove_listeners(struct cuttle_loop *loop);
void cuttle_loop_restore_listeners(struct cuttle_loop *loop);

/* The listeners come back if they were left to other workers long enough, or there is none any more. Returns nanoseconds until then, or -1. */
int64_t cuttle_loop_come_back(struct cuttle_loop *loop, uint64_t now);

/* After stop, first: accepts what already waits at the listeners (it would be reset otherwise), and leaves them. */
void cuttle_loop_leave_listeners(struct cuttle_loop *loop, uint64_t now);
/* Then, when they are closed: ends idle connections. One that has not asked yet has a moment left to do so. */
void cuttle_loop_shut(struct cuttle_loop *loop, uint64_t now);

/* Takes a connection out of the loop, without closing it. Returns its descriptor. */
int cuttle_loop_release(struct cuttle_loop *loop, struct cuttle_connection *connection);
void cuttle_loop_close(struct cuttle_loop *loop, struct cuttle_connection *connection);

/* Reports fd once to next, as token, when it is ready as wanted. Watching it again changes what is wanted and the
 * token. Returns 0, or -1 with errno. */
int cuttle_loop_watch(struct cuttle_loop *loop, int fd, uint32_t wanted, uintptr_t token);
/* Returns what was seen of it. */
uint32_t cuttle_loop_unwatch(struct cuttle_loop *loop, int fd);

/* Keeps the law above, for a thread that leaves the free ones or has made work. */
void cuttle_loop_pass_on(struct cuttle_loop *loop);

/* Waits, without the GVL, until there may be work, the seat is interrupted, or until (0: for ever; monotonic
 * nanoseconds). The lock is let go meanwhile. */
void cuttle_loop_sit(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until);

/* The calling thread takes a request: who stands by looks whether it computes. */
void cuttle_loop_remember_taker(struct cuttle_loop *loop);

/* Whether a thread that is free may leave work to those who are in the app. */
bool cuttle_loop_may_stand_by(const struct cuttle_loop *loop, uint64_t now);

/* Leaves it to them, as the waiter. Returns whether the seat's thread is to go to the GVL; else there is no work left, or the
 * seat is not the waiter any more. */
bool cuttle_loop_stand_by(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until);

/* The seat's thread has the GVL again. */
void cuttle_loop_stand_up(struct cuttle_loop *loop, struct cuttle_seat *seat);

/* Ruby wants the seat's thread for something else. */
void cuttle_loop_interrupt(struct cuttle_loop *loop, struct cuttle_seat *seat);

/* Makes a waiting thread return from next; async-signal-safe, and needs no lock. */
void cuttle_loop_wake(struct cuttle_loop *loop);

/* Accepts a connection from a non-blocking listener: non-blocking, close-on-exec, without delay of small packets.
 * Returns its descriptor, or -1 with errno. */
int cuttle_accept(int listener);

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
	return loop->woken || loop->listeners_ready || (!cuttle_list_empty(&loop->ready) && !loop->full) || !cuttle_list_empty(&loop->pending) ||
	       !cuttle_list_empty(&loop->unparsed) || !cuttle_list_empty(&loop->fired) || cuttle_loop_over(loop);
}

#endif
