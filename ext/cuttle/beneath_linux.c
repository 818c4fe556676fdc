/* Linux's calls for files beneath a root: openat2(2), which enforces the law in the kernel, and how openat2 and
 * preadv2(2) say "not without waiting for a disk". Only this file makes Linux calls. On other systems the functions
 * return -ENOSYS. */
#include "beneath.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Defined here because an older C library lacks them. A kernel that lacks the call returns ENOSYS. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define NO_MAGIC_LINKS 0x02
#define BENEATH 0x08
#define CACHED 0x20

struct how {
	uint64_t flags, mode, resolve;
};

int cuttle_beneath_openat2(int root, const char *path, bool only_cached)
{
	struct how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = BENEATH | NO_MAGIC_LINKS | (only_cached ? CACHED : 0),
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

/* Probes by trying, because a sandbox may refuse what the kernel has, with any error. */
enum cuttle_beneath_way cuttle_beneath_probe(int root)
{
	int cached, fd = cuttle_beneath_openat2(root, ".", false);

	if (fd < 0)
		return CUTTLE_BENEATH_WALK;
	close(fd);
	cached = cuttle_beneath_openat2(root, ".", true);
	if (cached >= 0)
		close(cached);
	return cached >= 0 || cached == -EAGAIN ? CUTTLE_BENEATH_OPENAT2_FAST : CUTTLE_BENEATH_OPENAT2;
}

ssize_t cuttle_beneath_read_cached(int fd, void *bytes, size_t length, off_t offset)
{
#ifdef RWF_NOWAIT
	struct iovec vector = {.iov_base = bytes, .iov_len = length};
	ssize_t n = preadv2(fd, &vector, 1, offset, RWF_NOWAIT);

	return n < 0 ? -errno : n;
#else
	return -ENOSYS;
#endif
}

#else

int cuttle_beneath_openat2(int root, const char *path, bool only_cached)
{
	(void)root, (void)path, (void)only_cached;
	return -ENOSYS;
}

enum cuttle_beneath_way cuttle_beneath_probe(int root)
{
	(void)root;
	return CUTTLE_BENEATH_WALK;
}

ssize_t cuttle_beneath_read_cached(int fd, void *bytes, size_t length, off_t offset)
{
	(void)fd, (void)bytes, (void)length, (void)offset;
	return -ENOSYS;
}

#endif
