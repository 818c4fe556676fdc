/* Chunked bodies: whatever the pieces, the decoder says, yields and consumes what a slow reference does. The reference
 * is RFC 9112, 7.1's grammar written down as functions that read one octet at a time, with tables of its own. */
#include "check.h"
#include "targets.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define OCTET_BY_OCTET_LIMIT 1024 /* octets: each piece has a block of its own */
#define EVERY_CUT_LIMIT 64        /* octets up to which each way to make two pieces is tried */

/* What a chunked body came to. result as cuttle_parse_chunks returns it in the end. */
struct decoded {
	int result;
	size_t taken, length;
};

/* What the reference has read. line: where the present size line or trailer section began; extensions: octets of the
 * body's so far. */
struct reader {
	struct input input;
	size_t at, line, line_limit, extensions;
	int line_status;
	bool in_extension;
	char *data;
	struct decoded decoded;
	jmp_buf end;
};

static _Noreturn void stop(struct reader *reader, int result)
{
	reader->decoded.result = result;
	reader->decoded.taken = reader->at;
	longjmp(reader->end, 1);
}

/* The next octet, which stays; the end of the input ends the reading. */
static int peek(struct reader *reader)
{
	if (reader->at == reader->input.length)
		stop(reader, 0);
	return (unsigned char)reader->input.octets[reader->at];
}

static int take(struct reader *reader)
{
	int octet = peek(reader);

	if (++reader->at - reader->line > reader->line_limit)
		stop(reader, -reader->line_status);
	if (reader->in_extension && ++reader->extensions > CUTTLE_LIMIT_EXTENSIONS)
		stop(reader, -400);
	return octet;
}

static void expect(struct reader *reader, int octet)
{
	if (take(reader) != octet)
		stop(reader, -400);
}

static bool is_letter_or_digit(int octet)
{
	return (octet >= '0' && octet <= '9') || (octet >= 'A' && octet <= 'Z') || (octet >= 'a' && octet <= 'z');
}

static bool is_token(int octet)
{
	return is_letter_or_digit(octet) || (octet != 0 && strchr("!#$%&'*+-.^_`|~", octet));
}

static bool is_value(int octet)
{
	return octet == '\t' || (octet >= ' ' && octet != 127);
}

static void read_token(struct reader *reader)
{
	do {
		if (!is_token(take(reader)))
			stop(reader, -400);
	} while (is_token(peek(reader)));
}

static void read_quoted(struct reader *reader)
{
	int octet;

	expect(reader, '"');
	while ((octet = take(reader)) != '"') {
		if (octet == '\\')
			octet = take(reader);
		if (!is_value(octet))
			stop(reader, -400);
	}
}

static int hex_digit(int octet)
{
	static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";

	for (int digit = 0; digit < 16; digit++)
		if (octet == lower[digit] || octet == upper[digit])
			return digit;
	return -1;
}

/* 1*HEXDIG, of at most 2^63 - 1 */
static uint64_t read_size(struct reader *reader)
{
	unsigned __int128 size = 0;

	do {
		int digit = hex_digit(take(reader));

		if (digit < 0)
			stop(reader, -400);
		size = size * 16 + (unsigned)digit;
		if (size > INT64_MAX)
			stop(reader, -400);
	} while (hex_digit(peek(reader)) >= 0);
	return (uint64_t)size;
}

/* BWS; returns whether there was any. */
static bool skip_white_space(struct reader *reader)
{
	bool any = false;

	while (peek(reader) == ' ' || peek(reader) == '\t') {
		take(reader);
		any = true;
	}
	return any;
}

/* *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ): no white space that leads to neither
 * (RFC 9112, 7.1.1) */
static void read_extensions(struct reader *reader)
{
	bool dangling;

	reader->in_extension = true;
	dangling = skip_white_space(reader);
	while (peek(reader) == ';') {
		take(reader);
		skip_white_space(reader);
		read_token(reader);
		dangling = skip_white_space(reader);
		if (peek(reader) != '=')
			continue;
		take(reader);
		skip_white_space(reader);
		if (peek(reader) == '"')
			read_quoted(reader);
		else
			read_token(reader);
		dangling = skip_white_space(reader);
	}
	if (dangling) {
		take(reader); /* what should have been ";" or "=" */
		stop(reader, -400);
	}
	reader->in_extension = false;
}

static void begin_lines(struct reader *reader, size_t limit, int status)
{
	reader->line = reader->at;
	reader->line_limit = limit;
	reader->line_status = status;
}

