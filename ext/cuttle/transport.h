/* How bytes cross the wire: plain sockets now; TLS would be one more table of these functions.
 *
 * Every function is non-blocking, needs no GVL, and returns octets moved, or -1 with errno (EAGAIN: not now). */
#ifndef CUTTLE_TRANSPORT_H
#define CUTTLE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct cuttle_transport {
	ssize_t (*read)(int fd, char *into, size_t room); /* 0: the peer sent its last octet */
	ssize_t (*write)(int fd, const struct iovec *parts, int count);
	/* Sends length octets of file from offset; 0: the file has no more. */
	ssize_t (*send_file)(int fd, int file, uint64_t offset, size_t length);
	void (*finish)(int fd); /* no more output: the peer reads to the end */
	void (*close)(int fd);
};

extern const struct cuttle_transport cuttle_plain_transport;

#endif
