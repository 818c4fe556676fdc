/* See check.h. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINT_LIMIT 400

uint32_t check_random(uint32_t *state, uint32_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % limit;
}

/* FNV-1a, whose product leaves 32 bits on purpose. */
uint32_t check_hash(const char *octets, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t at = 0; at < length; at++)
		hash = (hash ^ (unsigned char)octets[at]) * 16777619u;
	return hash | 1;
}

void check_print(const char *octets, size_t length)
{
	for (size_t at = 0; at < length && at < PRINT_LIMIT; at++) {
		unsigned char octet = (unsigned char)octets[at];

		if (octet == '\r' || octet == '\n')
			fprintf(stderr, octet == '\r' ? "\\r" : "\\n");
		else if (octet < 0x20 || octet > 0x7e || octet == '"' || octet == '\\')
			fprintf(stderr, "\\%03o", octet);
		else
			fputc(octet, stderr);
	}
	fprintf(stderr, length > PRINT_LIMIT ? "... (%zu octets)\n" : "\n", length);
}

void check_demand(bool kept, const char *property, struct input input)
{
	if (kept)
		return;
	fprintf(stderr, "not kept: %s\nby: ", property);
	check_print(input.octets, input.length);
	abort();
}

char *check_copy(const char *octets, size_t length)
{
	char *block = malloc(length);

	if (length > 0)
		memcpy(block, octets, length);
	return block;
}

size_t check_next_cut(struct cuts *cuts, size_t at, size_t length)
{
	size_t size = cuts->random ? check_random(&cuts->random, (uint32_t)cuts->size) + 1 : cuts->size;

	if (at == 0 && cuts->first > 0)
		size = cuts->first;
	return size < length - at ? at + size : length;
}

bool check_inside(struct cuttle_slice slice, size_t size)
{
	return slice.offset <= size && slice.length <= size - slice.offset;
}
