/* The header of the PROXY protocol, versions 1 and 2, which a proxy sends before all else on a connection: who the
 * client is. HAProxy's doc/proxy-protocol.txt is the specification; the numbers below are its sections.
 *
 * Like the request parser, it knows nothing of Ruby, sockets or memory allocation, and is strict. */
#ifndef CUTTLE_PROXY_HEADER_H
#define CUTTLE_PROXY_HEADER_H

#include "trust.h"

#define CUTTLE_PROXY_LINE 107   /* octets of version 1, with the CRLF (2.1) */
#define CUTTLE_PROXY_FIXED 16   /* octets of version 2 before the addresses (2.2) */
#define CUTTLE_PROXY_BLOCK 2048 /* octets after these, a limit of ours */

enum cuttle_proxy_client {
	CUTTLE_PROXY_NAMED,   /* address is the client's */
	CUTTLE_PROXY_UNKNOWN, /* the proxy doesn't say who the client is: UNKNOWN, UNSPEC, a Unix socket */
	CUTTLE_PROXY_ITSELF,  /* there is none: the proxy connects for itself (LOCAL) */
};

struct cuttle_proxy_header {
	enum cuttle_proxy_client client;
	struct cuttle_address address; /* if the client is named */
	bool secure;                   /* the client speaks TLS with the proxy (2.2.6, PP2_CLIENT_SSL) */
};

/* Parses the header that begins at octets[0]. Returns the number of octets consumed (> 0) when it is complete, 0 when
 * it needs more octets, and -1 when this is no such header; then it will not become one either. The result does not
 * depend on how the octets were split into calls. */
int cuttle_parse_proxy_header(struct cuttle_proxy_header *header, const char *octets, size_t length);

#endif
