/* Time in nanoseconds. */
#ifndef CUTTLE_CLOCK_H
#define CUTTLE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CUTTLE_MILLISECOND UINT64_C(1000000)
#define CUTTLE_SECOND UINT64_C(1000000000)

/* Longer than any wait: 30 years. Sums of a time and such a wait stay far from an overflow. */
#define CUTTLE_FOREVER (UINT64_C(1000000000) * CUTTLE_SECOND)

/* Seconds as nanoseconds, between 0 and CUTTLE_FOREVER; 0 for what is no number. */
static inline uint64_t cuttle_nanoseconds(double seconds)
{
	if (!(seconds > 0))
		return 0;
	return seconds < 1e9 ? (uint64_t)(seconds * 1e9) : CUTTLE_FOREVER;
}

/* The monotonic clock. */
static inline uint64_t cuttle_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CUTTLE_SECOND + (uint64_t)now.tv_nsec;
}

/* The Date field's line (RFC 9110, 6.6.1) with its line end, for a time in seconds since 1970. Returns its length. */
#define CUTTLE_DATE_ROOM 64
size_t cuttle_date_render(int64_t time, char text[CUTTLE_DATE_ROOM]);

/* That of now, rendered once a second and thread.
 * Returns its length; *line stays valid until the thread's next call. */
size_t cuttle_date_line(const char **line);

/* Waits on a condition for some nanoseconds at most. The system's condition counts real time, so a clock that is set
 * may end the wait early: the caller looks at what it waits for again. */
static inline void cuttle_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t nanoseconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	nanoseconds += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / CUTTLE_SECOND);
	until.tv_nsec = (long)(nanoseconds % CUTTLE_SECOND);
	pthread_cond_timedwait(condition, lock, &until);
}

#endif
