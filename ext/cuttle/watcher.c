/* The native thread that stands in for Ruby threads which are all in the app. See watcher.h. */
#include "watcher.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define PATIENCE (5 * CUTTLE_MILLISECOND) /* without a poll, before the watcher steps in */

struct cuttle_watcher {
	pthread_t thread;
	pthread_cond_t called;
	bool asleep;  /* until a thread leaves with work */
	bool on_duty; /* waits in the kernel for the others */
	bool quit;
};

static bool needed(const struct cuttle_loop *loop, uint64_t polls)
{
	return loop->busy > 0 && loop->polls == polls && !loop->waiter && loop->parked_count == 0;
}

static void keep_watch(struct cuttle_loop *loop, struct cuttle_watcher *watcher)
{
	struct cuttle_event events[CUTTLE_EVENTS];

	watcher->on_duty = true;
	cuttle_loop_remove_listeners(loop);
	while (watcher->on_duty && !watcher->quit) {
		uint64_t now = cuttle_now();
		int64_t patience = cuttle_loop_expire(loop, now);
		int count;

		cuttle_loop_step_pending(loop, now);
		if (!cuttle_list_empty(&loop->pending))
			patience = 0;
		pthread_mutex_unlock(&loop->lock);
		count = loop->type->wait(loop->backend, events, CUTTLE_EVENTS, patience);
		pthread_mutex_lock(&loop->lock);
		cuttle_loop_note(loop, events, count);
	}
	cuttle_loop_pass_on(loop); /* what was reported to this thread last is for those who are back */
	if (loop->waiter && loop->waiter->summoned)
		loop->type->wake(loop->backend); /* and so may be the wake that it took */
}

static void *watch(void *argument)
{
	struct cuttle_loop *loop = argument;
	struct cuttle_watcher *watcher = loop->watcher;

	pthread_mutex_lock(&loop->lock);
	while (!watcher->quit) {
		uint64_t polls = loop->polls;

		watcher->asleep = loop->busy == 0;
		if (watcher->asleep)
			pthread_cond_wait(&watcher->called, &loop->lock);
		else
			cuttle_cond_wait(&watcher->called, &loop->lock, PATIENCE);
		if (!watcher->asleep && needed(loop, polls))
			keep_watch(loop, watcher);
	}
	pthread_mutex_unlock(&loop->lock);
	return NULL;
}

int cuttle_watcher_start(struct cuttle_loop *loop)
{
	struct cuttle_watcher *watcher = calloc(1, sizeof *watcher);
	sigset_t all, before;
	int failed;

	if (!watcher)
		return ENOMEM;
	pthread_cond_init(&watcher->called, NULL);
	loop->watcher = watcher;
	sigfillset(&all); /* signals are Ruby's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&watcher->thread, NULL, watch, loop);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		loop->watcher = NULL;
		pthread_cond_destroy(&watcher->called);
		free(watcher);
	}
	return failed;
}

void cuttle_watcher_alert(struct cuttle_loop *loop)
{
	struct cuttle_watcher *watcher = loop->watcher;

	if (watcher && watcher->asleep) {
		watcher->asleep = false;
		pthread_cond_signal(&watcher->called);
	}
}

void cuttle_watcher_relieve(struct cuttle_loop *loop)
{
	struct cuttle_watcher *watcher = loop->watcher;

	if (watcher && watcher->on_duty) {
		watcher->on_duty = false;
		loop->type->wake(loop->backend);
		cuttle_loop_restore_listeners(loop);
	}
}

void cuttle_watcher_stop(struct cuttle_loop *loop)
{
	struct cuttle_watcher *watcher;

	pthread_mutex_lock(&loop->lock);
	watcher = loop->watcher;
	if (watcher) {
		watcher->quit = true;
		pthread_cond_signal(&watcher->called);
		loop->type->wake(loop->backend);
	}
	pthread_mutex_unlock(&loop->lock);
	if (!watcher)
		return;
	pthread_join(watcher->thread, NULL);
	loop->watcher = NULL;
	pthread_cond_destroy(&watcher->called);
	free(watcher);
}
