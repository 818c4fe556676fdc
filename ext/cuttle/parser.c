/* The request head, line by line. See parser.h for the contract, target.c for targets and authorities.
 *
 *   START --CRLF--> BLANK --line--> FIELDS --line--> ... --empty line--> done
 *     `-----------------line---------^
 */
#include "parser.h"
#include "syntax.h"
#include "target.h"

#include <string.h>

enum phase { START, BLANK, FIELDS };

enum { /* fields that have been seen */
	SEEN_HOST = 1,
	SEEN_LENGTH = 2,
	SEEN_ENCODING = 4,
	SEEN_CLOSE = 8,
	SEEN_KEEP_ALIVE = 16,
	SEEN_EXPECT = 32,
};

/* Longest method that is taken for one. */
#define METHOD_LIMIT 64

static struct cuttle_slice slice(const char *base, const char *from, const char *to)
{
	return (struct cuttle_slice){.offset = (uint32_t)(from - base), .length = (uint32_t)(to - from)};
}

/* The version at the end of a request line (RFC 9112, 2.3). Returns 0 or what to answer. */
static int parse_version(struct cuttle_head *head, const char *at, const char *end)
{
	if (end - at != 8 || memcmp(at, "HTTP/", 5) != 0 || !cuttle_is(at[5], CUTTLE_DIGIT) || at[6] != '.' ||
	    !cuttle_is(at[7], CUTTLE_DIGIT))
		return 400;
	if (at[5] != '1')
		return 505;
	head->minor = at[7] != '0';
	return 0;
}

static int parse_request_line(struct cuttle_head *head, const char *base, const char *line, const char *end)
{
	const char *method_end = line + cuttle_span(line, (size_t)(end - line), CUTTLE_TOKEN);
	const char *target, *target_end;
	int failed;

	if (method_end == line || method_end == end || *method_end != ' ')
		return 400;
	if (method_end - line > METHOD_LIMIT)
		return 501;
	target = method_end + 1;
	target_end = target + cuttle_span(target, (size_t)(end - target), CUTTLE_TARGET);
	if (target_end == target || target_end == end || *target_end != ' ')
		return 400;
	failed = parse_version(head, target_end + 1, end);
	if (failed)
		return failed;
	head->method = slice(base, line, method_end);
	head->target = slice(base, target, target_end);
	return cuttle_parse_target(head, base);
}

/* RFC 9110, 8.6: digits, and one such field. A list of equal numbers might be read otherwise by others: rejected. */
static int parse_length(struct cuttle_head *head, const char *value, size_t length, uint8_t seen)
{
	uint64_t number = 0;

	if (seen & SEEN_LENGTH || length == 0 || cuttle_span(value, length, CUTTLE_DIGIT) != length)
		return 400;
	for (size_t at = 0; at < length; at++) {
		unsigned digit = (unsigned)(value[at] - '0');

		if (number > ((uint64_t)INT64_MAX - digit) / 10)
			return 400;
		number = number * 10 + digit;
	}
	head->content_length = number;
	head->has_length = true;
	return 0;
}

static uint8_t parse_connection(const char *value, size_t length)
{
	const char *at = value, *end = value + length, *element;
	uint8_t seen = 0;

	while ((at = cuttle_next_element(at, end, &element, &length))) {
		if (cuttle_same(element, length, "close"))
			seen |= SEEN_CLOSE;
		else if (cuttle_same(element, length, "keep-alive"))
			seen |= SEEN_KEEP_ALIVE;
	}
	return seen;
}

/* RFC 9112, 6.1 and 6.3: chunked, once, ends the list, or nobody knows where the body ends; behind other codings it
 * is well-formed, but those are not known. */
static int parse_encoding(struct cuttle_head *head, const char *value, size_t length, uint8_t seen)
{
	const char *at = value, *end = value + length, *element;
	size_t count = 0, chunked = 0;
	bool last = false;

	if (seen & SEEN_ENCODING)
		return 400;
	if (cuttle_same(value, length, "chunked")) {
		head->chunked = true;
		return 0;
	}
	while ((at = cuttle_next_element(at, end, &element, &length))) {
		last = cuttle_same(element, length, "chunked");
		chunked += last;
		count++;
	}
	return last && chunked == 1 && count > 1 ? 501 : 400;
}

