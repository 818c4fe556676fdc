/* Classes of octets (RFC 9110, 5.6; RFC 3986, 2), one table for all parsers. */
#ifndef CUTTLE_SYNTAX_H
#define CUTTLE_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUTTLE_TOKEN = 1,    /* tchar */
	CUTTLE_VALUE = 2,    /* field-vchar, obs-text, SP and TAB */
	CUTTLE_TARGET = 4,   /* what a request target may hold: visible ASCII but "#" (browsers send more than RFC 3986 has) */
	CUTTLE_REG_NAME = 8, /* unreserved, sub-delims and "%" */
	CUTTLE_DIGIT = 16,
	CUTTLE_HEX = 32,
	CUTTLE_QUOTED = 64,  /* qdtext */
};

extern const uint8_t cuttle_syntax[256];

static inline bool cuttle_is(char octet, int classes)
{
	return cuttle_syntax[(unsigned char)octet] & classes;
}

/* The first of length octets that is not of the class; length where all are. */
static inline size_t cuttle_span(const char *octets, size_t length, int class)
{
	size_t at = 0;

	while (at < length && cuttle_is(octets[at], class))
		at++;
	return at;
}

#endif
