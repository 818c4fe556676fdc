/* A disk in the hands of a test: preloaded into a server, it has pwrite fail or wait for files below CUTTLE_DISK. How,
 * says the first word of the file CUTTLE_DISK.mode, at each call: "hold" waits until it says something else, "full" and
 * "broken" fail, "short" writes at most 1,000 octets and reports a signal every other time, "unnamed" has no
 * O_TMPFILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int says(const char *word)
{
	char path[512], text[32];
	const char *directory = getenv("CUTTLE_DISK");
	ssize_t count;
	int file;

	snprintf(path, sizeof path, "%s.mode", directory ? directory : "");
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	count = read(file, text, sizeof text - 1);
	close(file);
	text[count > 0 ? count : 0] = 0;
	return strcmp(text, word) == 0;
}

static int ours(int file)
{
	char path[64], target[512];
	const char *directory = getenv("CUTTLE_DISK");
	ssize_t count;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	count = readlink(path, target, sizeof target - 1);
	if (!directory || count < 0)
		return 0;
	target[count] = 0;
	return strncmp(target, directory, strlen(directory)) == 0 && target[strlen(directory)] == '/';
}

static ssize_t write_at(const char *name, int file, const void *octets, size_t count, off64_t at)
{
	static __thread unsigned calls;
	ssize_t (*real)(int, const void *, size_t, off64_t) =
		(ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, name);

	if (ours(file)) {
		struct timespec moment = {.tv_nsec = 2000000};

		while (says("hold"))
			nanosleep(&moment, NULL);
		errno = says("full") ? ENOSPC : says("broken") ? EIO : 0;
		if (errno)
			return -1;
		if (says("short")) {
			count = count > 1000 ? 1000 : count;
			errno = EINTR;
			if (++calls % 2)
				return -1;
		}
	}
	return real(file, octets, count, at);
}

ssize_t pwrite(int file, const void *octets, size_t count, off_t at)
{
	return write_at("pwrite", file, octets, count, at);
}

ssize_t pwrite64(int file, const void *octets, size_t count, off64_t at)
{
	return write_at("pwrite64", file, octets, count, at);
}

int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
	mode_t mode = 0;
	va_list more;

	va_start(more, flags);
	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(more, mode_t);
	va_end(more);
	if ((flags & O_TMPFILE) == O_TMPFILE && says("unnamed")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return real(path, flags, mode);
}
