/* The PROXY protocol's header; see proxy_header.h. */
#include "proxy_header.h"

#include <string.h>

#define MALFORMED -1
#define TLS_RECORD 0x20 /* PP2_TYPE_SSL (2.2) */
#define TLS_CLIENT 0x01 /* PP2_CLIENT_SSL (2.2.6) */

static const char signature[12] = {'\r', '\n', '\r', '\n', '\0', '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};
static const char beginning[6] = {'P', 'R', 'O', 'X', 'Y', ' '};

/* Whether octets are, or begin as, the word. */
static bool begins(const char *octets, size_t length, const char *word, size_t size)
{
	return memcmp(octets, word, length < size ? length : size) == 0;
}

/* Version 1 (2.1): "PROXY TCP4 192.0.2.1 192.0.2.2 56324 443" or "PROXY UNKNOWN …" */

struct words {
	const char *at;
	size_t left;
	bool good;
};

struct word {
	const char *at;
	size_t length;
};

/* Returns the next word of a line. Words are separated by one space each; the last ends the line. */
static struct word next_word(struct words *words, bool last)
{
	const char *space = memchr(words->at, ' ', words->left);
	struct word word = {words->at, space ? (size_t)(space - words->at) : words->left};
	size_t used = word.length + (space ? 1 : 0);

	words->good = words->good && word.length > 0 && !space == last;
	words->at += used;
	words->left -= used;
	return word;
}

static bool is(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

/* A decimal number up to 65535, without leading zeros. */
static bool is_port(struct word word)
{
	unsigned number = 0;

	if (word.length == 0 || word.length > 5 || (word.at[0] == '0' && word.length > 1))
		return false;
	for (size_t at = 0; at < word.length; at++) {
		if (word.at[at] < '0' || word.at[at] > '9')
			return false;
		number = number * 10 + (unsigned)(word.at[at] - '0');
	}
	return number <= 65535;
}

static bool is_address(struct word word, bool v6, struct cuttle_address *address)
{
	return cuttle_address_parse(address, word.at, word.length) && (memchr(word.at, ':', word.length) != NULL) == v6;
}

static bool parse_words(struct cuttle_proxy_header *header, struct words words)
{
	struct word family = next_word(&words, false), source, destination, from, to;
	struct cuttle_address own;
	bool v6 = is(family, "TCP6");

	if (!words.good || (!v6 && !is(family, "TCP4")))
		return false;
	source = next_word(&words, false);
	destination = next_word(&words, false);
	from = next_word(&words, false);
	to = next_word(&words, true);
	header->client = CUTTLE_PROXY_NAMED;
	return words.good && is_address(source, v6, &header->address) && is_address(destination, v6, &own) &&
	       is_port(from) && is_port(to);
}

static bool parse_line(struct cuttle_proxy_header *header, const char *line, size_t length)
{
	static const char unknown[] = "UNKNOWN";
	const size_t size = sizeof unknown - 1;

	if (length >= size && memcmp(line, unknown, size) == 0 && (length == size || line[size] == ' ')) {
		header->client = CUTTLE_PROXY_UNKNOWN;
		return true;
	}
	return parse_words(header, (struct words){line, length, true});
}

/* The line ends at the first CR, which a LF has to follow. */
static int parse_version_1(struct cuttle_proxy_header *header, const char *octets, size_t length)
{
	size_t most = length < CUTTLE_PROXY_LINE ? length : CUTTLE_PROXY_LINE;
	const char *end = memchr(octets, '\r', most);
	size_t size = end ? (size_t)(end - octets) : most;

	if (memchr(octets, '\n', size) || size > CUTTLE_PROXY_LINE - 2)
		return MALFORMED;
	if (size + 2 > length)
		return 0;
	if (octets[size + 1] != '\n' || !parse_line(header, octets + sizeof beginning, size - sizeof beginning))
		return MALFORMED;
	return (int)size + 2;
}

/* Version 2 (2.2) */

enum command { LOCAL, PROXY, COMMANDS };
enum family { UNSPECIFIED, IPV4, IPV6, LOCAL_SOCKET, FAMILIES };
#define TRANSPORTS 3 /* unspecified, stream, datagram */

/* Octets of both addresses and ports. */
static const size_t address_sizes[FAMILIES] = {[IPV4] = 12, [IPV6] = 36, [LOCAL_SOCKET] = 216};

/* Reads the records after the addresses: type, length, value (2.2). Returns false if the last one is cut short. */
static bool parse_records(struct cuttle_proxy_header *header, const uint8_t *octets, size_t length)
{
	while (length > 0) {
		size_t size;

		if (length < 3)
			return false;
		size = (size_t)octets[1] << 8 | octets[2];
		if (size > length - 3)
			return false;
		if (octets[0] == TLS_RECORD && size > 0)
			header->secure = octets[3] & TLS_CLIENT;
		octets += size + 3;
		length -= size + 3;
	}
	return true;
}

/* Reads the block after the fixed part, which is long enough for the family's addresses. */
static bool parse_block(struct cuttle_proxy_header *header, unsigned family, const uint8_t *block, size_t length)
{
	header->client = CUTTLE_PROXY_NAMED;
	if (family == IPV4)
		cuttle_address_from_v4(&header->address, block);
	else if (family == IPV6)
		memcpy(header->address.octets, block, sizeof header->address.octets);
	else
		header->client = CUTTLE_PROXY_UNKNOWN;
	return parse_records(header, block + address_sizes[family], length - address_sizes[family]);
}

/* The octets of the fixed part are checked as they arrive. */
static int parse_version_2(struct cuttle_proxy_header *header, const char *octets, size_t length)
{
	const uint8_t *at = (const uint8_t *)octets;
	unsigned command, family, transport;
	size_t size;

	if (length < CUTTLE_PROXY_FIXED)
		return 0;
	command = at[12] & 15;
	family = at[13] >> 4;
	transport = at[13] & 15;
	size = (size_t)at[14] << 8 | at[15];
	if (at[12] >> 4 != 2 || command >= COMMANDS || family >= FAMILIES || transport >= TRANSPORTS ||
	    size > CUTTLE_PROXY_BLOCK || (command == PROXY && size < address_sizes[family]))
		return MALFORMED;
	if (length - CUTTLE_PROXY_FIXED < size)
		return 0;
	if (command == LOCAL)
		header->client = CUTTLE_PROXY_ITSELF; /* the rest is to be ignored */
	else if (!parse_block(header, family, at + CUTTLE_PROXY_FIXED, size))
		return MALFORMED;
	return (int)(CUTTLE_PROXY_FIXED + size);
}

int cuttle_parse_proxy_header(struct cuttle_proxy_header *header, const char *octets, size_t length)
{
	memset(header, 0, sizeof *header);
	if (length == 0)
		return 0;
	if (begins(octets, length, signature, sizeof signature))
		return parse_version_2(header, octets, length);
	if (!begins(octets, length, beginning, sizeof beginning))
		return MALFORMED;
	return length < sizeof beginning ? 0 : parse_version_1(header, octets, length);
}
