/* See cookies.h. */
#include "cookies.h"
#include <string.h>
#include <strings.h>

static bool space(char octet)
{
	return octet == ' ' || octet == '\t';
}

static void trim(const char **octets, size_t *length)
{
	while (*length && space(**octets)) {
		++*octets;
		--*length;
	}
	while (*length && space((*octets)[*length - 1]))
		--*length;
}

/* Whether +octets+ begin with +word+, in any case. */
static bool begins(const char *octets, size_t length, const char *word)
{
	return length >= strlen(word) && strncasecmp(octets, word, strlen(word)) == 0;
}

/* Whether an attribute deletes the cookie. Dates are not read: servers delete with an empty value and a date. */
static bool ends_cookie(const char *attribute, size_t length, bool empty)
{
	if (begins(attribute, length, "max-age="))
		return length > 8 && (attribute[8] == '0' || attribute[8] == '-');
	return empty && begins(attribute, length, "expires=");
}

/* Whether one of the attributes after a cookie's value, each after a semicolon, deletes it. */
static bool deleted(const char *at, const char *end, bool empty)
{
	while (at < end) {
		const char *next = memchr(at, ';', (size_t)(end - at)), *last = next ? next : end;
		size_t length = (size_t)(last - at);

		trim(&at, &length);
		if (ends_cookie(at, length, empty))
			return true;
		at = next ? next + 1 : end;
	}
	return false;
}

/* Removes the cookie with that name from the jar. */
static void drop(struct session *session, const char *name, size_t length)
{
	char *at = session->cookies, *end = at + session->cookies_length;

	while (at < end) {
		char *next = memchr(at, ';', (size_t)(end - at));
		char *following = next ? next + 2 : end; /* "; " */
		size_t left = (size_t)(end - at);

		if (left > length && memcmp(at, name, length) == 0 && at[length] == '=') {
			memmove(at, following, (size_t)(end - following));
			session->cookies_length -= (size_t)(following - at);
			if (!next && session->cookies_length) /* it was the last: remove the separator before it too */
				session->cookies_length -= 2;
			return;
		}
		at = following;
	}
}

static void keep(struct session *session, const char *pair, size_t length)
{
	size_t separator = session->cookies_length ? 2 : 0;

	if (length + separator > COOKIES_ROOM - session->cookies_length)
		return;
	memcpy(session->cookies + session->cookies_length, "; ", separator);
	memcpy(session->cookies + session->cookies_length + separator, pair, length);
	session->cookies_length += separator + length;
}

void cookies_set(struct session *session, const char *field, size_t length)
{
	const char *end = field + length, *semicolon = memchr(field, ';', length), *equal;
	size_t pair = semicolon ? (size_t)(semicolon - field) : length;
	const char *attributes = semicolon ? semicolon + 1 : end;

	trim(&field, &pair);
	equal = memchr(field, '=', pair);
	if (!equal || equal == field)
		return;
	drop(session, field, (size_t)(equal - field));
	if (!deleted(attributes, end, equal + 1 == field + pair))
		keep(session, field, pair);
}
