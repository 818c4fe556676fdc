/* Time: nanoseconds on the monotonic clock, read through the vDSO without a system call. */
#ifndef CUTTLE_LOAD_CLOCK_H
#define CUTTLE_LOAD_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MICROSECOND INT64_C(1000)
#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define NEVER INT64_MAX

static inline int64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

/* Returns the calling thread's CPU time. */
static inline int64_t clock_thread_cpu(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

#endif
