/* What proxies say of their clients; see forwarded.h. */
#include "forwarded.h"
#include "syntax.h"

#include <string.h>

struct element {
	const char *at;
	size_t length;
};

static bool same(struct element element, const char *text)
{
	return element.length == strlen(text) && cuttle_same_text(element.at, text, element.length);
}

/* Compares in any case, and "_" as "-". text is in lower case. */
static bool spells(const char *name, const char *text, size_t length)
{
	for (size_t at = 0; at < length; at++) {
		char octet = cuttle_lower(name[at]);

		if ((octet == '_' ? '-' : octet) != text[at])
			return false;
	}
	return true;
}

bool cuttle_forwarded_name(const char *name, size_t length)
{
	static const char prefix[] = "x-forwarded";
	const size_t size = sizeof prefix - 1;

	if (length == 9)
		return spells(name, "forwarded", 9) || spells(name, "client-ip", 9) || spells(name, "x-real-ip", 9);
	return length >= size && spells(name, prefix, size) &&
	       (length == size || name[size] == '-' || name[size] == '_');
}

/* Takes the last element of a list (RFC 9110, 5.6.1) off its end, without the white space around it. It may be empty.
 * Returns false when there is none left. *length becomes SIZE_MAX behind the first one. */
static bool last_element(const char *value, size_t *length, struct element *element)
{
	size_t end = *length, start = end;

	if (end == SIZE_MAX)
		return false;
	while (start > 0 && value[start - 1] != ',')
		start--;
	*length = start > 0 ? start - 1 : SIZE_MAX;
	while (start < end && (value[start] == ' ' || value[start] == '\t'))
		start++;
	while (end > start && (value[end - 1] == ' ' || value[end - 1] == '\t'))
		end--;
	*element = (struct element){value + start, end - start};
	return true;
}

static bool only_digits(const char *at, size_t length)
{
	for (size_t index = 0; index < length; index++)
		if (at[index] < '0' || at[index] > '9')
			return false;
	return length > 0;
}

/* Drops a port and brackets: "192.0.2.1:80", "[2001:db8::1]:80". Returns false for what is malformed. */
static bool strip(struct element *element)
{
	const bool bracketed = element->length > 0 && element->at[0] == '[';
	const char *end = memchr(element->at, bracketed ? ']' : ':', element->length);
	const char *colon = bracketed && end ? end + 1 : end;
	size_t rest;

	if (!end)
		return !bracketed;
	rest = (size_t)(element->at + element->length - colon);
	if (!bracketed && memchr(colon + 1, ':', rest - 1))
		return true; /* an IPv6 address */
	if (rest > 0 && (*colon != ':' || !only_digits(colon + 1, rest - 1)))
		return false;
	element->at += bracketed;
	element->length = (size_t)(end - element->at);
	return !bracketed || memchr(element->at, ':', element->length);
}

bool cuttle_forwarded_for(const struct cuttle_trust *trust, const char *value, size_t length,
			  struct cuttle_address *client, bool *found)
{
	struct cuttle_address address;
	struct element element;

	while (last_element(value, &length, &element)) {
		if (element.length == 0)
			continue;
		if (!strip(&element) || !cuttle_address_parse(&address, element.at, element.length))
			return false;
		*client = address;
		*found = true;
		if (!cuttle_trust_includes(trust, client))
			return false;
	}
	return true;
}

enum cuttle_scheme cuttle_forwarded_proto(const char *value, size_t length)
{
	struct element element;

	while (last_element(value, &length, &element)) {
		if (same(element, "https") || same(element, "wss"))
			return CUTTLE_HTTPS;
		if (same(element, "http") || same(element, "ws"))
			return CUTTLE_HTTP;
	}
	return CUTTLE_NO_SCHEME;
}