/* Returns the chunk's size. */
static uint64_t read_size_line(struct reader *reader)
{
	uint64_t size;

	begin_lines(reader, CUTTLE_LIMIT_CHUNK_LINE, 400);
	size = read_size(reader);
	read_extensions(reader);
	expect(reader, '\r');
	expect(reader, '\n');
	return size;
}

static void read_data(struct reader *reader, uint64_t size)
{
	begin_lines(reader, SIZE_MAX, 400);
	for (; size > 0; size--) {
		int octet = peek(reader);

		reader->at++;
		reader->data[reader->decoded.length++] = (char)octet;
	}
	expect(reader, '\r');
	expect(reader, '\n');
}

/* *( field-line CRLF ) CRLF */
static void read_trailer(struct reader *reader)
{
	begin_lines(reader, CUTTLE_LIMIT_TRAILER, 431);
	while (peek(reader) != '\r') {
		read_token(reader);
		expect(reader, ':');
		while (is_value(peek(reader)))
			take(reader);
		expect(reader, '\r');
		expect(reader, '\n');
	}
	expect(reader, '\r');
	expect(reader, '\n');
}

static void read_body(struct reader *reader)
{
	uint64_t size;

	if (setjmp(reader->end))
		return;
	while ((size = read_size_line(reader)) > 0)
		read_data(reader, size);
	read_trailer(reader);
	stop(reader, 1);
}

/* data has room for all of input. */
static struct decoded decode_slowly(struct input input, char *data)
{
	struct reader reader = {.input = input, .data = data};

	read_body(&reader);
	return reader.decoded;
}

static struct decoded decode(struct input input, struct cuts cuts, char *data)
{
	struct cuttle_chunk_state state = {0};
	struct decoded decoded = {0};
	size_t have = 0;

	while (decoded.result == 0 && have < input.length) {
		size_t count;

		have = check_next_cut(&cuts, have, input.length);
		do {
			struct cuttle_slice slice;
			char *block = check_copy(input.octets + decoded.taken, have - decoded.taken);

			count = have - decoded.taken;
			decoded.result = cuttle_parse_chunks(&state, block, &count, &slice);
			check_demand(count <= have - decoded.taken, "chunks take no more than there is", input);
			if (decoded.result >= 0) {
				check_demand(check_inside(slice, count), "data lies within what was taken", input);
				memcpy(data + decoded.length, block + slice.offset, slice.length);
				decoded.length += slice.length;
			}
			decoded.taken += count;
			free(block);
		} while (decoded.result == 0 && count > 0);
		check_demand(decoded.result != 0 || decoded.taken == have, "chunks wait for nothing that is there",
			     input);
	}
	return decoded;
}
static void demand_same_body(struct input input, struct decoded slow, struct decoded fast, const char *slow_data,
			     const char *fast_data)
{
	check_demand(fast.result == slow.result, "the verdict is the reference's, whatever the pieces", input);
	check_demand(fast.taken == slow.taken, "as much is taken as by the reference, whatever the pieces", input);
	check_demand(fast.length == slow.length && memcmp(fast_data, slow_data, fast.length) == 0,
		     "the body is the reference's, whatever the pieces", input);
}

/* In two pieces, the first one of at octets. */
static struct decoded decode_cut(struct input input, size_t at, char *data)
{
	return decode(input, (struct cuts){.first = at, .size = input.length}, data);
}

int check_chunks(const char *octets, size_t length, uint32_t seed, char *data, size_t *data_length)
{
	struct input input = {octets, length};
	char *other = malloc(length + 1);
	struct decoded slow = decode_slowly(input, data);
	struct cuts random = {.size = length / 2 + 1, .random = seed | 1};

	demand_same_body(input, slow, decode(input, (struct cuts){.size = length}, other), data, other);
	demand_same_body(input, slow, decode(input, random, other), data, other);
	if (length <= OCTET_BY_OCTET_LIMIT)
		demand_same_body(input, slow, decode(input, (struct cuts){.size = 1}, other), data, other);
	for (size_t at = 1; at < length && length <= EVERY_CUT_LIMIT; at++)
		demand_same_body(input, slow, decode_cut(input, at, other), data, other);
	free(other);
	*data_length = slow.length;
	return slow.result;
}

void fuzz_chunks(const char *octets, size_t length)
{
	char *data = malloc(length + 1);
	size_t data_length;

	check_chunks(octets, length, check_hash(octets, length), data, &data_length);
	free(data);
}
