/* The native thread that replaces Ruby threads while all of them are in the app; see io_thread.h. */
#include "io_thread.h"
#include "running.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define PATIENCE (5 * CUTTLE_MILLISECOND) /* time without a poll after which the io thread steps in */

struct cuttle_io_thread {
	pthread_t thread;
	long number; /* as cuttle_running takes it; 0 until the thread runs */
	pthread_cond_t called;
	bool asleep;    /* until a thread leaves with work, or the leader goes for the GVL */
	bool on_duty;   /* waits in the kernel in place of Ruby threads */
	bool in_kernel; /* still true if it was relieved but another thread consumed its wake */
	uint64_t sleeps_until;
	bool quit;
};

/* Whether it also looks after requests that wait: it keeps their time limits, or gives them to other workers. It is
 * then needed even while free threads wait for the GVL. */
static bool looks_after_requests(const struct cuttle_loop *loop)
{
	return loop->sheds || loop->core.limits.app_timeout || loop->gives;
}

bool cuttle_io_thread_wanted(const struct cuttle_loop *loop)
{
	return loop->followers.shared || looks_after_requests(loop);
}

/* The time since the last poll. */
static uint64_t unpolled(const struct cuttle_loop *loop)
{
	return cuttle_now() - loop->looked;
}

/* Whether no Ruby thread waits in the kernel, though the loop isn't over: each is in the app, with a request or after
 * one, or on its way to the GVL. If one is in the kernel, called back or not, the io thread must not wait there too: it
 * could take the wake that calls that thread. */
static bool nobody_watches(const struct cuttle_loop *loop)
{
	return !loop->followers.leader_in_kernel && !cuttle_loop_over(loop);
}

static bool needed(const struct cuttle_loop *loop)
{
	return nobody_watches(loop) && (unpolled(loop) >= PATIENCE || loop->resting) &&
	       (looks_after_requests(loop) || cuttle_followers_free(&loop->followers) == 0);
}

/* Handles what was reported and what is due. Returns how long to wait for more, in nanoseconds; -1: for ever. */
static int64_t turn(struct cuttle_loop *loop)
{
	uint64_t now = cuttle_now();
	int64_t patience, back, relay;

	cuttle_loop_receive(loop, now); /* first, as in cuttle_loop_turn */
	if (loop->sheds && !atomic_load(&loop->core.leave_backlog))
		cuttle_loop_accept(loop, 0, now);
	cuttle_loop_step_pending(loop, now);
	if (loop->busy == 0) /* something else keeps the threads */
		cuttle_scoreboard_free(loop->core.place, false);
	relay = cuttle_loop_relay(loop, now);
	cuttle_loop_shed(loop, cuttle_loop_spare(loop), now);
	patience = cuttle_loop_keep_deadlines(loop, now);           /* last, because the others set new deadlines */
	back = loop->sheds ? cuttle_loop_come_back(loop, now) : -1; /* it may just have left them to another worker */
	if (!cuttle_list_empty(&loop->pending))
		return 0;
	return cuttle_sooner(cuttle_sooner(patience, relay), cuttle_sooner(back, cuttle_growth_look(loop, now)));
}

static void keep_watch(struct cuttle_loop *loop, struct cuttle_io_thread *io_thread)
{
	struct cuttle_event events[CUTTLE_EVENTS];

	io_thread->on_duty = true;
	if (!loop->sheds)
		cuttle_loop_remove_listeners(loop);
	while (io_thread->on_duty && !io_thread->quit) {
		int64_t patience = turn(loop);
		int count;

		cuttle_loop_watch_all(loop);
		io_thread->in_kernel = true;
		io_thread->sleeps_until = patience < 0 ? UINT64_MAX : cuttle_now() + (uint64_t)patience;
		pthread_mutex_unlock(&loop->lock);
		count = loop->type->wait(loop->backend, events, CUTTLE_EVENTS, patience);
		pthread_mutex_lock(&loop->lock);
		io_thread->in_kernel = false;
		cuttle_loop_note(loop, events, count);
	}
	cuttle_followers_pass_on(loop); /* the last reports to this thread are work for those that are back */
	if (loop->followers.leader_in_kernel)
		loop->type->wake(loop->backend); /* and it may have consumed their wake */
}

/* Waits until the io thread may be needed: while threads poll, until 7.5 ms after the last poll. It doesn't sleep then,
 * nor while a request is in the app, because to be called whenever a thread leaves with work would cost more than to
 * look. */
static void rest(struct cuttle_loop *loop, struct cuttle_io_thread *io_thread)
{
	uint64_t time = unpolled(loop);
	bool quiet = time >= PATIENCE;

	io_thread->asleep = quiet && loop->busy == 0 && !nobody_watches(loop) && !cuttle_followers_unled(loop);
	if (io_thread->asleep)
		pthread_cond_wait(&io_thread->called, &loop->lock);
	if (!io_thread->asleep && !(loop->resting && needed(loop)))
		cuttle_cond_wait(&io_thread->called, &loop->lock,
				 quiet || loop->growth.wanted ? PATIENCE : PATIENCE * 3 / 2 - time);
}

static void *watch(void *argument)
{
	struct cuttle_loop *loop = argument;
	struct cuttle_io_thread *io_thread;

	pthread_mutex_lock(&loop->lock);
	io_thread = loop->io_thread;
	io_thread->number = cuttle_thread_number();
	while (!io_thread->quit) {
		uint64_t taken = loop->followers.taken;

		rest(loop, io_thread);
		if (io_thread->asleep)
			continue;
		if (cuttle_followers_unled(loop) && loop->followers.taken == taken)
			cuttle_followers_lead(loop, cuttle_now());
		else if (needed(loop))
			keep_watch(loop, io_thread);
		else
			cuttle_growth_look(loop, cuttle_now());
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
	cuttle_cond_init(&io_thread->called);
	sigfillset(&all); /* signals belong to Ruby */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&loop->lock); /* nobody sees one that failed; the new thread first takes the lock */
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

	if (!io_thread || io_thread->on_duty)
		return;
	if (io_thread->asleep || (loop->resting && !io_thread->in_kernel)) {
		io_thread->asleep = false;
		pthread_cond_signal(&io_thread->called);
	} else if (io_thread->in_kernel && !loop->followers.leader_in_kernel) {
		loop->type->wake(loop->backend); /* so that it comes back when its patience is over */
	}
}

void cuttle_io_thread_hurry(struct cuttle_loop *loop, uint64_t deadline)
{
	struct cuttle_io_thread *io_thread = loop->io_thread;

	if (io_thread && io_thread->in_kernel && deadline < io_thread->sleeps_until) {
		io_thread->sleeps_until = deadline;
		loop->type->wake(loop->backend);
	}
}

long cuttle_io_thread_number(const struct cuttle_loop *loop)
{
	return loop->io_thread ? loop->io_thread->number : 0;
}

void cuttle_io_thread_relieve(struct cuttle_loop *loop)
{
	struct cuttle_io_thread *io_thread = loop->io_thread;

	if (io_thread && io_thread->on_duty) {
		io_thread->on_duty = false;
		cuttle_loop_show_free(loop);
		loop->type->wake(loop->backend);
		if (cuttle_loop_is_open(loop))
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
