/* How the loop waits for readiness: one small file per system call (backend_epoll.c, backend_poll.c).
 *
 * The law suits edge-triggered and one-shot systems alike. Readiness that exists after add or arm is reported at least
 * once; it may not be reported again until the direction is armed again. So a caller remembers what was reported, and
 * arms a direction after it saw EAGAIN (or a short read) there.
 *
 * One thread may call wait while others call add, arm, remove and wake. Two threads may also wait at once (one of them
 * with timeout 0): each report goes to one of them. A report may concern a descriptor that was removed meanwhile. So a
 * token (never 0) names a registration and is never a pointer. */
#ifndef CUTTLE_BACKEND_H
#define CUTTLE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CUTTLE_READ = 1,
	CUTTLE_WRITE = 2,
	CUTTLE_HANGUP = 4, /* the peer closed at least its sending side: read to the end */
	CUTTLE_GONE = 8,   /* the connection was reset, or both sides are closed */
};

struct cuttle_event {
	uint64_t token;
	uint32_t ready;
};

struct cuttle_backend; /* defined by each file */

struct cuttle_backend_type {
	const char *name;
	struct cuttle_backend *(*open)(void); /* returns NULL with errno */
	void (*close)(struct cuttle_backend *);
	/* In a forked child: closes the child's copies of the descriptors and changes nothing that the parent shares.
	 * Only close may be called afterwards. Async-signal-safe. */
	void (*abandon)(struct cuttle_backend *);
	/* Adds a connection: both directions are watched, as if armed. Returns 0, or -1 with errno. */
	int (*add)(struct cuttle_backend *, int fd, uint64_t token);
	/* Adds a listener: reported while a connection waits, and to as few waiting processes as the system can. */
	int (*add_listener)(struct cuttle_backend *, int fd, uint64_t token);
	/* Watches a descriptor of the app: reports the wanted directions once, together. Call again to change them. */
	int (*watch)(struct cuttle_backend *, int fd, uint64_t token, uint32_t wanted);
	void (*arm)(struct cuttle_backend *, int fd, uint32_t wanted);
	void (*remove)(struct cuttle_backend *, int fd);
	bool drops_closed; /* a descriptor that is closed next needs no remove */
	/* Fills events. Waits at most timeout nanoseconds (0: not at all; < 0: for ever), or until wake. Returns the
	 * number of events, or -1 when a signal arrived. */
	int (*wait)(struct cuttle_backend *, struct cuttle_event *events, int room, int64_t timeout);
	void (*wake)(struct cuttle_backend *); /* async-signal-safe */
};

/* Returns the back end of that name, the best one for NULL, or NULL if this system has none of that name. */
const struct cuttle_backend_type *cuttle_backend_named(const char *name);

/* Returns this system's back ends, the best one first; NULL ends the array. */
const struct cuttle_backend_type *const *cuttle_backends(void);

#endif
