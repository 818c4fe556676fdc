/* Which peers are proxies that may say who their clients are: IP addresses, networks, peers of Unix sockets. The list
 * never changes after it was made. No Ruby. */
#ifndef CUTTLE_TRUST_H
#define CUTTLE_TRUST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUTTLE_ADDRESS_TEXT INET6_ADDRSTRLEN /* room for an address as text, with its NUL */

/* An IP address. IPv4 is in its IPv6 form, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2), so that a client of a listener for both
 * families is the same client. */
struct cuttle_address {
	uint8_t octets[16];
};

struct cuttle_network {
	struct cuttle_address address;
	unsigned bits; /* of its prefix, 0 to 128 */
};

struct cuttle_trust {
	bool local; /* peers of Unix sockets */
	size_t count;
	struct cuttle_network networks[];
};

/* Parses dotted decimal without leading zeros, or IPv6 without a zone (RFC 4291, 2.2). Returns false for anything
 * else. */
bool cuttle_address_parse(struct cuttle_address *address, const char *text, size_t length);

/* Makes an address of 4 octets. */
void cuttle_address_from_v4(struct cuttle_address *address, const uint8_t *octets);

/* Writes an address in its shortest form (RFC 5952): IPv4 in dotted decimal. */
void cuttle_address_write(const struct cuttle_address *address, char text[CUTTLE_ADDRESS_TEXT]);

/* Parses an address, or a network as 10.0.0.0/8. Octets beyond the prefix don't count. */
bool cuttle_network_parse(struct cuttle_network *network, const char *text, size_t length);

/* Whether an address is in one of the networks. */
bool cuttle_trust_includes(const struct cuttle_trust *trust, const struct cuttle_address *address);

#endif
