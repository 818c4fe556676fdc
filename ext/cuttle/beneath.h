/* Opens files beneath one directory, the root, and nowhere else: neither "..", nor a link, nor any sequence of names
 * leads out.
 *
 * The law holds for every way of opening. A relative link is followed while each of its steps stays beneath the root.
 * An absolute link, and one that climbs out (even to come back), is refused. The kernel resolves a name, or the code
 * opens it step by step on open directories; a name is never checked first and opened later. Opening never waits for a
 * FIFO or a device; anything but a regular file or a directory is closed again.
 *
 * It knows nothing of Ruby. Functions return 0 or a descriptor, or -errno. */
#ifndef CUTTLE_BENEATH_H
#define CUTTLE_BENEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The longest path accepted, with its NUL. */
#define CUTTLE_BENEATH_PATH 4096

enum cuttle_beneath_way {
	CUTTLE_BENEATH_WALK,        /* openat for each name: any POSIX system */
	CUTTLE_BENEATH_OPENAT2,     /* Linux 5.6: the kernel enforces the law */
	CUTTLE_BENEATH_OPENAT2_FAST /* Linux 5.12: it can also report that it would wait for a disk */
};

struct cuttle_beneath {
	char *root; /* the directory's absolute name */
	int fd;     /* the directory */
	dev_t device;
	ino_t inode;
	uint64_t checked; /* milliseconds: when root was last seen to name that directory */
	enum cuttle_beneath_way way;
};

/* Opens the root. portable: never use openat2. The root's name is looked up again at most ten times a second, so that a
 * directory put in its place (a new release, a rebuilt site) is noticed. */
int cuttle_beneath_init(struct cuttle_beneath *beneath, const char *root, bool portable);

void cuttle_beneath_free(struct cuttle_beneath *beneath);

/* Follows the root's name if it now means another directory. Only one thread at a time may call it. Returns -ENOENT and
 * the like while there is none. */
int cuttle_beneath_refresh(struct cuttle_beneath *beneath);

/* Opens the regular file at path for reading and describes it in *status. A directory is only described. *fd becomes
 * the descriptor, -1 for a directory. With wait false, returns -EAGAIN if the call would have to wait for the disk, or
 * can't know. Any number of threads may call it, also during cuttle_beneath_refresh. Returns -ENXIO if path is
 * something else, and -EXDEV if it leads out. */
int cuttle_beneath_open(const struct cuttle_beneath *beneath, const char *path, bool wait, int *fd,
			struct stat *status);

/* Reads length octets at offset. Returns how many were read: fewer only at the file's end or, with wait false, if the
 * rest is not in memory (perhaps -EAGAIN). */
ssize_t cuttle_beneath_read(int fd, void *bytes, size_t length, off_t offset, bool wait);

/* Linux's ways, in beneath_linux.c. On other systems they return -ENOSYS. */
enum cuttle_beneath_way cuttle_beneath_probe(int root);
int cuttle_beneath_openat2(int root, const char *path, bool only_cached);
ssize_t cuttle_beneath_read_cached(int fd, void *bytes, size_t length, off_t offset);

/* The portable way, in beneath_walk.c. */
int cuttle_beneath_walk(int root, const char *path);

#endif
