/* The native thread that stands in for Ruby threads which are all in the app. See io_thread.h. */
#include "io_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define PATIENCE (5 * CUTTLE_MILLISECOND) /* without a poll, before the io thread steps in */

struct cuttle_io_thread {
	pthread_t thread;
	pthread_cond_t called;
	bool asleep;  /* until a thread leaves with work */
	bool on_duty; /* waits in the kernel for the others */
	bool quit;
};

static bool needed(const struct cuttle_loop *loop, uint64_t polls)
{
	return loop->busy > 0 && loop->polls == polls && !loop->followers.leader && loop->followers.parked_count == 0;
}

static void keep_watch(struct cuttle_loop *loop, struct cuttle_io_thread *io_thread)
{
	struct cuttle_event events[CUTTLE_EVENTS];

	io_thread->on_duty = true;
	cuttle_loop_remove_listeners(loop);
	while (io_thread->on_duty && !io_thread->quit) {
		uint64_t now = cuttle_now();
		int64_t patience;
		int count;

		cuttle_loop_step_pending(loop, now);
		patience = cuttle_loop_expire(loop, now); /* last, for a step makes new deadlines */
		if (!cuttle_list_empty(&loop->pending))
			patience = 0;
		pthread_mutex_unlock(&loop->lock);
		count = loop->type->wait(loop->backend, events, CUTTLE_EVENTS, patience);
		pthread_mutex_lock(&loop->lock);
		cuttle_loop_note(loop, events, count);
	}
	cuttle_followers_pass_on(loop); /* what was reported to this thread last is for those who are back */
	if (loop->followers.leader && loop->followers.leader->summoned)
		loop->type->wake(loop->backend); /* and so may be the wake that it took */
}

static void *watch(void *argument)
{
	struct cuttle_loop *loop = argument;
	struct cuttle_io_thread *io_thread;

	pthread_mutex_lock(&loop->lock);
	io_thread = loop->io_thread;
	while (!io_thread->quit) {
		uint64_t polls = loop->polls;

		io_thread->asleep = loop->busy == 0;
		if (io_thread->asleep)
			pthread_cond_wait(&io_thread->called, &loop->lock);
		else
			cuttle_cond_wait(&io_thread->called, &loop->lock, PATIENCE);
		if (!io_thread->asleep && needed(loop, polls))
			keep_watch(loop, io_thread);
	}
	pthread_mutex_unlock(&loop->lock);
	return NULL;
}

int cuttle_io_thread_start(struct cuttle_loop *loop)
{
	struct cuttle_io_thread *io_thread = calloc(1, sizeof *io_thread);
	sigset_t all, before;
	int failed;

	if (!io_thread)
		return ENOMEM;
	pthread_cond_init(&io_thread->called, NULL);
	sigfillset(&all); /* signals are Ruby's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&loop->lock); /* nobody sees one that failed, and it begins by taking the lock */
	failed = pthread_create(&io_thread->thread, NULL, watch, loop);
	if (!failed)
		loop->io_thread = io_thread;
	pthread_mutex_unlock(&loop->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		pthread_cond_destroy(&io_thread->called);
		free(io_thread);
	}
	return failed;
}

void cuttle_io_thread_alert(struct cuttle_loop *loop)
{
	struct cuttle_io_thread *io_thread = loop->io_thread;

	if (io_thread && io_thread->asleep) {
		io_thread->asleep = false;
		pthread_cond_signal(&io_thread->called);
	}
}

void cuttle_io_thread_relieve(struct cuttle_loop *loop)
{
	struct cuttle_io_thread *io_thread = loop->io_thread;

	if (io_thread && io_thread->on_duty) {
		io_thread->on_duty = false;
		loop->type->wake(loop->backend);
		cuttle_loop_restore_listeners(loop);
	}
}

void cuttle_io_thread_stop(struct cuttle_loop *loop)
{
	struct cuttle_io_thread *io_thread;

	pthread_mutex_lock(&loop->lock);
	io_thread = loop->io_thread;
	if (io_thread) {
		io_thread->quit = true;
		pthread_cond_signal(&io_thread->called);
		loop->type->wake(loop->backend);
	}
	pthread_mutex_unlock(&loop->lock);
	if (!io_thread)
		return;
	pthread_join(io_thread->thread, NULL);
	loop->io_thread = NULL;
	pthread_cond_destroy(&io_thread->called);
	free(io_thread);
}
