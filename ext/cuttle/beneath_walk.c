/* Opens a path beneath a root if the kernel can't. It opens each name in the directory before it, and never through a
 * link. It reads a link and walks the link's text in its place.
 *
 *     rest:  what is still to walk              "css/../a/b"
 *     done:  names walked, none of them a link  "assets/"
 *     at:    the directory that done led to
 *
 * ".." is not left to the file system, because a directory may be moved out while it is open. Instead the walk starts
 * again at the root with one name less. */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINKS 40  /* Linux's limit */
#define MAX_CLIMBS 64 /* each costs a walk from the root */

/* Passing through a directory needs only the right to search it. */
#if defined(O_PATH)
#define SEARCH O_PATH
#elif defined(O_SEARCH)
#define SEARCH O_SEARCH
#else
#define SEARCH O_RDONLY
#endif

#define PASS_FLAGS (SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

struct walk {
	int root, at, found;
	unsigned links, climbs;
	size_t done_length;
	char done[CUTTLE_BENEATH_PATH], rest[CUTTLE_BENEATH_PATH];
};

static void move_to(struct walk *walk, int fd)
{
	if (walk->at != walk->root)
		close(walk->at);
	walk->at = fd;
}

/* Puts length octets of text and a "/" in front of the rest. */
static int prepend(struct walk *walk, const char *text, size_t length)
{
	size_t rest = strlen(walk->rest);

	if (length + 1 + rest >= sizeof walk->rest)
		return -ENAMETOOLONG;
	memmove(walk->rest + length + 1, walk->rest, rest + 1);
	memcpy(walk->rest, text, length);
	walk->rest[length] = '/';
	return 0;
}

/* Takes the next name off the rest. *last: nothing follows it, not even a "/". Returns false at the end. */
static bool take_name(struct walk *walk, char *name, bool *last)
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");

	*last = start[length] == '\0';
	memcpy(name, start, length);
	name[length] = '\0';
	memmove(walk->rest, start + length, strlen(start + length) + 1);
	return length > 0;
}

static int climb(struct walk *walk)
{
	size_t kept = walk->done_length;

	if (kept == 0)
		return -EXDEV;
	if (++walk->climbs > MAX_CLIMBS)
		return -ELOOP;
	do {
		kept--;
	} while (kept > 0 && walk->done[kept - 1] != '/');
	move_to(walk, walk->root);
	walk->done_length = 0;
	return prepend(walk, walk->done, kept);
}

static int pass(struct walk *walk, const char *name)
{
	size_t length = strlen(name);
	int fd;

	if (walk->done_length + length + 1 >= sizeof walk->done)
		return -ENAMETOOLONG;
	fd = openat(walk->at, name, PASS_FLAGS);
	if (fd < 0)
		return -errno;
	move_to(walk, fd);
	memcpy(walk->done + walk->done_length, name, length);
	walk->done[walk->done_length + length] = '/';
	walk->done_length += length + 1;
	return 0;
}

/* Handles a name that could not be opened. Systems disagree on the error for a link, so this checks whether it is one.
 * last: the link stood at the end and so may lead to a file. Returns error if there is no link. */
static int follow(struct walk *walk, const char *name, bool last, int error)
{
	char target[CUTTLE_BENEATH_PATH];
	ssize_t length = readlinkat(walk->at, name, target, sizeof target);

	if (length <= 0)
		return error;
	if (++walk->links > MAX_LINKS)
		return -ELOOP;
	if (*target == '/')
		return -EXDEV;
	if ((size_t)length >= sizeof target)
		return -ENAMETOOLONG;
	if (!last)
		return prepend(walk, target, (size_t)length);
	memcpy(walk->rest, target, (size_t)length);
	walk->rest[length] = '\0';
	return 0;
}

/* Walks one name further. Returns 0 to go on, or at the end, with the descriptor in walk->found. */
static int step(struct walk *walk)
{
	char name[CUTTLE_BENEATH_PATH];
	bool last;
	int error;

	if (!take_name(walk, name, &last)) { /* the path ended in a directory */
		walk->found = openat(walk->at, ".", READ_FLAGS | O_DIRECTORY);
		return walk->found < 0 ? -errno : 0;
	}
	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, ".."))
		return climb(walk);
	if (!last)
		return (error = pass(walk, name)) < 0 ? follow(walk, name, false, error) : 0;
	walk->found = openat(walk->at, name, READ_FLAGS);
	return walk->found < 0 ? follow(walk, name, true, -errno) : 0;
}

int cuttle_beneath_walk(int root, const char *path)
{
	struct walk walk = {.root = root, .at = root, .found = -1};
	size_t length = strlen(path);
	int error;

	if (*path == '/')
		return -EXDEV;
	if (length >= sizeof walk.rest)
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, length + 1);
	do {
		error = step(&walk);
	} while (!error && walk.found < 0);
	move_to(&walk, root);
	return error ? error : walk.found;
}
