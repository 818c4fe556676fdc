/* poll(2), for systems without anything better. Arrays under a lock hold the interest. A waiting thread polls a copy of
 * them, so a change wakes it to make a new copy. A reported direction must be armed to be reported again. */
#include "backend.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PERMANENT = 1 }; /* flags: a listener stays wanted after a report */

struct entry {
	uint64_t token;
	uint8_t flags;
};

struct cuttle_backend {
	pthread_mutex_t lock;
	struct pollfd *wanted; /* [0] is the waker; parallel to entries */
	struct entry *entries;
	int *slots; /* by descriptor: its index in wanted; 0: none */
	int count, room, slot_room;
	int waiting; /* number of threads that poll a copy */
	int last;    /* index of the entry that was reported last */
	int waker[2];
};

static void close_waker(struct cuttle_backend *backend)
{
	if (backend->waker[0] >= 0) {
		close(backend->waker[0]);
		close(backend->waker[1]);
	}
	backend->waker[0] = backend->waker[1] = -1;
}

static void poll_backend_abandon(struct cuttle_backend *backend)
{
	close_waker(backend);
	pthread_mutex_init(&backend->lock, NULL); /* a thread that is not here may hold it */
}

static void poll_backend_close(struct cuttle_backend *backend)
{
	close_waker(backend);
	pthread_mutex_destroy(&backend->lock);
	free(backend->wanted);
	free(backend->entries);
	free(backend->slots);
	free(backend);
}

static bool make_room(struct cuttle_backend *backend, int fd)
{
	if (backend->count == backend->room) {
		int room = backend->room ? backend->room * 2 : 64;
		struct pollfd *wanted = realloc(backend->wanted, (size_t)room * sizeof *wanted);
		struct entry *entries;

		if (!wanted)
			return false;
		backend->wanted = wanted;
		entries = realloc(backend->entries, (size_t)room * sizeof *entries);
		if (!entries)
			return false;
		backend->entries = entries;
		backend->room = room;
	}
	if (fd >= backend->slot_room) {
		int room = fd + 64;
		int *slots = realloc(backend->slots, (size_t)room * sizeof *slots);

		if (!slots)
			return false;
		memset(slots + backend->slot_room, 0, (size_t)(room - backend->slot_room) * sizeof *slots);
		backend->slots = slots;
		backend->slot_room = room;
	}
	return true;
}

static void poll_backend_wake(struct cuttle_backend *backend)
{
	int saved = errno;

	(void)!write(backend->waker[1], "", 1);
	errno = saved;
}

static void changed(struct cuttle_backend *backend)
{
	if (backend->waiting)
		poll_backend_wake(backend);
}

static short poll_events(uint32_t wanted)
{
	return (short)(((wanted & CUTTLE_READ) ? POLLIN : 0) | ((wanted & CUTTLE_WRITE) ? POLLOUT : 0));
}

static int enter(struct cuttle_backend *backend, int fd, uint64_t token, uint32_t wanted, uint8_t flags)
{
	int slot;

	pthread_mutex_lock(&backend->lock);
	if (!make_room(backend, fd)) {
		pthread_mutex_unlock(&backend->lock);
		errno = ENOMEM;
		return -1;
	}
	slot = backend->slots[fd];
	if (!slot) {
		slot = backend->slots[fd] = backend->count++;
		backend->wanted[slot].events = 0;
	}
	backend->wanted[slot].fd = fd;
	backend->wanted[slot].events = poll_events(wanted);
	backend->entries[slot] = (struct entry){.token = token, .flags = flags};
	changed(backend);
	pthread_mutex_unlock(&backend->lock);
	return 0;
}

static struct cuttle_backend *poll_backend_open(void)
{
	struct cuttle_backend *backend = calloc(1, sizeof *backend);

	if (!backend)
		return NULL;
	pthread_mutex_init(&backend->lock, NULL);
	if (pipe(backend->waker) < 0) {
		backend->waker[0] = -1;
		poll_backend_close(backend);
		return NULL;
	}
	for (int side = 0; side < 2; side++) {
		fcntl(backend->waker[side], F_SETFD, FD_CLOEXEC);
		fcntl(backend->waker[side], F_SETFL, O_NONBLOCK);
	}
	if (enter(backend, backend->waker[0], 0, CUTTLE_READ, PERMANENT) < 0) {
		poll_backend_close(backend);
		return NULL;
	}
	return backend;
}

static int poll_backend_add(struct cuttle_backend *backend, int fd, uint64_t token)
{
	return enter(backend, fd, token, CUTTLE_READ | CUTTLE_WRITE, 0);
}

static int poll_backend_add_listener(struct cuttle_backend *backend, int fd, uint64_t token)
{
	return enter(backend, fd, token, CUTTLE_READ, PERMANENT);
}

static int poll_backend_watch(struct cuttle_backend *backend, int fd, uint64_t token, uint32_t wanted)
{
	return enter(backend, fd, token, wanted, 0);
}

static void poll_backend_arm(struct cuttle_backend *backend, int fd, uint32_t wanted)
{
	int slot;

	pthread_mutex_lock(&backend->lock);
	slot = fd < backend->slot_room ? backend->slots[fd] : 0;
	if (slot && (backend->wanted[slot].events & poll_events(wanted)) != poll_events(wanted)) {
		backend->wanted[slot].events = (short)(backend->wanted[slot].events | poll_events(wanted));
		changed(backend);
	}
	pthread_mutex_unlock(&backend->lock);
}

