/* Waiting for events or a time; see wait.h. */
#include "wait.h"
#include "clock.h"
#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* If a poll took this long, another thread had the core meanwhile. */
#define AWAY (20 * MICROSECOND)

static bool watch_input(struct waiter *waiter, int descriptor)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};

	return epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static bool open_timer(struct waiter *waiter)
{
	waiter->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return waiter->timer >= 0 && watch_input(waiter, waiter->timer);
}

bool waiter_open(struct waiter *waiter)
{
	waiter->timer = -1;
	waiter->wake = -1;
	waiter->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (waiter->epoll < 0)
		return false;
	waiter->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (waiter->wake < 0 || !watch_input(waiter, waiter->wake)) {
		waiter_close(waiter);
		return false;
	}
#ifndef HAVE_EPOLL_PWAIT2
	if (!open_timer(waiter)) {
		waiter_close(waiter);
		return false;
	}
#endif
	return true;
}

static void close_one(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

void waiter_close(struct waiter *waiter)
{
	close_one(&waiter->timer);
	close_one(&waiter->wake);
	close_one(&waiter->epoll);
}

void waiter_wake(struct waiter *waiter)
{
	uint64_t one = 1;

	/* This fails only if a wake-up is already pending. */
	if (write(waiter->wake, &one, sizeof(one)) < 0)
		return;
}

void waiter_settle(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

bool waiter_watch(struct waiter *waiter, int descriptor, void *owner)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = owner};

	return epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static int wait_with_timer(struct waiter *waiter, struct epoll_event *events, int most, int64_t until)
{
	struct itimerspec at = {.it_value = {until / SECOND, until % SECOND}};

	if (until == NEVER)
		at.it_value = (struct timespec){0, 0};
	timerfd_settime(waiter->timer, TFD_TIMER_ABSTIME, &at, NULL);
	return epoll_wait(waiter->epoll, events, most, -1);
}

#ifdef HAVE_EPOLL_PWAIT2
static int wait_precisely(struct waiter *waiter, struct epoll_event *events, int most, int64_t now, int64_t until)
{
	int64_t rest = until - now;
	struct timespec timeout = {rest / SECOND, rest % SECOND};
	int ready = epoll_pwait2(waiter->epoll, events, most, until == NEVER ? NULL : &timeout, NULL);

	/* The kernel is older than the C library, or a container refuses the call: use a timer from now on. */
	if (ready < 0 && (errno == ENOSYS || errno == EPERM) && open_timer(waiter))
		return 0;
	return ready;
}
#endif

/* Polls until events come or the time is over, and yields the core in between. */
static int look_out(struct waiter *waiter, struct epoll_event *events, int most, int64_t until)
{
	int64_t before, now = clock_now();
	int ready;

	while ((ready = epoll_wait(waiter->epoll, events, most, 0)) == 0 && now < until) {
		sched_yield();
		before = now;
		now = clock_now();
		if (now - before < AWAY)
			waiter->looked += now - before;
	}
	return ready;
}

int waiter_wait(struct waiter *waiter, struct epoll_event *events, int most, int64_t now, int64_t until)
{
	int ready;

	if (until != NEVER)
		until -= waiter->near;
	if (until <= now)
		ready = look_out(waiter, events, most, until + waiter->near);
	else if (waiter->timer >= 0)
		ready = wait_with_timer(waiter, events, most, until);
	else
#ifdef HAVE_EPOLL_PWAIT2
		ready = wait_precisely(waiter, events, most, now, until);
#else
		ready = -1;
#endif
	if (ready < 0 && errno == EINTR) /* the process was stopped and continues: events have come meanwhile */
		ready = epoll_wait(waiter->epoll, events, most, 0);
	return ready < 0 ? 0 : ready;
}
