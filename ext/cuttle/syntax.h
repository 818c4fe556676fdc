/* Classes of octets (RFC 9110, 5.6; RFC 3986, 2) in one table that all parsers share. */
#ifndef CUTTLE_SYNTAX_H
#define CUTTLE_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	CUTTLE_TOKEN = 1,    /* tchar */
	CUTTLE_VALUE = 2,    /* field-vchar, obs-text, SP and TAB */
	CUTTLE_TARGET = 4,   /* in a request target: visible ASCII except "#" (browsers send more than RFC 3986
			      * allows) */
	CUTTLE_REG_NAME = 8, /* unreserved, sub-delims and "%", but not ",": a comma means that two Hosts were merged
			      * into one */
	CUTTLE_DIGIT = 16,
	CUTTLE_HEX = 32,
	CUTTLE_QUOTED = 64, /* qdtext */
};

extern const uint8_t cuttle_syntax[256];

static inline bool cuttle_is(char octet, int classes)
{
	return cuttle_syntax[(unsigned char)octet] & classes;
}

/* Returns the offset of the first octet that is not of the class, or length if all are. */
static inline size_t cuttle_span(const char *octets, size_t length, int class)
{
	size_t at = 0;

	while (at < length && cuttle_is(octets[at], class))
		at++;
	return at;
}

/* Whether all octets are of the class, which must be a single bit. */
static inline bool cuttle_all(const char *octets, size_t length, int class)
{
	size_t at = 0;

	for (; length - at >= 4; at += 4)
		if (!(cuttle_syntax[(unsigned char)octets[at]] & cuttle_syntax[(unsigned char)octets[at + 1]] &
		      cuttle_syntax[(unsigned char)octets[at + 2]] & cuttle_syntax[(unsigned char)octets[at + 3]] &
		      class))
			return false;
	return cuttle_span(octets + at, length - at, class) == length - at;
}

/* Whether one of eight octets is a control character. TAB counts as one. */
static inline bool cuttle_has_control(const char *octets)
{
	const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
	uint64_t word, delete;

	memcpy(&word, octets, sizeof word);
	delete = word ^ (ones * 0x7f);
	return (((word - ones * 0x20) & ~word) | ((delete - ones) & ~delete)) & high;
}

/* Whether all octets are of CUTTLE_VALUE. */
static inline bool cuttle_is_value(const char *octets, size_t length)
{
	size_t at = 0;

	for (; length - at >= 8; at += 8)
		if (cuttle_has_control(octets + at) && !cuttle_all(octets + at, 8, CUTTLE_VALUE))
			return false;
	return cuttle_all(octets + at, length - at, CUTTLE_VALUE);
}

/* Whether the octets equal the word, ignoring case. The word must be lower case, of letters, digits and "-"; the octets
 * must be of CUTTLE_VALUE. Unlike strcasecmp, this ignores the locale. */
static inline bool cuttle_same(const char *octets, size_t length, const char *word)
{
	size_t at = 0;

	if (length != strlen(word))
		return false;
	while (at < length && (octets[at] | 0x20) == word[at])
		at++;
	return at == length;
}

/* An octet, in lower case if it is an ASCII letter. */
static inline char cuttle_lower(char octet)
{
	return octet >= 'A' && octet <= 'Z' ? (char)(octet | 0x20) : octet;
}

/* Whether two texts of that length are equal, ignoring the case of ASCII letters. Unlike strncasecmp, this ignores the
 * locale. */
static inline bool cuttle_same_text(const char *one, const char *other, size_t length)
{
	size_t at = 0;

	while (at < length && cuttle_lower(one[at]) == cuttle_lower(other[at]))
		at++;
	return at == length;
}

/* Finds the next element of a comma-separated list (RFC 9110, 5.6.1), without the white space around it. Empty elements
 * are skipped. Returns where to continue, or NULL when there are no more elements. */
const char *cuttle_next_element(const char *at, const char *end, const char **element, size_t *length);

#endif
