/* Decides when another thread would help (--threads auto): a request waits, every thread is in the app, and the GVL is
 * free.
 *
 * The io thread looks, every 5 ms or so while requests wait and every 20 ms while all threads are in the app, so
 * requests pay nothing for it. If requests wait and the process uses less than its share of the cores, the io thread
 * calls the engine's thread that starts others (rb_poller_growth.c). That thread tries to get the GVL. If it gets it
 * at once, the threads in the app wait for something else. If it has to wait, they compute, and one more thread would
 * only wait with them. The share comes from the scoreboard at that moment, because workers come and go.
 *
 * Requests may wait for a moment only, so evidence is kept while none waits, and the use of the cores is that since the
 * last look at which one waited.
 *
 * The times between looks differ: looks at equal times could find a periodic app at the same point, always. They don't
 * depend on when that thread gets the GVL, either. It gets it when the app begins to wait, so a look that came later by
 * a fixed time would always miss a short wait.
 *
 *   no request waits, or a thread is free   nothing
 *   called, and the GVL was free, and       evidence for another thread
 *   fewer threads run than the share is
 *   otherwise, and again at each look       evidence against it. A thread that computes without the GVL and waits for
 *   while it waits for the GVL              a core counts as one that runs.
 *
 * Most apps compute and wait, so one look decides nothing: Wald's sequential test (A. Wald, "Sequential Tests of
 * Statistical Hypotheses", 1945) adds the evidence up until it is enough for a thread, or for a pause.
 *
 * Everything is called under the loop's lock. */
#ifndef CUTTLE_GROWTH_H
#define CUTTLE_GROWTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cuttle_loop;

struct cuttle_growth {
	pthread_cond_t called;
	bool wanted;     /* the engine starts threads as they help */
	bool awaited;    /* its thread waits for a call; if not, it nearly always waits for the GVL */
	bool due;        /* it was called */
	double cores;    /* that all workers together may keep busy */
	uint64_t next;   /* not before then, on the monotonic clock */
	uint64_t pause;  /* once the app is found to compute; it doubles each time */
	uint64_t since;  /* when cpu was read */
	uint64_t cpu;    /* CPU time of the process */
	uint32_t phase;  /* of the time between two looks */
	double evidence; /* above 0 for another thread, below 0 against it: a logarithm of probabilities */
};

void cuttle_growth_reset(struct cuttle_growth *growth);

/* An engine wants to start threads as they help. Called once. */
void cuttle_growth_begin(struct cuttle_loop *loop, uint64_t now);

/* Looks, as the io thread. Returns the nanoseconds after which to look again; -1 if no engine wants it. */
int64_t cuttle_growth_look(struct cuttle_loop *loop, uint64_t now);

/* Judges a call. free: whether the called thread got the GVL at once; running: the process's other threads that run or
 * are ready to, without the io thread. Returns whether to start another thread. */
bool cuttle_growth_judge(struct cuttle_loop *loop, bool free, int running, uint64_t now);

#endif
