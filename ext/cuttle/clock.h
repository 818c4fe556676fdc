/* Time in nanoseconds. */
#ifndef CUTTLE_CLOCK_H
#define CUTTLE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CUTTLE_MILLISECOND UINT64_C(1000000)
#define CUTTLE_SECOND UINT64_C(1000000000)

/* Longer than any wait: 30 years. Adding it to a time never overflows. */
#define CUTTLE_FOREVER (UINT64_C(1000000000) * CUTTLE_SECOND)

/* Converts seconds to nanoseconds, clamped to 0..CUTTLE_FOREVER. NaN becomes 0. */
static inline uint64_t cuttle_nanoseconds(double seconds)
{
	if (!(seconds > 0))
		return 0;
	return seconds < 1e9 ? (uint64_t)(seconds * 1e9) : CUTTLE_FOREVER;
}

/* Returns the time on the monotonic clock. */
static inline uint64_t cuttle_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CUTTLE_SECOND + (uint64_t)now.tv_nsec;
}

/* Returns the CPU time that all threads of the process have used. */
static inline uint64_t cuttle_cpu_time(void)
{
	struct timespec used = {.tv_sec = 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * CUTTLE_SECOND + (uint64_t)used.tv_nsec;
}

/* Renders a Date field (RFC 9110, 6.6.1) with its line end, for a time in seconds since 1970. Returns its length. */
#define CUTTLE_DATE_ROOM 64
size_t cuttle_date_render(int64_t time, char text[CUTTLE_DATE_ROOM]);

/* Sets *line to the Date field of the current second, which each thread renders at most once a second.
 * Returns its length. *line stays valid until the thread's next call. */
size_t cuttle_date_line(const char **line);

/* Prepares a condition for cuttle_cond_wait: by default a condition uses real time, and a clock that is set back would
 * make the wait that much longer. */
static inline void cuttle_cond_init(pthread_cond_t *condition)
{
#ifdef __APPLE__
	pthread_cond_init(condition, NULL);
#else
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
#endif
}

/* Waits on a condition of cuttle_cond_init for at most the given nanoseconds. The caller must check its condition
 * again. */
static inline void cuttle_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t nanoseconds)
{
#ifdef __APPLE__
	struct timespec left = {.tv_sec = (time_t)(nanoseconds / CUTTLE_SECOND),
				.tv_nsec = (long)(nanoseconds % CUTTLE_SECOND)};

	pthread_cond_timedwait_relative_np(condition, lock, &left);
#else
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	nanoseconds += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / CUTTLE_SECOND);
	until.tv_nsec = (long)(nanoseconds % CUTTLE_SECOND);
	pthread_cond_timedwait(condition, lock, &until);
#endif
}

/* The smaller of two times, either of which may be -1 (never). */
static inline int64_t cuttle_sooner(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

#endif
