/* Peers of sockets; see peer.h. */
#include "peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

struct cuttle_peer cuttle_peer_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	struct cuttle_peer peer = {.kind = CUTTLE_PEER_UNKNOWN};

	switch (address->ss_family) {
	case AF_UNIX:
		peer.kind = CUTTLE_PEER_LOCAL;
		break;
	case AF_INET:
		peer.kind = CUTTLE_PEER_V4;
		cuttle_address_from_v4(&peer.address, (const uint8_t *)&v4->sin_addr);
		break;
	case AF_INET6:
		peer.kind = CUTTLE_PEER_V6;
		peer.scope = v6->sin6_scope_id;
		memcpy(&peer.address, &v6->sin6_addr, sizeof peer.address);
		break;
	default:
		break;
	}
	return peer;
}

bool cuttle_peer_is_trusted(const struct cuttle_peer *peer, const struct cuttle_trust *trust)
{
	switch (peer->kind) {
	case CUTTLE_PEER_LOCAL:
		return trust->local;
	case CUTTLE_PEER_V4:
	case CUTTLE_PEER_V6:
		return cuttle_trust_includes(trust, &peer->address);
	default:
		return false;
	}
}

/* Appends the interface's name, or else its number, as getnameinfo does. (That function may read the environment.) */
static void write_scope(char text[CUTTLE_PEER_TEXT], uint32_t scope)
{
	char name[IF_NAMESIZE];
	size_t length = strlen(text);

	if (if_indextoname(scope, name))
		snprintf(text + length, CUTTLE_PEER_TEXT - length, "%%%s", name);
	else
		snprintf(text + length, CUTTLE_PEER_TEXT - length, "%%%u", (unsigned)scope);
}

bool cuttle_peer_write(const struct cuttle_peer *peer, char text[CUTTLE_PEER_TEXT])
{
	switch (peer->kind) {
	case CUTTLE_PEER_V6:
		inet_ntop(AF_INET6, peer->address.octets, text, CUTTLE_PEER_TEXT);
		if (peer->scope)
			write_scope(text, peer->scope);
		return true;
	case CUTTLE_PEER_V4:
	case CUTTLE_PEER_NAMED:
		cuttle_address_write(&peer->address, text);
		return true;
	case CUTTLE_PEER_LOCAL:
		return false;
	default: /* no address that an app may take for its own machine */
		snprintf(text, CUTTLE_PEER_TEXT, "0.0.0.0");
		return true;
	}
}
