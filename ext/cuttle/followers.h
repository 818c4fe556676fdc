/* Which thread waits for work: the leader/followers pattern.
 *
 * Any number of threads ask a loop for work. The one that has the GVL moves bytes and takes requests; when there are
 * none, it releases the GVL. One of the free threads (the leader) waits in the kernel; the others (the followers) are
 * parked on a condition without the GVL. The law, kept whenever a thread leaves with work or gives up waiting:
 *   - work is left over:  a free thread, if there is one, is on its way to the GVL, or stands by (below);
 *   - none is left over:  a free thread, if there is one, waits in the kernel or is on its way to the GVL.
 * "On its way" costs nothing while another thread runs, so under load no request changes threads. The moment an app
 * blocks, the GVL falls to a thread that goes on with the work. A follower becomes the leader without the GVL.
 *
 * A CPU-bound app still releases the GVL briefly and often (it looks for a file). Each time the thread that queues for
 * the GVL would wake up for nothing, or begin a request in the middle of another one. So, where several threads run
 * the app, the leader may stand by instead: neither in the kernel nor on its way, it looks again and again whether the
 * threads in the app compute. It goes for the GVL when they wait (and then at once, for a while), or stay long. A
 * thread that comes for work stands by too if others are in the app.
 *
 * Everything here is called under the loop's lock, and needs no GVL. */
#ifndef CUTTLE_FOLLOWERS_H
#define CUTTLE_FOLLOWERS_H

#include "clock.h"
#include "list.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CUTTLE_TAKERS 8 /* threads whose CPU clocks are remembered */

struct cuttle_loop;

/* A thread that waits, on its own stack. */
struct cuttle_follower {
	struct cuttle_link link; /* in parked */
	pthread_cond_t called;
	bool summoned;    /* to the GVL: there is work */
	bool interrupted; /* by Ruby: a signal, Thread#kill, Timeout */
};

struct cuttle_followers {
	struct cuttle_link parked;
	uint32_t parked_count;
	struct cuttle_follower *leader; /* in the kernel, standing by, or on its way to the GVL */
	bool leader_in_kernel;  /* and not called back, */
	uint64_t sleeps_until;  /* for so long at most */
	bool standing_by;       /* the leader leaves the work to a thread in the app, which will soon be back */
	bool shared;            /* several threads may run the app at once */
	atomic_bool woken;      /* cuttle_followers_wake was called */
	uint64_t hasty_until;   /* the app waited lately: nobody stands by until then, */
	uint64_t haste;         /* which was so long */
	uint64_t stood_by;      /* times that the leader stood by, since the start */
	clockid_t takers[CUTTLE_TAKERS]; /* CPU clocks of threads that took requests lately; 0: none */
	uint32_t next_taker;
	uint64_t taken;         /* requests that threads took, since the start */
};

void cuttle_followers_reset(struct cuttle_followers *followers);

/* Keeps the law, for a thread that leaves the free ones or has made work. */
void cuttle_followers_pass_on(struct cuttle_loop *loop);

/* Waits, without the GVL, until there may be work, the follower is interrupted, or until (0: for ever; nanoseconds on
 * the monotonic clock). The lock is released meanwhile. */
void cuttle_followers_wait(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until);
/* The thread that waited has the GVL. */
void cuttle_followers_leave(struct cuttle_loop *loop, struct cuttle_follower *follower);
/* Calls it back from its wait. */
void cuttle_followers_interrupt(struct cuttle_loop *loop, struct cuttle_follower *follower);
/* A deadline was set that who waits in the kernel may not know: makes it look at the time again. */
void cuttle_followers_hurry(struct cuttle_loop *loop, uint64_t deadline);
/* Calls back a thread that waits. Async-signal-safe, without the lock. */
void cuttle_followers_wake(struct cuttle_loop *loop);

/* Threads that are free. */
static inline uint32_t cuttle_followers_free(const struct cuttle_followers *followers)
{
	return followers->parked_count + (followers->leader ? 1 : 0);
}

/* The calling thread takes a request: the leader, when it stands by, looks whether this thread computes. */
void cuttle_followers_note_taker(struct cuttle_followers *followers);

/* Whether a free thread may leave work to the threads that are in the app. */
bool cuttle_followers_may_stand_by(const struct cuttle_loop *loop, uint64_t now);

/* Leaves it to them, as the leader. Returns whether its thread is to go to the GVL; else there is no work left, or the
 * follower is not the leader any more. */
bool cuttle_followers_stand_by(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until);

#endif
