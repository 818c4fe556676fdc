/* What Linux does for files beneath a root: openat2(2), which keeps the law in the kernel, and its and preadv2(2)'s
 * way to say "not without waiting for a disk". The only Linux calls; elsewhere each answers ENOSYS. */
#include "beneath.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* By hand, for the C library of an older system lacks them; a kernel that does says ENOSYS. */
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

/* By trying, for a sandbox may refuse what the kernel has, with any error. */
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
	struct iovec vector = { .iov_base = bytes, .iov_len = length };
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
