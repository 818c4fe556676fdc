/* X-Forwarded-For, X-Forwarded-Proto, and the names of such fields: what is found is what a plain reading from the left
 * finds, and an address reads back from its text. */
#include "check.h"
#include "targets.h"

#include <ctype.h>
#include <forwarded.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST 16384 /* elements */

/* Whom the checked functions trust. Made once. */
static const struct cuttle_trust *trust(void)
{
	static const char *const networks[3] = {"10.0.0.0/9", "2001:db8::/29", "127.0.0.1"};
	static struct cuttle_trust *made;

	if (made)
		return made;
	made = calloc(1, sizeof *made + 3 * sizeof *made->networks);
	for (size_t index = 0; index < 3; index++)
		cuttle_network_parse(&made->networks[made->count++], networks[index], strlen(networks[index]));
	return made;
}

/* Whether an address is in one of those networks. */
static bool is_trusted(const struct cuttle_address *address)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const uint8_t *at = address->octets;

	if (memcmp(at, mapped, 12) == 0)
		return (at[12] == 10 && at[13] < 128) || memcmp(at + 12, "\177\0\0\1", 4) == 0;
	return memcmp(at, "\x20\x01\x0d", 3) == 0 && at[3] >= 0xb8 && at[3] <= 0xbf;
}

/* Splits a list into copies of its elements that are not empty. Returns how many. */
static size_t split(const char *value, size_t length, char *elements[MOST])
{
	size_t count = 0, start = 0;

	for (size_t at = 0; at <= length; at++) {
		size_t end = at;

		if (at < length && value[at] != ',')
			continue;
		while (start < end && strchr(" \t", value[start]) && value[start])
			start++;
		while (end > start && strchr(" \t", value[end - 1]) && value[end - 1])
			end--;
		if (end > start) {
			elements[count] = calloc(1, end - start + 1);
			memcpy(elements[count++], value + start, end - start);
			if (memchr(value + start, '\0', end - start)) /* no element that means anything has a NUL */
				strcpy(elements[count - 1], "?");
		}
		start = at + 1;
	}
	return count;
}

static bool is_address(char *text, struct cuttle_address *address)
{
	char *port = strrchr(text, ':'), *bracket = strrchr(text, ']');
	bool bracketed = *text == '[', several = port && strchr(text, ':') != port;

	if (bracketed && !bracket)
		return false;
	if (port && (bracketed ? port == bracket + 1 : !several)) {
		if (!port[1] || strspn(port + 1, "0123456789") != strlen(port + 1))
			return false;
		*port = '\0';
	}
	if (bracketed) {
		if (text[strlen(text) - 1] != ']' || !several)
			return false;
		text[strlen(text) - 1] = '\0';
		text++;
	}
	return cuttle_address_parse(address, text, strlen(text)) && (!bracketed || strchr(text, ':'));
}

static void check_client(struct input input, const char *copy, char **elements, size_t count)
{
	struct cuttle_address client = {{0}}, expected = {{0}}, address;
	bool found = false, expects = false, on = true, goes_on;
	char text[CUTTLE_ADDRESS_TEXT];

	goes_on = cuttle_forwarded_for(trust(), copy, input.length, &client, &found);
	while (on && count-- > 0) {
		on = is_address(elements[count], &address);
		if (!on)
			break;
		expected = address;
		expects = true;
		on = is_trusted(&address);
	}
	check_demand(found == expects && goes_on == on && memcmp(&client, &expected, sizeof client) == 0,
		     "the client is the one that a plain reading finds", input);
	cuttle_address_write(&client, text);
	check_demand(cuttle_address_parse(&address, text, strlen(text)) &&
			     memcmp(&address, &client, sizeof client) == 0,
		     "an address reads back from its text", input);
}

static void check_scheme(struct input input, const char *copy, char **elements, size_t count)
{
	enum cuttle_scheme expected = CUTTLE_NO_SCHEME;

	for (size_t index = 0; index < count; index++) {
		if (strcasecmp(elements[index], "http") == 0 || strcasecmp(elements[index], "ws") == 0)
			expected = CUTTLE_HTTP;
		if (strcasecmp(elements[index], "https") == 0 || strcasecmp(elements[index], "wss") == 0)
			expected = CUTTLE_HTTPS;
	}
	check_demand(cuttle_forwarded_proto(copy, input.length) == expected, "the scheme is the last that is named",
		     input);
}

static void check_name(struct input input, const char *copy)
{
	static const char *const whole[] = {"forwarded", "client-ip", "x-real-ip", "x-forwarded"};
	char *name = calloc(1, input.length + 1);
	bool expected = false;

	for (size_t at = 0; at < input.length; at++)
		name[at] = copy[at] == '_' ? '-' : (char)tolower((unsigned char)copy[at]);
	for (size_t index = 0; index < 4; index++)
		expected = expected || (strlen(name) == input.length && strcmp(name, whole[index]) == 0);
	expected = expected || strncmp(name, "x-forwarded-", 12) == 0;
	check_demand(cuttle_forwarded_name(copy, input.length) == expected, "a name is one of those or none", input);
	free(name);
}

void fuzz_forwarded(const char *octets, size_t length)
{
	struct input input = {octets, length < MOST ? length : MOST};
	static char *elements[MOST + 1];
	char *copy = check_copy(octets, input.length);
	struct cuttle_network network;
	size_t count = split(octets, input.length, elements);

	check_name(input, copy);
	check_scheme(input, copy, elements, count);
	check_client(input, copy, elements, count);
	check_demand(!cuttle_network_parse(&network, copy, input.length) || network.bits <= 128, "a prefix is bounded",
		     input);
	while (count-- > 0)
		free(elements[count]);
	free(copy);
}
