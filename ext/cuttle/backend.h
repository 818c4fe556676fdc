/* How readiness is waited for: one small file a system call (backend_epoll.c, backend_poll.c).
 *
 * The law, which suits edge-triggered and one-shot systems alike: readiness that is there after add or arm is
 * reported at least once; whether it is reported again is open until the direction is armed again. So a caller
 * remembers what was reported, and arms a direction after it has seen EAGAIN (or a short read) there.
 *
 * wait may run in one thread while others call add, arm, remove and wake; two threads may also wait at once (one of
 * them without patience): each report goes to one of them. A report may be of a descriptor that left meanwhile, so
 * a token (not 0) names a registration, and never is a pointer. */
#ifndef CUTTLE_BACKEND_H
#define CUTTLE_BACKEND_H

#include <stdint.h>

enum {
	CUTTLE_READ = 1,
	CUTTLE_WRITE = 2,
	CUTTLE_HANGUP = 4, /* the peer closed at least its side: read on to the end */
	CUTTLE_GONE = 8,   /* the connection was reset, or both sides are closed */
};

struct cuttle_event {
	uint64_t token;
	uint32_t ready;
};

struct cuttle_backend; /* each file's own */

struct cuttle_backend_type {
	const char *name;
	struct cuttle_backend *(*open)(void); /* NULL with errno */
	void (*close)(struct cuttle_backend *);
	/* In a forked child: closes its copies of the descriptors, and changes nothing that the parent shares. All that
	 * may follow is close. Async-signal-safe. */
	void (*abandon)(struct cuttle_backend *);
	/* A connection: both directions are watched, as if armed. Returns 0, or -1 with errno. */
	int (*add)(struct cuttle_backend *, int fd, uint64_t token);
	/* A listener: reported as long as a connection waits, and to as few waiting processes as the system can. */
	int (*add_listener)(struct cuttle_backend *, int fd, uint64_t token);
	/* A descriptor of someone else's: the wanted directions are reported once, together. Again to want others. */
	int (*watch)(struct cuttle_backend *, int fd, uint64_t token, uint32_t wanted);
	void (*arm)(struct cuttle_backend *, int fd, uint32_t wanted);
	void (*remove)(struct cuttle_backend *, int fd);
	/* Fills events; waits at most timeout nanoseconds (0: not at all; < 0: for ever), or until wake. Returns their
	 * count, -1 when a signal came. */
	int (*wait)(struct cuttle_backend *, struct cuttle_event *events, int room, int64_t timeout);
	void (*wake)(struct cuttle_backend *); /* async-signal-safe */
};

extern const struct cuttle_backend_type cuttle_poll_backend;
#ifdef __linux__
extern const struct cuttle_backend_type cuttle_epoll_backend;
#endif

/* The back end of that name, the best one for NULL; NULL where this system has none of that name. */
const struct cuttle_backend_type *cuttle_backend_named(const char *name);

#endif