static int parse_known_field(struct cuttle_head_state *state, struct cuttle_head *head, const char *base,
			     const char *name, size_t name_length, const char *value, size_t length)
{
	uint8_t seen = 0;
	int failed = 0;

	switch (name_length) {
	case 4:
		if (cuttle_same(name, 4, "host")) {
			seen = SEEN_HOST;
			failed = state->seen & SEEN_HOST ? 400 : cuttle_parse_host(head, base, value, length);
		}
		break;
	case 6:
		if (cuttle_same(name, 6, "expect")) {
			seen = SEEN_EXPECT;
			failed = cuttle_same(value, length, "100-continue") ? 0 : 417;
		}
		break;
	case 10:
		if (cuttle_same(name, 10, "connection"))
			seen = parse_connection(value, length);
		break;
	case 14:
		if (cuttle_same(name, 14, "content-length")) {
			seen = SEEN_LENGTH;
			failed = parse_length(head, value, length, state->seen);
		}
		break;
	case 17:
		if (cuttle_same(name, 17, "transfer-encoding")) {
			seen = SEEN_ENCODING;
			failed = parse_encoding(head, value, length, state->seen);
		}
		break;
	}
	state->seen |= seen;
	return failed;
}

static int parse_field(struct cuttle_head_state *state, struct cuttle_head *head, const char *base, const char *line,
		       const char *end)
{
	const char *colon = line + cuttle_span(line, (size_t)(end - line), CUTTLE_TOKEN), *value;

	if (colon == line || colon == end || *colon != ':')
		return 400;
	if (head->field_count == CUTTLE_LIMIT_FIELDS)
		return 431;
	value = colon + 1;
	if (!cuttle_is_value(value, (size_t)(end - value)))
		return 400;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (value < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	head->fields[head->field_count++] =
		(struct cuttle_field){.name = slice(base, line, colon), .value = slice(base, value, end)};
	return parse_known_field(state, head, base, line, (size_t)(colon - line), value, (size_t)(end - value));
}

/* What the fields say together (RFC 9112, 3.2, 6.3 and 9.3). */
static int conclude(const struct cuttle_head_state *state, struct cuttle_head *head)
{
	if (head->minor == 1 && !(state->seen & SEEN_HOST))
		return 400;
	if (head->chunked && (head->has_length || head->minor == 0))
		return 400;
	head->keep_alive = !(state->seen & SEEN_CLOSE) && (head->minor == 1 || state->seen & SEEN_KEEP_ALIVE);
	head->expect_continue = state->seen & SEEN_EXPECT && head->minor == 1;
	return 0;
}

/* Octets that the line at hand may take, with its CRLF. */
static size_t line_room(const struct cuttle_head_state *state)
{
	size_t line = state->phase == FIELDS ? CUTTLE_LIMIT_FIELD_LINE : CUTTLE_LIMIT_REQUEST_LINE;
	size_t head = CUTTLE_LIMIT_HEAD - state->line;

	return line + 2 < head ? line + 2 : head;
}

static int too_long(const struct cuttle_head_state *state, const char *line)
{
	if (state->phase == FIELDS)
		return 431;
	return memchr(line, ' ', METHOD_LIMIT + 1) ? 414 : 501;
}

/* What a line must not begin with is said at once, for a peer that speaks another protocol may never send its end.
 * An empty line ends the fields, and is forgiven once before a request line (RFC 9112, 2.2). */
static bool valid_start(const struct cuttle_head_state *state, const char *line, size_t length)
{
	if (cuttle_is(*line, CUTTLE_TOKEN))
		return true;
	return *line == '\r' && state->phase != BLANK && (length == 1 || line[1] == '\n');
}

/* Octets that the line takes, with its CRLF; 0 when it is incomplete, -status when it can't become one. Octets beyond
 * its room are not looked at, so that it does not matter whether they are there. */
static int measure_line(struct cuttle_head_state *state, const char *line, size_t length)
{
	size_t room = line_room(state);
	const char *newline;

	if (length > room)
		length = room;
	if (length > 0 && !valid_start(state, line, length))
		return -400;
	newline = memchr(line + state->scanned, '\n', length - state->scanned);
	if (newline) /* RFC 9112, 2.2 lets a bare LF pass; others differ: rejected */
		return newline[-1] == '\r' ? (int)(newline + 1 - line) : -400;
	state->scanned = (uint32_t)length;
	return length == room ? -too_long(state, line) : 0;
}

static int parse_line(struct cuttle_head_state *state, struct cuttle_head *head, const char *base, const char *line,
		      const char *end)
{
	if (state->phase == FIELDS)
		return parse_field(state, head, base, line, end);
	if (line == end) {
		state->phase = BLANK;
		return 0;
	}
	memset(head, 0, offsetof(struct cuttle_head, fields));
	state->phase = FIELDS;
	return parse_request_line(head, base, line, end);
}

int cuttle_parse_head(struct cuttle_head_state *state, struct cuttle_head *head, const char *bytes, size_t length)
{
	for (;;) {
		const char *line = bytes + state->line;
		int size = measure_line(state, line, length - state->line), failed;
		bool last = size == 2 && state->phase == FIELDS;

		if (size <= 0)
			return size;
		state->line += (uint32_t)size;
		state->scanned = 0;
		failed = last ? conclude(state, head) : parse_line(state, head, bytes, line, line + size - 2);
		if (failed || last)
			return failed ? -failed : (int)state->line;
	}
}
