/* The states of this process's threads; see running.h. */
#include "running.h"

#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread's stat begins with its number and its name in parentheses, of 15 octets at most; then comes the state. */
#define HEAD 64

long cuttle_thread_number(void)
{
	return syscall(SYS_gettid);
}

/* Whether a thread's stat says that it runs. A name may have parentheses too, so the last one counts. */
static bool says_running(const char *stat, size_t size)
{
	const char *end = memrchr(stat, ')', size);

	return end && end + 2 < stat + size && end[2] == 'R';
}

static bool runs(int tasks, const char *number)
{
	char path[32], stat[HEAD];
	int length = snprintf(path, sizeof path, "%s/stat", number), file;
	ssize_t got;

	if (length < 0 || (size_t)length >= sizeof path)
		return false;
	file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false; /* it has ended */
	got = read(file, stat, sizeof stat);
	close(file);
	return got > 0 && says_running(stat, (size_t)got);
}

int cuttle_running(long without)
{
	long own = cuttle_thread_number();
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int count = 0;

	if (!tasks)
		return 0;
	while ((task = readdir(tasks))) {
		long number = strtol(task->d_name, NULL, 10);

		if (number > 0 && number != own && number != without)
			count += runs(dirfd(tasks), task->d_name);
	}
	closedir(tasks);
	return count;
}

#else

long cuttle_thread_number(void)
{
	return 0;
}

int cuttle_running(long without)
{
	return 0;
}

#endif
