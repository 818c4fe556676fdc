/*
 * Waiting for sockets or for a time, whichever is first, to the microsecond.
 *
 * Law: it sleeps (epoll_pwait2 where the C library and the kernel have it; else epoll_wait with a timer descriptor, the
 * thread's timer slack set to nothing). Where that is too late, it sleeps until the time is near, and looks out for the
 * rest: a core that sleeps wakes late. One thread waits on one waiter; waiter_wake may be called by any.
 */
#ifndef CUTTLE_LOAD_WAIT_H
#define CUTTLE_LOAD_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct waiter {
	int epoll, wake, timer; /* timer: -1 while epoll_pwait2 does */
	int64_t near;           /* ns that are looked out for and not slept; 0 unless its owner says otherwise */
	int64_t looked;         /* ns of CPU time that this has taken in vain */
};

bool waiter_open(struct waiter *waiter);
void waiter_close(struct waiter *waiter);
void waiter_wake(struct waiter *waiter);

/* For the thread that will wait: sets its timer slack. */
void waiter_settle(void);

/* Watches +descriptor+, edge triggered, both ways; events carry +owner+, which must not be NULL. */
bool waiter_watch(struct waiter *waiter, int descriptor, void *owner);

/* Returns how many events there are, none when +until+ on the monotonic clock is near or over (NEVER: without a limit). */
int waiter_wait(struct waiter *waiter, struct epoll_event *events, int most, int64_t now, int64_t until);

#endif
