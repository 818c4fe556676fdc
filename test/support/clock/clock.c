/* A clock that is set back all the time, as a test needs it: preloaded into a server, it has each look at the real time
 * find an hour that the kernel takes back. So a wait until a real time does not end. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = (int)syscall(SYS_clock_gettime, clock, time);

	if (result == 0 && clock == CLOCK_REALTIME)
		time->tv_sec += 3600;
	return result;
}
