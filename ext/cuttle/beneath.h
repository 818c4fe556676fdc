/* Opens files beneath one directory, the root, and nothing else: no "..", no link and no mount of names leads out.
 *
 * The law, the same for every way of opening: a relative link is followed while each of its steps stays beneath the
 * root; an absolute link, and one that climbs out (even to come back), is refused; a name is resolved by the kernel or
 * step by step on open directories, never checked first and opened later. Nothing waits: a FIFO or a device that is
 * opened is not waited for, and is closed again unless it is a regular file or a directory.
 *
 * Knows nothing of Ruby. Functions return 0 or a descriptor, or -errno. */
#ifndef CUTTLE_BENEATH_H
#define CUTTLE_BENEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The longest path, with its NUL, that is looked at. */
#define CUTTLE_BENEATH_PATH 4096

enum cuttle_beneath_way {
	CUTTLE_BENEATH_WALK,        /* openat of each name: any POSIX system */
	CUTTLE_BENEATH_OPENAT2,     /* Linux 5.6: the kernel keeps the law */
	CUTTLE_BENEATH_OPENAT2_FAST /* Linux 5.12: and can say that it would have to wait for a disk */
};

struct cuttle_beneath {
	char *root; /* the directory's name, absolute */
	int fd;     /* the directory */
	dev_t device;
	ino_t inode;
	uint64_t checked; /* milliseconds: when root was last seen to be that directory */
	enum cuttle_beneath_way way;
};

/* Opens the root. portable: never openat2. The root's name is looked up again, at most ten times a second, so that a
 * directory that was put in its place (a new release, a rebuilt site) is noticed. */
int cuttle_beneath_init(struct cuttle_beneath *beneath, const char *root, bool portable);

void cuttle_beneath_free(struct cuttle_beneath *beneath);

/* Follows a root whose name now means another directory. Not to be called by two threads at once. -ENOENT and the like
 * while there is none. */
int cuttle_beneath_refresh(struct cuttle_beneath *beneath);

/* Opens the regular file at path for reading and describes it in *status; for a directory it only describes it.
 * *fd becomes the descriptor, -1 for a directory. wait: false answers -EAGAIN where the disk would have to be waited
 * for, or where that can't be known. Any number of threads may be inside, with cuttle_beneath_refresh too.
 * -ENXIO: there is something else at path; -EXDEV: it leads out. */
int cuttle_beneath_open(const struct cuttle_beneath *beneath, const char *path, bool wait, int *fd,
			struct stat *status);

/* Reads length octets at offset. Returns how many there were, fewer only at the file's end; with wait false also where
 * the rest is not in memory (perhaps -EAGAIN). */
ssize_t cuttle_beneath_read(int fd, void *bytes, size_t length, off_t offset, bool wait);

/* The ways of Linux, in beneath_linux.c; elsewhere they say -ENOSYS. */
enum cuttle_beneath_way cuttle_beneath_probe(int root);
int cuttle_beneath_openat2(int root, const char *path, bool only_cached);
ssize_t cuttle_beneath_read_cached(int fd, void *bytes, size_t length, off_t offset);

/* The portable way, in beneath_walk.c. */
int cuttle_beneath_walk(int root, const char *path);

#endif
