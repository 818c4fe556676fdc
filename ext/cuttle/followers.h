/* Which thread waits for work: the leader/followers pattern.
 *
 * Any number of threads ask a loop for work. The thread that has the GVL moves bytes and takes requests. When there are
 * none, it releases the GVL. One of the free threads, the leader, waits in the kernel. The others, the followers, are
 * parked on a condition without the GVL. The law holds whenever a thread leaves with work or stops waiting:
 *   - work is left over:  a free thread, if there is one, is on its way to the GVL, or stands by (below);
 *   - none is left over:  a free thread, if there is one, waits in the kernel or is on its way to the GVL.
 * Being on its way costs nothing while another thread runs, so under load no request changes threads. The moment an app
 * blocks, the GVL falls to a thread that continues the work. A follower becomes the leader without the GVL.
 *
 * A CPU-bound app still releases the GVL briefly and often, for example to look for a file. Each time, the thread that
 * queues for the GVL would wake up for nothing or begin a request in the middle of another one. So, if several threads
 * run the app, the leader may stand by instead: it is neither in the kernel nor on its way, and checks again and again
 * whether the process computes. It goes for the GVL when the process waits, when no thread has come for a request for
 * some time, or when requests are short and hardly release the GVL. After the first and the last, no thread stands by
 * for a while. A thread that comes for work also stands by if others are in the app. (followers_standby.c)
 *
 * The law has one exception: the loop may be unled for a moment. A thread that leaves with a request still has the GVL.
 * As long as it keeps it, no other thread can take work, and often it is back before it has released it. To call a
 * follower would cost two switches of threads for nothing. So the thread leaves the followers parked: there is no
 * leader, and there may be work. This ends in one of three ways (followers_unled.c):
 *   - A thread asks for work. It takes it, or waits as the leader. The loop is no longer unled then, so no follower is
 *     called when this thread releases the GVL to wait.
 *   - A thread releases the GVL. Ruby reports each release before another thread gets the GVL, and the law is restored
 *     then. The reason doesn't matter: a wait, the end of a time slice, a thread that was killed, another loop's next.
 *   - The thread is still in the same request when the io thread looks, 5 to 10 ms later. The io thread restores the
 *     law.
 * Until then everything else waits: connections, octets, deadlines, wake, stop, what the spooler or another worker
 * brings. Most of that needs the GVL and would wait anyway; deadlines are up to 10 ms late. A parked thread that is
 * interrupted or out of time leaves as usual.
 *
 * A process has one GVL, so at most one of its loops is unled. (A release in another ractor ends that early, which is
 * harmless.) Never unled are: a loop without an io thread; one that sheds, because it measures how long requests wait;
 * loops of ractors; and any loop before Ruby 3.3, which doesn't report all releases. When the law had to be restored,
 * the app waits or takes long, so the loop is not unled again for a while.
 *
 * Everything here is called under the loop's lock and needs no GVL, unless stated otherwise. */
#ifndef CUTTLE_FOLLOWERS_H
#define CUTTLE_FOLLOWERS_H

#include "clock.h"
#include "list.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cuttle_loop;

/* A waiting thread; it lives on that thread's stack. */
struct cuttle_follower {
	struct cuttle_link link; /* in parked */
	pthread_cond_t called;
	bool summoned;    /* to the GVL, because there is work */
	bool interrupted; /* by Ruby: a signal, Thread#kill, Timeout */
};

/* What threads that stood by have seen since short requests were last judged: time in nanoseconds, requests, releases
 * of the GVL in the app. */
struct cuttle_sample {
	uint64_t wall, cpu, requests, releases;
};

struct cuttle_followers {
	struct cuttle_link parked;
	uint32_t parked_count;
	struct cuttle_follower *leader; /* in the kernel, standing by, or on its way to the GVL */
	bool leader_in_kernel;          /* even if it was called back, until it has left it */
	uint64_t sleeps_until;          /* the end of its wait in the kernel, unless it is woken */
	bool standing_by;               /* the leader leaves the work to a thread in the app that will soon be back */
	bool shared;                    /* several threads may run the app at once */
	bool steady;                    /* no thread stands by */
	atomic_bool woken;              /* cuttle_followers_wake was called */
	uint64_t hasty_until;           /* no thread stands by until then, because it did not pay lately */
	uint64_t haste;                 /* how long that lasts */
	uint64_t computed;              /* how long the app computed while a leader stood by, since it last waited */
	struct cuttle_sample sample;
	uint64_t stood_by;     /* times that the leader stood by so far */
	uint64_t taken;        /* requests that threads took so far */
	uint64_t waits;        /* times that a thread waited for a request, without the GVL */
	bool told_of_releases; /* Ruby reports each release of the GVL */
	bool may_be_unled;     /* it does, and the loop sheds no requests */
	uint64_t led_until;    /* not before then */
};

void cuttle_followers_reset(struct cuttle_followers *followers);

/* Restores the law after a thread stopped being free or created work. Does nothing while the loop is unled. */
void cuttle_followers_pass_on(struct cuttle_loop *loop);

/* Waits without the GVL until there may be work, the follower is interrupted, or until has come (nanoseconds on the
 * monotonic clock; 0: no limit). Releases the lock meanwhile. */
void cuttle_followers_wait(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until);
/* Ends the follower's wait, once its thread has the GVL. */
void cuttle_followers_leave(struct cuttle_loop *loop, struct cuttle_follower *follower);
/* Calls the follower back from its wait. */
void cuttle_followers_interrupt(struct cuttle_loop *loop, struct cuttle_follower *follower);
/* Makes the thread in the kernel recompute its timeout, as it may not know this deadline. */
void cuttle_followers_hurry(struct cuttle_loop *loop, uint64_t deadline);
/* Calls a waiting thread back. Async-signal-safe; called without the lock. */
void cuttle_followers_wake(struct cuttle_loop *loop);

/* Returns the number of free threads. */
static inline uint32_t cuttle_followers_free(const struct cuttle_followers *followers)
{
	return followers->parked_count + (followers->leader ? 1 : 0);
}

/* Whether the leader is in the kernel, and will stay there until something is reported. */
static inline bool cuttle_followers_leader_waits(const struct cuttle_followers *followers)
{
	return followers->leader_in_kernel && !followers->leader->summoned;
}

/* Whether a free thread may leave work to the threads in the app. */
bool cuttle_followers_may_stand_by(const struct cuttle_loop *loop, uint64_t now);

/* Stands by as the leader. Returns true if its thread must go for the GVL; false if no work is left or the follower is
 * no longer the leader. */
bool cuttle_followers_stand_by(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until);

/* The calling thread, which has the GVL, leaves with a request. The loop becomes unled if it may be, or the law is
 * restored. */
void cuttle_followers_depart(struct cuttle_loop *loop, uint64_t now);
/* Whether the loop is unled. */
bool cuttle_followers_unled(const struct cuttle_loop *loop);
/* Ends that, because the calling thread takes work or leads. Returns whether the loop was unled. */
bool cuttle_followers_return(struct cuttle_loop *loop);
/* Ends that, and restores the law. */
void cuttle_followers_lead(struct cuttle_loop *loop, uint64_t now);
/* Counts a release of the GVL, and restores the law of the loop that is unled, if there is one. The calling thread is
 * about to release the GVL. Called without the lock, at each release. */
void cuttle_followers_note_release(void);
/* Returns the number of releases that were noted in this process. Needs no lock. */
uint64_t cuttle_followers_releases(void);

#endif