static void poll_backend_remove(struct cuttle_backend *backend, int fd)
{
	int slot, last;

	pthread_mutex_lock(&backend->lock);
	slot = fd < backend->slot_room ? backend->slots[fd] : 0;
	if (slot) {
		last = --backend->count;
		backend->wanted[slot] = backend->wanted[last];
		backend->entries[slot] = backend->entries[last];
		backend->slots[backend->wanted[slot].fd] = slot;
		backend->slots[fd] = 0;
		changed(backend);
	}
	pthread_mutex_unlock(&backend->lock);
}

static uint32_t readiness(short events)
{
	return ((events & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) ? CUTTLE_READ : 0) |
	       ((events & (POLLOUT | POLLHUP | POLLERR | POLLNVAL)) ? CUTTLE_WRITE : 0) |
	       ((events & (POLLHUP | POLLERR | POLLNVAL)) ? CUTTLE_HANGUP | CUTTLE_GONE : 0);
}

/* What a waiting thread polls: a copy of the interest, with each descriptor's token at that time. */
struct copy {
	int count;
	struct pollfd *polled;
	uint64_t *tokens;
};

/* Copies the interest. Called under the lock. Returns false if out of memory. */
static bool make_copy(const struct cuttle_backend *backend, struct copy *copy)
{
	size_t count = (size_t)backend->count;

	copy->count = backend->count;
	copy->tokens = malloc(count * (sizeof *copy->tokens + sizeof *copy->polled));
	if (!copy->tokens)
		return false;
	copy->polled = (struct pollfd *)(copy->tokens + count);
	memcpy(copy->polled, backend->wanted, count * sizeof *copy->polled);
	for (int index = 1; index < copy->count; index++) {
		copy->tokens[index] = backend->entries[index].token;
		if (!copy->polled[index].events)
			copy->polled[index].fd = -1; /* not wanted: its hang-up would make poll spin */
	}
	return true;
}

/* Reports what the copy found, except for descriptors that were removed (the number may be reused) or are no longer
 * wanted. Goes on behind the last report, so that each has its turn if room is for fewer. Called under the lock. */
static int collect(struct cuttle_backend *backend, const struct copy *copy, struct cuttle_event *events, int room)
{
	int others = copy->count - 1, first = backend->last, kept = 0;

	for (int step = 0; step < others && kept < room; step++) {
		int index = 1 + (first + step) % others;
		int fd = copy->polled[index].fd;
		short found = copy->polled[index].revents;
		int slot = found && fd < backend->slot_room ? backend->slots[fd] : 0;
		struct pollfd *wanted = &backend->wanted[slot];

		if (!slot || backend->entries[slot].token != copy->tokens[index])
			continue;
		if (!(found & (wanted->events | POLLHUP | POLLERR | POLLNVAL)) || !wanted->events)
			continue;
		events[kept].token = backend->entries[slot].token;
		events[kept++].ready = readiness(found);
		backend->last = index;
		if (!(backend->entries[slot].flags & PERMANENT))
			wanted->events =
				(short)((found & (POLLHUP | POLLERR | POLLNVAL)) ? 0 : wanted->events & ~found);
	}
	return kept;
}

static int poll_backend_wait(struct cuttle_backend *backend, struct cuttle_event *events, int room, int64_t timeout)
{
	int64_t milliseconds = timeout < 0 ? -1
					   : (timeout + (int64_t)CUTTLE_MILLISECOND - 1) / (int64_t)CUTTLE_MILLISECOND;
	struct copy copy;
	int kept = 0;
	bool interrupted;
	char drained[64];

	pthread_mutex_lock(&backend->lock);
	if (!make_copy(backend, &copy)) {
		pthread_mutex_unlock(&backend->lock);
		return 0;
	}
	backend->waiting++;
	pthread_mutex_unlock(&backend->lock);

	interrupted = poll(copy.polled, (nfds_t)copy.count, milliseconds > 60000 ? 60000 : (int)milliseconds) < 0;

	pthread_mutex_lock(&backend->lock);
	backend->waiting--;
	/* A wake is for every waiting thread, since all copies may be old. The last one consumes it. */
	if (!interrupted && copy.polled[0].revents && timeout != 0 && backend->waiting == 0)
		while (read(backend->waker[0], drained, sizeof drained) == (ssize_t)sizeof drained)
			continue;
	if (!interrupted)
		kept = collect(backend, &copy, events, room);
	pthread_mutex_unlock(&backend->lock);
	free(copy.tokens);
	return interrupted ? -1 : kept;
}

const struct cuttle_backend_type cuttle_poll_backend = {
	.name = "poll",
	.open = poll_backend_open,
	.close = poll_backend_close,
	.abandon = poll_backend_abandon,
	.add = poll_backend_add,
	.add_listener = poll_backend_add_listener,
	.watch = poll_backend_watch,
	.arm = poll_backend_arm,
	.remove = poll_backend_remove,
	.wait = poll_backend_wait,
	.wake = poll_backend_wake,
};
