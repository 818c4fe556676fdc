/* See check.h. Head and chunks are given whole, octet by octet (unless that takes too long), and in random pieces. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OCTET_BY_OCTET_LIMIT 1024 /* octets: each piece copies all that came before it */
#define PRINT_LIMIT 400

struct input {
	const char *octets;
	size_t length;
};

/* How an input is cut: pieces of one size, or of random ones up to it. */
struct cuts {
	size_t size;
	uint32_t random; /* 0: all of one size */
};

uint32_t check_random(uint32_t *state, uint32_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % limit;
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

static void demand(bool kept, const char *property, struct input input)
{
	if (kept)
		return;
	fprintf(stderr, "not kept: %s\nby: ", property);
	check_print(input.octets, input.length);
	abort();
}

static char *exactly(const char *octets, size_t length)
{
	char *block = malloc(length);

	if (length > 0)
		memcpy(block, octets, length);
	return block;
}

/* Where the next piece ends. */
static size_t next_cut(struct cuts *cuts, size_t at, size_t length)
{
	size_t size = cuts->random ? check_random(&cuts->random, (uint32_t)cuts->size) + 1 : cuts->size;

	return size < length - at ? at + size : length;
}

static int parse_head(struct input input, struct cuts cuts, struct cuttle_head *head)
{
	struct cuttle_head_state state = {0};
	size_t have = 0;

	for (;;) {
		char *block;
		int result;

		have = next_cut(&cuts, have, input.length);
		block = exactly(input.octets, have);
		result = cuttle_parse_head(&state, head, block, have);
		free(block);
		if (result != 0 || have == input.length)
			return result;
	}
}

static bool inside(struct cuttle_slice slice, size_t size)
{
	return slice.offset <= size && slice.length <= size - slice.offset;
}

static bool slices_inside(const struct cuttle_head *head, size_t size)
{
	for (uint32_t index = 0; index < head->field_count; index++)
		if (!inside(head->fields[index].name, size) || !inside(head->fields[index].value, size))
			return false;
	return inside(head->method, size) && inside(head->target, size) && inside(head->path, size) &&
	       inside(head->query, size) && inside(head->host, size) && inside(head->port, size);
}

/* Whether CR and LF come only as CRLF, there is no NUL, and the first line that is empty ends all. */
static bool well_formed_lines(const char *octets, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (octets[at] == '\0' || (octets[at] == '\n') != (at > 0 && octets[at - 1] == '\r'))
			return false;
		if (at >= 3 && memcmp(octets + at - 3, "\r\n\r\n", 4) == 0)
			return at + 1 == size;
	}
	return false;
}

static void demand_sane_head(const struct cuttle_head *head, struct input input, size_t size)
{
	demand(size <= input.length, "a head takes no more than there is", input);
	demand(size <= CUTTLE_LIMIT_HEAD, "a head takes no more than it may", input);
	demand(head->field_count <= CUTTLE_LIMIT_FIELDS, "a head has no more fields than it may", input);
	demand(slices_inside(head, size), "a head's slices lie within it", input);
	demand(well_formed_lines(input.octets, size), "a head is lines that end with CRLF, the last one empty", input);
	demand(head->method.length > 0 && head->target.length > 0, "a head has a method and a target", input);
	demand(!head->chunked || (!head->has_length && head->content_length == 0), "one framing", input);
	demand(head->minor == 1 || (head->minor == 0 && !head->chunked && !head->expect_continue),
	       "no chunks and no 100 with HTTP/1.0", input);
	demand(head->minor == 0 || head->has_host, "HTTP/1.1 has a Host", input);
	demand(!head->has_host || head->host.length > 0, "a Host names somebody", input);
}

/* Both were all zero before, padding too; what is behind the last field is nobody's. */
static bool equal_heads(const struct cuttle_head *one, const struct cuttle_head *other)
{
	return memcmp(one, other, offsetof(struct cuttle_head, fields)) == 0 &&
	       memcmp(one->fields, other->fields, one->field_count * sizeof one->fields[0]) == 0;
}

static void demand_same_head(struct input input, struct cuts cuts, const struct cuttle_head *whole, int result)
{
	static struct cuttle_head pieces;

	memset(&pieces, 0, sizeof pieces);
	demand(parse_head(input, cuts, &pieces) == result, "the verdict does not depend on the pieces", input);
	demand(result <= 0 || equal_heads(whole, &pieces), "a head does not depend on the pieces", input);
}

int check_head(const char *octets, size_t length, uint32_t seed)
{
	static struct cuttle_head head;
	struct input input = {octets, length};
	struct cuts whole = {.size = length};
	int result;

	memset(&head, 0, sizeof head);
	result = parse_head(input, whole, &head);
	demand_same_head(input, (struct cuts){.size = length / 2 + 1, .random = seed | 1}, &head, result);
	if (length <= OCTET_BY_OCTET_LIMIT)
		demand_same_head(input, (struct cuts){.size = 1}, &head, result);
	if (result > 0) {
		struct input needed = {octets, (size_t)result}, less = {octets, (size_t)result - 1};

		demand_sane_head(&head, input, needed.length);
		demand_same_head(needed, (struct cuts){.size = needed.length}, &head, result);
		demand_same_head(less, (struct cuts){.size = less.length}, &head, 0);
	}
	return result;
}

/* What a chunked body came to. */
struct decoded {
	int result;
	size_t taken, length;
};

static struct decoded decode(struct input input, struct cuts cuts, char *data)
{
	struct cuttle_chunk_state state = {0};
	struct decoded decoded = {0};
	size_t have = 0;

	while (decoded.result == 0 && have < input.length) {
		size_t count;

		have = next_cut(&cuts, have, input.length);
		do {
			struct cuttle_slice slice;
			char *block = exactly(input.octets + decoded.taken, have - decoded.taken);

			count = have - decoded.taken;
			decoded.result = cuttle_parse_chunks(&state, block, &count, &slice);
			demand(count <= have - decoded.taken, "chunks take no more than there is", input);
			if (decoded.result >= 0) {
				demand(inside(slice, count), "data lies within what was taken", input);
				memcpy(data + decoded.length, block + slice.offset, slice.length);
				decoded.length += slice.length;
			}
			decoded.taken += count;
			free(block);
		} while (decoded.result == 0 && count > 0);
		demand(decoded.result != 0 || decoded.taken == have, "chunks wait for nothing that is there", input);
	}
	return decoded;
}

static void demand_same_body(struct input input, struct cuts cuts, struct decoded whole, const char *data)
{
	char *other = malloc(input.length + 1);
	struct decoded pieces = decode(input, cuts, other);

	demand(pieces.result == whole.result, "the verdict does not depend on the pieces", input);
	demand(pieces.taken == whole.taken || whole.result < 0, "a body's end does not depend on the pieces", input);
	demand(pieces.length == whole.length && memcmp(other, data, pieces.length) == 0,
	       "a body does not depend on the pieces", input);
	free(other);
}

int check_chunks(const char *octets, size_t length, uint32_t seed, char *data, size_t *data_length)
{
	struct input input = {octets, length};
	struct decoded whole = decode(input, (struct cuts){.size = length}, data);

	demand_same_body(input, (struct cuts){.size = 1}, whole, data);
	demand_same_body(input, (struct cuts){.size = length / 2 + 1, .random = seed | 1}, whole, data);
	*data_length = whole.length;
	return whole.result;
}
