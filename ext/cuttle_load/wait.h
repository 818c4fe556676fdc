/*
 * Waiting for sockets or for a time, whichever is first, to the microsecond and without spinning.
 *
 * Law: epoll_pwait2 where the C library and the kernel have it; else epoll_wait with a timer descriptor. The thread's
 * timer slack is set to nothing. One thread waits on one waiter; waiter_wake may be called by any.
 */
#ifndef CUTTLE_LOAD_WAIT_H
#define CUTTLE_LOAD_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct waiter {
	int epoll, wake, timer; /* timer: -1 while epoll_pwait2 does */
};

bool waiter_open(struct waiter *waiter);
void waiter_close(struct waiter *waiter);
void waiter_wake(struct waiter *waiter);

/* For the thread that will wait: sets its timer slack. */
void waiter_settle(void);

/* Watches +descriptor+, edge triggered, both ways; events carry +owner+, which must not be NULL. */
bool waiter_watch(struct waiter *waiter, int descriptor, void *owner);

/* Returns how many events there are, none when it is +until+ on the monotonic clock (NEVER: without a limit). */
int waiter_wait(struct waiter *waiter, struct epoll_event *events, int most, int64_t now, int64_t until);

#endif
