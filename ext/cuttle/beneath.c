/* Files beneath a root: chooses the way to open them and handles its results. beneath.h states the law. */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROOT_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define CHECK_EVERY 100 /* milliseconds */
#define RACES 8         /* concurrent renames after which an open gives up */

static uint64_t milliseconds(void)
{
	struct timespec now;

#ifdef CLOCK_MONOTONIC_COARSE
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
	clock_gettime(CLOCK_MONOTONIC, &now);
#endif
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Makes fd the root and records which directory it is. */
static int adopt(struct cuttle_beneath *beneath, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	beneath->fd = fd;
	beneath->device = status.st_dev;
	beneath->inode = status.st_ino;
	beneath->checked = milliseconds();
	return 0;
}

int cuttle_beneath_init(struct cuttle_beneath *beneath, const char *root, bool portable)
{
	int error, fd = open(root, ROOT_FLAGS);

	if (fd < 0)
		return -errno;
	error = adopt(beneath, fd);
	if (!error && !(beneath->root = strdup(root)))
		error = -ENOMEM;
	if (error) {
		close(fd);
		beneath->fd = -1;
		return error;
	}
	beneath->way = portable ? CUTTLE_BENEATH_WALK : cuttle_beneath_probe(fd);
	return 0;
}

void cuttle_beneath_free(struct cuttle_beneath *beneath)
{
	if (beneath->fd >= 0)
		close(beneath->fd);
	free(beneath->root);
	beneath->fd = -1;
	beneath->root = NULL;
}

/* Replaces the old root by the directory that has its name now. The descriptor keeps its number, because a thread that
 * waits for a disk may be about to use it. */
static int reopen(struct cuttle_beneath *beneath)
{
	int error, fd = open(beneath->root, ROOT_FLAGS);

	if (fd < 0)
		return -errno;
#ifdef __linux__
	error = dup3(fd, beneath->fd, O_CLOEXEC) < 0 ? -errno : 0;
#else
	error = dup2(fd, beneath->fd) < 0 || fcntl(beneath->fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
#endif
	close(fd);
	return error ? error : adopt(beneath, beneath->fd);
}

int cuttle_beneath_refresh(struct cuttle_beneath *beneath)
{
	uint64_t now = milliseconds();
	struct stat status;

	if (now - beneath->checked < CHECK_EVERY)
		return 0;
	if (stat(beneath->root, &status) < 0)
		return -errno;
	if (status.st_dev != beneath->device || status.st_ino != beneath->inode)
		return reopen(beneath);
	beneath->checked = now;
	return 0;
}

static int try_open(const struct cuttle_beneath *beneath, const char *path, bool wait)
{
	if (*path == '\0')
		return -ENOENT;
	if (!wait && beneath->way != CUTTLE_BENEATH_OPENAT2_FAST)
		return -EAGAIN;
	if (beneath->way == CUTTLE_BENEATH_WALK)
		return cuttle_beneath_walk(beneath->fd, path);
	return cuttle_beneath_openat2(beneath->fd, path, !wait);
}

/* Retries on EAGAIN: the kernel also returns it when a rename elsewhere kept it from proving that ".." stayed beneath
 * the root. */
static int open_path(const struct cuttle_beneath *beneath, const char *path, bool wait)
{
	int fd, races = 0;

	do {
		fd = try_open(beneath, path, wait);
	} while (wait && (fd == -EINTR || (fd == -EAGAIN && ++races < RACES)));
	return fd;
}

int cuttle_beneath_open(const struct cuttle_beneath *beneath, const char *path, bool wait, int *fd, struct stat *status)
{
	int error = 0, opened = open_path(beneath, path, wait);

	*fd = -1;
	if (opened < 0)
		return opened;
	if (fstat(opened, status) < 0)
		error = -errno;
	else if (S_ISREG(status->st_mode))
		*fd = opened;
	else if (!S_ISDIR(status->st_mode))
		error = -ENXIO;
	if (*fd < 0)
		close(opened);
	return error;
}

ssize_t cuttle_beneath_read(int fd, void *bytes, size_t length, off_t offset, bool wait)
{
	size_t total = 0;

	if (!wait)
		return cuttle_beneath_read_cached(fd, bytes, length, offset);
	while (total < length) {
		ssize_t n = pread(fd, (char *)bytes + total, length - total, offset + (off_t)total);

		if (n == 0)
			break;
		if (n > 0)
			total += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)total;
}
