/* How bytes cross the wire: plain sockets now; TLS would be one more type with a context of its own.
 *
 * No function blocks or needs the GVL. read, write and send_file return octets moved, CUTTLE_WANT_READ or
 * CUTTLE_WANT_WRITE when the descriptor must first be ready in that direction (TLS may want either one for either
 * operation), or CUTTLE_FAILED with errno. */
#ifndef CUTTLE_TRANSPORT_H
#define CUTTLE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { CUTTLE_FAILED = -1, CUTTLE_WANT_READ = -2, CUTTLE_WANT_WRITE = -3 };

struct cuttle_transport;

struct cuttle_transport_type {
	/* 0: the peer sent its last octet. Fewer octets than room: there are no more for now. */
	ssize_t (*read)(struct cuttle_transport *transport, char *into, size_t room);
	ssize_t (*write)(struct cuttle_transport *transport, const struct iovec *parts, int count);
	/* Sends length octets of file from offset; 0: the file has no more. */
	ssize_t (*send_file)(struct cuttle_transport *transport, int file, uint64_t offset, size_t length);
	/* No more output: the peer reads to the end. */
	void (*finish)(struct cuttle_transport *transport);
	/* Ends it, with its descriptor. */
	void (*close)(struct cuttle_transport *transport);
	/* Gives up a descriptor that carries the application's octets as they are, and everything else.
	 * Returns it, or -1 with errno. */
	int (*release)(struct cuttle_transport *transport);
};

/* One connection's wire. */
struct cuttle_transport {
	const struct cuttle_transport_type *type;
	void *context; /* the type's own, NULL for plain sockets */
	int fd;
};

extern const struct cuttle_transport_type cuttle_plain_transport;

#endif
