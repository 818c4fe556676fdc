/* Passes connections to another process: a datagram with the descriptor (SCM_RIGHTS, unix(7)), what its new owner has
 * to know about it, and the octets that were read from it. No Ruby.
 *
 * Each worker has a relay, a pair of Unix sockets that all workers inherit: the others send, it receives. A message
 * that its worker does not receive stays there, and any process that has the relay can take it. */
#ifndef CUTTLE_RELAY_H
#define CUTTLE_RELAY_H

#include "peer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define CUTTLE_PARCEL_ROOM 16384 /* the most octets that go with a connection */
#define CUTTLE_PARCEL_PARTS 3    /* where its sender has them: a head, a body, what follows them */

struct cuttle_relay {
	int receive, send;
};

/* A connection whose request is complete. Times are nanoseconds on the monotonic clock, which is the same in all
 * processes. */
struct cuttle_parcel {
	struct cuttle_peer client;
	uint64_t accepted, first_octet, complete;
	uint64_t backlog, served; /* as in struct cuttle_connection */
	uint32_t size;            /* number of octets */
	bool timed, trusted, secure;
};

/* Opens a relay. Returns 0, or -1 with errno: ENOTSUP on a system that can't pass descriptors this way. */
int cuttle_relay_open(struct cuttle_relay *relay);
void cuttle_relay_close(struct cuttle_relay *relay);

/* Sends a descriptor, which stays open here, with the octets of all parts, which are parcel->size. Returns false if the
 * relay takes no more. */
bool cuttle_relay_send(const struct cuttle_relay *relay, int fd, const struct cuttle_parcel *parcel,
		       const struct iovec parts[CUTTLE_PARCEL_PARTS]);

/* Whether there is a descriptor left for a message; if not, errno says EMFILE or ENFILE. */
bool cuttle_relay_has_room(const struct cuttle_relay *relay);
/* Receives a message. Returns its descriptor, or -1 with errno: EAGAIN if there is none, EMFILE or ENFILE if there is
 * no descriptor left for it, and the message stays; EBADMSG if it was lost, because another thread took that
 * descriptor's number meanwhile. */
int cuttle_relay_receive(const struct cuttle_relay *relay, struct cuttle_parcel *parcel,
			 char octets[CUTTLE_PARCEL_ROOM]);

#endif
