/* The PROXY header: octet by octet it gets the verdict that it gets whole, at the first octet that decides, and before
 * its bound. What is accepted names the client that a plain reading finds. */
#include "check.h"
#include "targets.h"

#include <arpa/inet.h>
#include <proxy_header.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(struct cuttle_proxy_header *header, const char *octets, size_t length)
{
	char *block = check_copy(octets, length);
	int result = cuttle_parse_proxy_header(header, block, length);

	free(block);
	return result;
}

/* "PROXY TCP4 " and the client's address, which has one spelling. That of IPv6 has several, so it is read again. */
static bool names_client(const char *octets, const struct cuttle_proxy_header *header)
{
	char line[CUTTLE_PROXY_LINE + 1] = "", text[CUTTLE_ADDRESS_TEXT], family, word[CUTTLE_PROXY_LINE];
	struct cuttle_address same;

	memcpy(line, octets, strcspn(octets, "\r"));
	if (strncmp(line, "PROXY UNKNOWN", 13) == 0)
		return header->client == CUTTLE_PROXY_UNKNOWN;
	if (header->client != CUTTLE_PROXY_NAMED || sscanf(line, "PROXY TCP%c %106s ", &family, word) != 2)
		return false;
	cuttle_address_write(&header->address, text);
	if (family == '4')
		return strcmp(word, text) == 0;
	return family == '6' && inet_pton(AF_INET6, word, &same) == 1 && memcmp(&same, &header->address, 16) == 0;
}

/* The block of version 2, read from its start again. */
static bool means_block(const uint8_t *octets, size_t length, const struct cuttle_proxy_header *header)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	size_t at = CUTTLE_PROXY_FIXED;
	bool secure = false;

	if ((octets[12] & 15) == 0)
		return header->client == CUTTLE_PROXY_ITSELF && !header->secure;
	switch (octets[13] >> 4) {
	case 1:
		if (memcmp(header->address.octets, mapped, 12) != 0 ||
		    memcmp(header->address.octets + 12, octets + 16, 4) != 0)
			return false;
		at += 12;
		break;
	case 2:
		if (memcmp(header->address.octets, octets + 16, 16) != 0)
			return false;
		at += 36;
		break;
	case 3:
		at += 216;
		break;
	}
	while (at < length) {
		if (octets[at] == 0x20 && octets[at + 1] + octets[at + 2] > 0)
			secure = octets[at + 3] % 2;
		at += 3 + octets[at + 1] * 256u + octets[at + 2];
	}
	return at == length && secure == header->secure &&
	       header->client ==
		       (octets[13] >> 4 == 1 || octets[13] >> 4 == 2 ? CUTTLE_PROXY_NAMED : CUTTLE_PROXY_UNKNOWN);
}

void fuzz_proxy_header(const char *octets, size_t length)
{
	struct input input = {octets, length};
	struct cuttle_proxy_header header, piecewise;
	int whole = parse(&header, octets, length), result = 0;
	size_t have = 0;

	while (result == 0 && have < length)
		result = parse(&piecewise, octets, ++have);
	check_demand(result == whole, "the verdict is the same octet by octet", input);
	check_demand(whole >= -1 && whole <= (int)length, "what is consumed is there", input);
	check_demand(whole != 0 || length < CUTTLE_PROXY_FIXED + CUTTLE_PROXY_BLOCK, "the header is bounded", input);
	check_demand(whole != 0 || length == 0 || octets[0] == '\r' || length < CUTTLE_PROXY_LINE,
		     "the line is bounded", input);
	if (whole <= 0)
		return;
	check_demand((size_t)whole == have && memcmp(&header, &piecewise, sizeof header) == 0,
		     "a header is complete with its last octet", input);
	if (octets[0] == 'P')
		check_demand(memchr(octets, '\n', (size_t)whole) == octets + whole - 1 && names_client(octets, &header),
			     "a line names its client", input);
	else
		check_demand(means_block((const uint8_t *)octets, (size_t)whole, &header), "a block is what it says",
			     input);
}
