/* Runs a plan; see run.h. */
#include "run.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define HEAD_START (5 * MILLISECOND) /* from the start of the threads to their common beginning */

struct start {
	struct run *run;
	struct worker *worker;
};

void run_prepare(struct run *run)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&run->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&run->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void *work(void *argument)
{
	struct start start = *(struct start *)argument;

	free(argument);
	worker_run(start.worker);
	pthread_mutex_lock(&start.run->mutex);
	start.run->finished++;
	pthread_cond_broadcast(&start.run->changed);
	pthread_mutex_unlock(&start.run->mutex);
	return NULL;
}

/* Starts a thread with all signals blocked, because Ruby handles them. */
static int spawn(struct run *run, struct worker *worker)
{
	struct start *start = malloc(sizeof(*start));
	sigset_t all, before;
	int error;

	if (!start)
		return ENOMEM;
	*start = (struct start){run, worker};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&worker->thread, NULL, work, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		free(start);
	return error;
}

static void set_times(struct plan *plan)
{
	plan->begin = clock_now() + HEAD_START;
	plan->measure = plan->begin + plan->warmup;
	plan->end = plan->duration == NEVER ? NEVER : plan->measure + plan->duration;
}

static size_t share(size_t whole, size_t parts, size_t part)
{
	return whole / parts + (part < whole % parts);
}

static bool make_workers(struct run *run)
{
	struct plan *plan = &run->plan;

	run->workers = calloc(plan->threads, sizeof(*run->workers));
	for (run->count = 0; run->workers && run->count < plan->threads; run->count++) {
		size_t connections = share(plan->connections, plan->threads, run->count);

		run->workers[run->count] = worker_new(plan, run->count, connections);
		if (!run->workers[run->count])
			return false;
	}
	return run->workers != NULL;
}

bool run_start(struct run *run)
{
	int error = 0;

	if (!make_workers(run)) {
		error = errno;
		run_finish(run);
		errno = error;
		return false;
	}
	set_times(&run->plan);
	while (run->started < run->count) {
		error = spawn(run, run->workers[run->started]);
		if (error) {
			run_finish(run);
			errno = error;
			return false;
		}
		run->started++;
	}
	return true;
}

bool run_wait(struct run *run, int64_t nanoseconds)
{
	int64_t until = clock_now() + nanoseconds;
	struct timespec time = {until / SECOND, until % SECOND};
	bool ended;

	pthread_mutex_lock(&run->mutex);
	while (run->finished < run->started && !run->nudged)
		if (pthread_cond_timedwait(&run->changed, &run->mutex, &time) == ETIMEDOUT)
			break;
	run->nudged = false;
	ended = run->finished == run->started;
	pthread_mutex_unlock(&run->mutex);
	return ended;
}

void run_nudge(struct run *run)
{
	pthread_mutex_lock(&run->mutex);
	run->nudged = true;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->mutex);
}

void run_stop(struct run *run)
{
	size_t at;

	atomic_store(&run->plan.stop, true);
	for (at = 0; at < run->count; at++)
		waiter_wake(&run->workers[at]->waiter);
}

void run_finish(struct run *run)
{
	size_t at;

	run_stop(run);
	for (at = 0; at < run->started; at++)
		pthread_join(run->workers[at]->thread, NULL);
	for (at = 0; at < run->count; at++)
		worker_free(run->workers[at]);
	free(run->workers);
	run->workers = NULL;
	run->count = run->started = run->finished = 0;
}
