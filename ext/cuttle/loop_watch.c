/* Descriptors of the app that a loop watches for fibers. */
#include "loop_parts.h"

#include <errno.h>
#include <stdlib.h>

void cuttle_loop_note_watch(struct cuttle_loop *loop, struct cuttle_watch *watch, uint32_t ready)
{
	watch->ready |= ready;
	if (cuttle_list_empty(&watch->work))
		cuttle_list_append(&loop->fired, &watch->work);
}

void cuttle_loop_orphan(struct cuttle_loop *loop, struct cuttle_watch *watch)
{
	watch->fd = -1;
	cuttle_loop_note_watch(loop, watch, CUTTLE_READ | CUTTLE_WRITE);
}

/* The watch of a descriptor; NULL if there is none. */
static struct cuttle_watch *watch_of(const struct cuttle_registration *entry)
{
	return entry && entry->kind == CUTTLE_WATCH ? entry->owner : NULL;
}

bool cuttle_loop_watches(struct cuttle_loop *loop, int fd)
{
	return watch_of(cuttle_loop_registration(loop, fd)) != NULL;
}

int cuttle_loop_watch(struct cuttle_loop *loop, int fd, uint32_t wanted, uintptr_t token)
{
	struct cuttle_registration *entry = cuttle_loop_registration(loop, fd);
	struct cuttle_watch *watch = watch_of(entry);
	uint64_t id;

	if (fd < 0 || (entry && (entry->kind == CUTTLE_CONNECTION || entry->kind == CUTTLE_LISTENER))) {
		errno = EBADF;
		return -1;
	}
	if (!watch) {
		watch = calloc(1, sizeof *watch);
		id = watch ? cuttle_loop_enroll(loop, fd, CUTTLE_WATCH, watch) : 0;
		if (!id) {
			free(watch);
			errno = ENOMEM;
			return -1;
		}
		watch->fd = fd;
		cuttle_list_reset(&watch->work);
		cuttle_list_append(&loop->watches, &watch->all);
	} else {
		id = cuttle_loop_token(fd, entry->generation);
	}
	watch->token = token;
	watch->ready = 0;
	cuttle_list_remove(&watch->work);
	if (loop->type->watch(loop->backend, fd, id, wanted) == 0)
		return 0;
	cuttle_loop_unwatch(loop, fd);
	return -1;
}

static void free_watch(struct cuttle_watch *watch)
{
	cuttle_list_remove(&watch->all);
	cuttle_list_remove(&watch->work);
	free(watch);
}

uint32_t cuttle_loop_unwatch(struct cuttle_loop *loop, int fd)
{
	struct cuttle_watch *watch = watch_of(cuttle_loop_registration(loop, fd));
	int saved = errno;
	uint32_t seen;

	if (!watch)
		return 0;
	seen = watch->ready;
	cuttle_loop_strike(loop, fd);
	free_watch(watch);
	errno = saved;
	return seen;
}

void cuttle_loop_unwatch_all(struct cuttle_loop *loop)
{
	while (!cuttle_list_empty(&loop->watches)) {
		struct cuttle_watch *watch = CUTTLE_CONTAINER(loop->watches.next, struct cuttle_watch, all);

		if (watch->fd >= 0)
			cuttle_loop_strike(loop, watch->fd);
		free_watch(watch);
	}
}

uintptr_t cuttle_loop_fired(struct cuttle_loop *loop)
{
	struct cuttle_link *link = cuttle_list_shift(&loop->fired);
	struct cuttle_watch *watch = link ? CUTTLE_CONTAINER(link, struct cuttle_watch, work) : NULL;
	uintptr_t token = watch ? watch->token : 0;

	if (watch && watch->fd < 0)
		free_watch(watch); /* nobody can unwatch it by its number */
	return token;
}
