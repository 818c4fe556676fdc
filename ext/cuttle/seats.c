/* Who waits, among the threads that ask a loop for work; the law is in loop.h. */
#include "io_thread.h"

static void call(struct cuttle_loop *loop, bool to_work)
{
	struct cuttle_seat *seat = CUTTLE_CONTAINER(loop->parked.previous, struct cuttle_seat, link);

	cuttle_list_remove(&seat->link);
	loop->parked_count--;
	seat->summoned = to_work;
	loop->waiter = seat;
	loop->waiter_in_kernel = false;
	pthread_cond_signal(&seat->called);
}

/* Sends the waiting thread from the kernel to the GVL. */
static void summon_waiter(struct cuttle_loop *loop)
{
	loop->waiter->summoned = true;
	loop->waiter_in_kernel = false;
	loop->type->wake(loop->backend);
}

void cuttle_loop_pass_on(struct cuttle_loop *loop)
{
	bool work = cuttle_loop_has_work(loop);

	if (!loop->waiter && !cuttle_list_empty(&loop->parked))
		call(loop, work);
	else if (work && loop->waiter && loop->waiter_in_kernel)
		summon_waiter(loop);
}

/* Waits, parked, until this seat is the waiter. Returns false when it was interrupted, or its time is over. */
static bool await_call(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until)
{
	uint64_t now = cuttle_now();

	while (loop->waiter != seat && !seat->interrupted && !(until && now >= until)) {
		if (until)
			cuttle_cond_wait(&seat->called, &loop->lock, until - now);
		else
			pthread_cond_wait(&seat->called, &loop->lock);
		now = cuttle_now();
	}
	if (loop->waiter == seat)
		return true;
	cuttle_list_remove(&seat->link);
	loop->parked_count--;
	return false;
}

static void park(struct cuttle_loop *loop, struct cuttle_seat *seat)
{
	cuttle_list_append(&loop->parked, &seat->link);
	loop->parked_count++;
}

/* Waits in the kernel once. Returns whether there may be something to do. */
static bool wait_in_kernel(struct cuttle_loop *loop, uint64_t until)
{
	struct cuttle_event events[CUTTLE_EVENTS];
	uint64_t now = cuttle_now();
	int64_t patience = cuttle_loop_expire(loop, now), aside = cuttle_loop_come_back(loop, now);
	int count;

	if (cuttle_loop_has_work(loop))
		return true;
	if (aside >= 0 && (patience < 0 || aside < patience))
		patience = aside;
	if (until && (patience < 0 || now + (uint64_t)patience > until))
		patience = until > now ? (int64_t)(until - now) : 0;
	loop->waiter_in_kernel = true;
	pthread_mutex_unlock(&loop->lock);
	count = loop->type->wait(loop->backend, events, CUTTLE_EVENTS, patience);
	pthread_mutex_lock(&loop->lock);
	loop->waiter_in_kernel = false;
	cuttle_loop_note(loop, events, count);
	return count != 0 || loop->woken; /* a signal is Ruby's to look at: perhaps nobody else does */
}

void cuttle_loop_sit(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until)
{
	if (loop->standing_by && !cuttle_loop_has_work(loop)) { /* what it was left for is done, and this thread runs already */
		park(loop, loop->waiter);
		loop->waiter = NULL;
		loop->standing_by = false;
	}
	if (!loop->waiter)
		loop->waiter = seat;
	else
		park(loop, seat);
	while (loop->waiter == seat || await_call(loop, seat, until)) {
		/* Here this seat is the waiter, and stays it on its way to the GVL. The io thread may have come on duty since this
		 * thread looked for work; two that wait would be one too many, for the io thread leaves the listeners alone. */
		cuttle_io_thread_relieve(loop);
		if (seat->interrupted || (until && cuttle_now() >= until))
			break;
		if (!seat->summoned && !wait_in_kernel(loop, until))
			continue;
		if (!cuttle_loop_may_stand_by(loop, cuttle_now()))
			break;
		seat->summoned = false;
		if (cuttle_loop_stand_by(loop, seat, until))
			break;
	}
}

void cuttle_loop_stand_up(struct cuttle_loop *loop, struct cuttle_seat *seat)
{
	if (loop->waiter == seat)
		loop->waiter = NULL;
}

void cuttle_loop_interrupt(struct cuttle_loop *loop, struct cuttle_seat *seat)
{
	seat->interrupted = true;
	pthread_cond_signal(&seat->called);
	if (loop->waiter == seat && loop->waiter_in_kernel)
		summon_waiter(loop);
}

void cuttle_loop_wake(struct cuttle_loop *loop)
{
	loop->woken = true;
	loop->type->wake(loop->backend);
}
