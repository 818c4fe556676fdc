/* Lets a process with threads fork under AddressSanitizer: rake sanitize:core preloads this beside it.
 *
 * The AddressSanitizer of GCC 12 takes none of its locks before a fork. (malloc and core.c take theirs.) A thread that
 * begins, ends or allocates at that moment may hold one, and in the child nobody gives it back: a thread that begins
 * there waits for it for ever. So a fork waits until all other threads sleep, since none sleeps with such a lock. The
 * forking thread has the GVL and core.c's locks meanwhile, so the others soon do. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 5000 /* looks, a millisecond or more apart; then it forks beside a thread that computes */

/* Whether a thread of this process sleeps, or is no more. One that waits for memory has another state ("D"). */
static int sleeps(const char *number)
{
	char path[64], text[512];
	const char *state;
	ssize_t count;
	int file;

	snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", number);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 1;
	count = read(file, text, sizeof text - 1);
	close(file);
	text[count > 0 ? count : 0] = 0;
	state = strrchr(text, ')');
	return !state || state[2] == 'S';
}

static int others_sleep(void)
{
	DIR *threads = opendir("/proc/self/task");
	long own = syscall(SYS_gettid);
	const struct dirent *thread;
	int all = 1;

	while (threads && all && (thread = readdir(threads)))
		all = thread->d_name[0] == '.' || atol(thread->d_name) == own || sleeps(thread->d_name);
	if (threads)
		closedir(threads);
	return all;
}

static void await_sleep(void)
{
	struct timespec moment = {.tv_nsec = 1000000};

	for (int look = 0; look < PATIENCE && !others_sleep(); look++)
		nanosleep(&moment, NULL);
}

/* Handlers run before a fork in the reverse order, so core.c's come first. */
__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(await_sleep, NULL, NULL);
}
