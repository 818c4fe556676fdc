/* Who is at the other end of a connection, in few octets. A connection keeps it as long as it is open; its text is made
 * on demand. No Ruby. */
#ifndef CUTTLE_PEER_H
#define CUTTLE_PEER_H

#include "trust.h"

#include <assert.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

/* Room for a peer's address as text, with "%", the name of an interface, and a NUL. */
#define CUTTLE_PEER_TEXT (CUTTLE_ADDRESS_TEXT + 1 + IF_NAMESIZE)

enum cuttle_peer_kind {
	CUTTLE_PEER_UNKNOWN, /* of another kind of socket */
	CUTTLE_PEER_LOCAL,   /* of a Unix socket */
	CUTTLE_PEER_V4,
	CUTTLE_PEER_V6,
	CUTTLE_PEER_NAMED,  /* not the peer of the socket: a client that a PROXY header named */
	CUTTLE_PEER_NOBODY, /* no connection's */
};

/* Peers are equal if all octets are, so there is no padding. An IPv4 peer of a listener for both families is V6, and
 * its text says so (::ffff:192.0.2.1). */
struct cuttle_peer {
	struct cuttle_address address; /* zero unless the kind has one */
	uint32_t scope;                /* of V6: the interface of a link-local address; otherwise 0 */
	uint32_t kind;
};

static_assert(sizeof(struct cuttle_peer) == 24, "a peer has padding");

/* Whether two are the same peer. */
static inline bool cuttle_peer_same(const struct cuttle_peer *one, const struct cuttle_peer *other)
{
	return memcmp(one, other, sizeof *one) == 0;
}

/* Returns the peer of an address as accept(2) gives it. (getpeername(2) has none once the peer has reset the
 * connection, while its request can still be read.) */
struct cuttle_peer cuttle_peer_of(const struct sockaddr_storage *address);

/* Whether a peer of a socket is trusted. One that is not known isn't. */
bool cuttle_peer_is_trusted(const struct cuttle_peer *peer, const struct cuttle_trust *trust);

/* Writes the peer's IP address; 0.0.0.0 for a peer that is not known. Returns false, with nothing written, if the peer
 * has none because it is on this machine. */
bool cuttle_peer_write(const struct cuttle_peer *peer, char text[CUTTLE_PEER_TEXT]);

#endif
