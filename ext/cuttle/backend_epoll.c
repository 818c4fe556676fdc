/* epoll(7). Connections are registered once and edge-triggered, so a request costs no epoll_ctl. Listeners are
 * level-triggered and not exclusive: the process that woke may leave the connection to another, which must see it too.
 * This is the only file that uses epoll or eventfd. */
#ifdef __linux__

#include "backend.h"
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct cuttle_backend {
	int epoll, event;
};

static void epoll_backend_abandon(struct cuttle_backend *backend)
{
	if (backend->epoll >= 0)
		close(backend->epoll);
	if (backend->event >= 0)
		close(backend->event);
	backend->epoll = backend->event = -1;
}

static void epoll_backend_close(struct cuttle_backend *backend)
{
	epoll_backend_abandon(backend);
	free(backend);
}

static struct cuttle_backend *epoll_backend_open(void)
{
	struct cuttle_backend *backend = malloc(sizeof *backend);
	struct epoll_event waker = {.events = EPOLLIN, .data.u64 = 0};

	if (!backend)
		return NULL;
	backend->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	backend->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (backend->event < 0 || backend->epoll < 0 ||
	    epoll_ctl(backend->epoll, EPOLL_CTL_ADD, backend->event, &waker) < 0) {
		epoll_backend_close(backend);
		return NULL;
	}
	return backend;
}

static int control(struct cuttle_backend *backend, int operation, int fd, uint64_t token, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u64 = token};

	return epoll_ctl(backend->epoll, operation, fd, &event);
}

static int epoll_backend_add(struct cuttle_backend *backend, int fd, uint64_t token)
{
	return control(backend, EPOLL_CTL_ADD, fd, token, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

static int epoll_backend_add_listener(struct cuttle_backend *backend, int fd, uint64_t token)
{
	return control(backend, EPOLL_CTL_ADD, fd, token, EPOLLIN);
}

static int epoll_backend_watch(struct cuttle_backend *backend, int fd, uint64_t token, uint32_t wanted)
{
	uint32_t events = EPOLLONESHOT | ((wanted & CUTTLE_READ) ? EPOLLIN | EPOLLRDHUP : 0) |
			  ((wanted & CUTTLE_WRITE) ? EPOLLOUT : 0);

	if (control(backend, EPOLL_CTL_ADD, fd, token, events) == 0) /* a watch lasts for one wait, mostly */
		return 0;
	return errno == EEXIST ? control(backend, EPOLL_CTL_MOD, fd, token, events) : -1;
}

/* Does nothing: an edge-triggered descriptor reports its next edge anyway. */
static void epoll_backend_arm(struct cuttle_backend *backend, int fd, uint32_t wanted)
{
	(void)backend, (void)fd, (void)wanted;
}

static void epoll_backend_remove(struct cuttle_backend *backend, int fd)
{
	epoll_ctl(backend->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static uint32_t readiness(uint32_t events)
{
	return ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) ? CUTTLE_READ : 0) |
	       ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) ? CUTTLE_WRITE : 0) |
	       ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ? CUTTLE_READ | CUTTLE_HANGUP : 0) |
	       ((events & (EPOLLHUP | EPOLLERR)) ? CUTTLE_GONE : 0);
}

/* Waits as long as is asked for, or to the next millisecond if the C library or the kernel is too old. An old container
 * runtime refuses the call. */
static int wait_for(const struct cuttle_backend *backend, struct epoll_event *found, int room, int64_t timeout)
{
	int64_t milliseconds = timeout < 0 ? -1
					   : (timeout + (int64_t)CUTTLE_MILLISECOND - 1) / (int64_t)CUTTLE_MILLISECOND;

#ifdef HAVE_EPOLL_PWAIT2
	if (timeout > 0) {
		struct timespec precisely = {.tv_sec = timeout / (int64_t)CUTTLE_SECOND,
					     .tv_nsec = timeout % (int64_t)CUTTLE_SECOND};
		int count = epoll_pwait2(backend->epoll, found, room, &precisely, NULL);

		if (count >= 0 || (errno != ENOSYS && errno != EPERM))
			return count;
	}
#endif
	return epoll_wait(backend->epoll, found, room, milliseconds > 60000 ? 60000 : (int)milliseconds);
}

static int epoll_backend_wait(struct cuttle_backend *backend, struct cuttle_event *events, int room, int64_t timeout)
{
	struct epoll_event found[128];
	int count = wait_for(backend, found, room < 128 ? room : 128, timeout);
	int index, kept = 0;

	for (index = 0; index < count; index++) {
		if (found[index].data.u64) {
			events[kept].token = found[index].data.u64;
			events[kept++].ready = readiness(found[index].events);
		} else if (timeout != 0) { /* a look leaves the wake to sleeping threads */
			uint64_t wakes;

			(void)!read(backend->event, &wakes, sizeof wakes);
		}
	}
	return count < 0 ? -1 : kept;
}

static void epoll_backend_wake(struct cuttle_backend *backend)
{
	uint64_t one = 1;
	int saved = errno;

	(void)!write(backend->event, &one, sizeof one);
	errno = saved;
}

const struct cuttle_backend_type cuttle_epoll_backend = {
	.name = "epoll",
	.open = epoll_backend_open,
	.close = epoll_backend_close,
	.abandon = epoll_backend_abandon,
	.add = epoll_backend_add,
	.add_listener = epoll_backend_add_listener,
	.watch = epoll_backend_watch,
	.arm = epoll_backend_arm,
	.remove = epoll_backend_remove,
	.drops_closed = true, /* at the latest when a child has closed its copy, and no report of that finds an owner */
	.wait = epoll_backend_wait,
	.wake = epoll_backend_wake,
};

#endif
