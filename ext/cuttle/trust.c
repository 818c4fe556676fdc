/* Trusted peers; see trust.h. */
#include "trust.h"

#include <arpa/inet.h>
#include <string.h>

#define MAPPED 96 /* bits of an IPv4 address's prefix in its IPv6 form */

void cuttle_address_from_v4(struct cuttle_address *address, const uint8_t *octets)
{
	static const uint8_t prefix[MAPPED / 8] = {[10] = 0xff, [11] = 0xff};

	memcpy(address->octets, prefix, sizeof prefix);
	memcpy(address->octets + sizeof prefix, octets, 4);
}

static bool is_v4(const struct cuttle_address *address)
{
	struct cuttle_address same;

	cuttle_address_from_v4(&same, address->octets + MAPPED / 8);
	return memcmp(&same, address, sizeof same) == 0;
}

bool cuttle_address_parse(struct cuttle_address *address, const char *text, size_t length)
{
	char copy[CUTTLE_ADDRESS_TEXT];
	uint8_t octets[4];

	if (length == 0 || length >= sizeof copy || memchr(text, '\0', length))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (inet_pton(AF_INET6, copy, address->octets) == 1)
		return true;
	if (inet_pton(AF_INET, copy, octets) != 1)
		return false;
	cuttle_address_from_v4(address, octets);
	return true;
}

void cuttle_address_write(const struct cuttle_address *address, char text[CUTTLE_ADDRESS_TEXT])
{
	if (is_v4(address))
		inet_ntop(AF_INET, address->octets + MAPPED / 8, text, CUTTLE_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, address->octets, text, CUTTLE_ADDRESS_TEXT);
}

/* Parses a number of bits up to most. */
static bool parse_bits(unsigned *bits, const char *text, size_t length, unsigned most)
{
	*bits = 0;
	if (length == 0 || length > 3)
		return false;
	for (size_t at = 0; at < length; at++) {
		if (text[at] < '0' || text[at] > '9')
			return false;
		*bits = *bits * 10 + (unsigned)(text[at] - '0');
	}
	return *bits <= most;
}

bool cuttle_network_parse(struct cuttle_network *network, const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);
	size_t size = slash ? (size_t)(slash - text) : length;
	unsigned before;

	if (!cuttle_address_parse(&network->address, text, size))
		return false;
	before = memchr(text, ':', size) ? 0 : MAPPED;
	network->bits = 128 - before;
	if (slash && !parse_bits(&network->bits, slash + 1, length - size - 1, network->bits))
		return false;
	network->bits += before;
	return true;
}

static bool is_in(const struct cuttle_network *network, const struct cuttle_address *address)
{
	unsigned whole = network->bits / 8, rest = network->bits % 8;

	if (memcmp(network->address.octets, address->octets, whole) != 0)
		return false;
	return !rest || (network->address.octets[whole] ^ address->octets[whole]) >> (8 - rest) == 0;
}

bool cuttle_trust_includes(const struct cuttle_trust *trust, const struct cuttle_address *address)
{
	for (size_t index = 0; index < trust->count; index++)
		if (is_in(&trust->networks[index], address))
			return true;
	return false;
}
