/*
 * A run: its plan, its workers, and their end.
 *
 * Law: one thread (Ruby's) creates, starts, waits for and frees a run. Any thread may call run_stop and run_nudge.
 */
#ifndef CUTTLE_LOAD_RUN_H
#define CUTTLE_LOAD_RUN_H

#include "worker.h"

struct run {
	struct plan plan;
	struct worker **workers;
	size_t count;             /* of workers */
	size_t started, finished; /* finished: under the mutex */
	bool nudged;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

void run_prepare(struct run *run); /* call it once, before anything else */

/* Makes the workers of run->plan and starts them. Returns false with errno, and then nothing runs. */
bool run_start(struct run *run);

/* Waits until every worker has ended, or +nanoseconds+ at most. Returns whether all have ended. */
bool run_wait(struct run *run, int64_t nanoseconds);

void run_nudge(struct run *run);  /* makes run_wait return early */
void run_stop(struct run *run);   /* ends the workers immediately, with their figures so far */
void run_finish(struct run *run); /* stops, joins and frees the workers */

#endif
