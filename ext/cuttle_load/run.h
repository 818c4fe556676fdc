/*
 * A run: its plan, its workers, and the end of them.
 *
 * Law: made, started, waited for and freed by one thread (Ruby's); run_stop and run_nudge may be called by any.
 */
#ifndef CUTTLE_LOAD_RUN_H
#define CUTTLE_LOAD_RUN_H

#include "worker.h"

struct run {
	struct plan plan;
	struct worker **workers;
	size_t count; /* of workers */
	size_t started, finished; /* finished: under the mutex */
	bool nudged;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

void run_prepare(struct run *run); /* once, before anything else */

/* Makes the workers of run->plan and starts them. false: errno says why, and nothing runs. */
bool run_start(struct run *run);

/* Waits until every worker has ended or +nanoseconds+ are over; returns whether all have ended. */
bool run_wait(struct run *run, int64_t nanoseconds);

void run_nudge(struct run *run); /* run_wait returns early */
void run_stop(struct run *run); /* workers end at once, with what they have */
void run_finish(struct run *run); /* stops, joins and frees the workers */

#endif
