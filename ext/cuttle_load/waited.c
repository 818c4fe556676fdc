/* Reads the kernel's account of a thread; see waited.h. */
#include "waited.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int waited_open(void)
{
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* The file has three numbers: the time on a core, the time of waiting for a core, and how often the thread got one. */
int64_t waited_so_far(int descriptor)
{
	unsigned long long ran, waited;
	char line[96];
	ssize_t got = descriptor < 0 ? -1 : pread(descriptor, line, sizeof(line) - 1, 0);

	if (got <= 0)
		return -1;
	line[got] = '\0';
	return sscanf(line, "%llu %llu", &ran, &waited) == 2 ? (int64_t)waited : -1;
}
