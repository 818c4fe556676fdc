/*
 * Waits for sockets or for a time, whichever comes first, to the microsecond.
 *
 * Law: it sleeps with epoll_pwait2 if the C library and the kernel have it, otherwise with epoll_wait and a timer
 * descriptor; the thread's timer slack is minimal. If it wakes too late, because a sleeping core takes time to wake, it
 * sleeps until shortly before the time and polls for the rest. One thread waits on a waiter; any thread may call
 * waiter_wake.
 */
#ifndef CUTTLE_LOAD_WAIT_H
#define CUTTLE_LOAD_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct waiter {
	int epoll, wake, timer; /* timer: -1 while epoll_pwait2 works */
	int64_t near;           /* ns to poll instead of sleeping; 0 unless the owner sets it */
	int64_t looked;         /* ns of CPU time that polling has spent without an event */
};

bool waiter_open(struct waiter *waiter);
void waiter_close(struct waiter *waiter);
void waiter_wake(struct waiter *waiter);

/* Minimizes the timer slack of the calling thread, which will wait. */
void waiter_settle(void);

/* Watches +descriptor+ in both directions, edge-triggered. Its events carry +owner+, which must not be NULL. */
bool waiter_watch(struct waiter *waiter, int descriptor, void *owner);

/* Returns the number of events; 0 when +until+ on the monotonic clock is near or over (NEVER: no limit). */
int waiter_wait(struct waiter *waiter, struct epoll_event *events, int most, int64_t now, int64_t until);

#endif
