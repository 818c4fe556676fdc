/* How octets cross the wire. There is one type, plain sockets. TLS would be a second type with its own context.
 *
 * No function blocks or needs the GVL. read, write and send_file return the octets moved; CUTTLE_WANT_READ
 * or CUTTLE_WANT_WRITE if the descriptor must first be ready in that direction (TLS may want either one for either
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
	/* Returns 0 after the peer's last octet. Fewer octets than room mean that there are no more for now. */
	ssize_t (*read)(struct cuttle_transport *transport, char *into, size_t room);
	ssize_t (*write)(struct cuttle_transport *transport, const struct iovec *parts, int count);
	/* Sends length octets of file from offset. Returns 0 if the file has no more. */
	ssize_t (*send_file)(struct cuttle_transport *transport, int file, uint64_t offset, size_t length);
	/* Ends the output. The peer can read to the end. */
	void (*finish)(struct cuttle_transport *transport);
	/* Frees the context and closes the descriptor. */
	void (*close)(struct cuttle_transport *transport);
	/* Frees the context and returns the descriptor, if it carries the application's octets as they are.
	 * Otherwise returns -1 with errno. */
	int (*release)(struct cuttle_transport *transport);
};

/* The transport of one connection. */
struct cuttle_transport {
	const struct cuttle_transport_type *type;
	void *context; /* belongs to the type; NULL for plain sockets */
	int fd;
};

extern const struct cuttle_transport_type cuttle_plain_transport;

#endif
