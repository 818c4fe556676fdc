/* Parses the request head line by line. See parser.h for the contract and target.c for targets and authorities.
 *
 *   START --CRLF--> BLANK --line--> FIELDS --line--> ... --empty line--> done
 *     `-----------------line---------^
 *
 * A line that has arrived whole is parsed at once. A line that is incomplete or wrong is checked octet by octet:
 *
 *   BEGINNING (method) --SP--> TARGET --SP--> VERSION ("HTTP/1." digit CR LF)
 *   BEGINNING (name) --":"--> VALUE --CR--> LINE_FEED
 *   BEGINNING --CR--> LINE_FEED
 *
 * So the first wrong octet decides the answer, whether or not the rest of its line has arrived. */
#include "parser.h"
#include "syntax.h"
#include "target.h"

#include <string.h>

enum phase { START, BLANK, FIELDS };

enum part { BEGINNING, TARGET, VALUE, LINE_FEED, VERSION }; /* VERSION + n: n octets of it have arrived */

/* Fields seen so far. */
enum {
	SEEN_HOST = 1,
	SEEN_LENGTH = 2,
	SEEN_ENCODING = 4,
	SEEN_CLOSE = 8,
	SEEN_KEEP_ALIVE = 16,
	SEEN_EXPECT = 32,
};

/* The longest string that is accepted as a method. */
#define METHOD_LIMIT 64

static struct cuttle_slice slice(const char *base, const char *from, const char *to)
{
	return (struct cuttle_slice){.offset = (uint32_t)(from - base), .length = (uint32_t)(to - from)};
}

/* Checks one more octet of a method, a field name or an empty line; at is its offset in the line. Returns 0 or the
 * status to answer, like the other *_octet functions. */
static int beginning_octet(struct cuttle_head_state *state, const struct cuttle_head *head, char octet, uint32_t at)
{
	bool field = state->phase == FIELDS;

	if (cuttle_is(octet, CUTTLE_TOKEN)) {
		if (field)
			return at == 0 && head->field_count == CUTTLE_LIMIT_FIELDS ? 431 : 0;
		return at == METHOD_LIMIT ? 501 : 0;
	}
	if (at == 0) { /* an empty line ends the fields; one is allowed before a request line (RFC 9112, 2.2) */
		state->part = LINE_FEED;
		return octet == '\r' && state->phase != BLANK ? 0 : 400;
	}
	state->part = field ? VALUE : TARGET;
	return octet == (field ? ':' : ' ') ? 0 : 400;
}

static int target_octet(struct cuttle_head_state *state, char octet, char before)
{
	if (octet == ' ' && before != ' ')
		state->part = VERSION;
	else if (!cuttle_is(octet, CUTTLE_TARGET))
		return 400;
	return 0;
}

/* RFC 9112, 2.3: a higher minor version is fine, a higher major version is another protocol, and none is below 1. */
static int version_octet(struct cuttle_head_state *state, char octet)
{
	static const char form[] = "HTTP/1.0\r\n";
	unsigned at = state->part++ - VERSION;

	if (octet == form[at] || (form[at] == '0' && cuttle_is(octet, CUTTLE_DIGIT)))
		return 0;
	return form[at] == '1' && octet >= '2' && octet <= '9' ? 505 : 400;
}

static int value_octet(struct cuttle_head_state *state, char octet)
{
	if (octet == '\r')
		state->part = LINE_FEED;
	return octet == '\r' || cuttle_is(octet, CUTTLE_VALUE) ? 0 : 400;
}

/* Checks the octets of a line that are new, up to length, for whether they are allowed where they are. It does not
 * judge the line as a whole. */
static int check_octets(struct cuttle_head_state *state, const struct cuttle_head *head, const char *line,
			size_t length)
{
	int failed = 0;

	while (!failed && state->scanned < length) {
		uint32_t at = state->scanned++;

		switch (state->part) {
		case BEGINNING:
			failed = beginning_octet(state, head, line[at], at);
			break;
		case TARGET:
			failed = target_octet(state, line[at], line[at - 1]);
			break;
		case VALUE:
			failed = value_octet(state, line[at]);
			break;
		case LINE_FEED:
			failed = line[at] == '\n' ? 0 : 400;
			break;
		default:
			failed = version_octet(state, line[at]);
		}
	}
	return failed;
}

/* The functions below parse whole lines. They return 0, the status to answer, or one of these. */
enum {
	MALFORMED = -1, /* an octet is not allowed where it is; check_octets finds the status */
	LAST = -2,      /* this line ends the head */
};

static int parse_version(struct cuttle_head *head, const char *at, const char *end)
{
	if (end - at != 8 || memcmp(at, "HTTP/1.", 7) != 0 || !cuttle_is(at[7], CUTTLE_DIGIT))
		return MALFORMED;
	head->minor = at[7] != '0';
	return 0;
}

static int parse_request_line(struct cuttle_head *head, const char *base, const char *line, const char *end)
{
	const char *method_end = line + cuttle_span(line, (size_t)(end - line), CUTTLE_TOKEN);
	const char *target, *target_end;
	int failed;

	if (method_end == line || method_end == end || *method_end != ' ' || method_end - line > METHOD_LIMIT)
		return MALFORMED;
	target = method_end + 1;
	target_end = target + cuttle_span(target, (size_t)(end - target), CUTTLE_TARGET);
	if (target_end == target || target_end == end || *target_end != ' ')
		return MALFORMED;
	failed = parse_version(head, target_end + 1, end);
	if (failed)
		return failed;
	head->method = slice(base, line, method_end);
	head->target = slice(base, target, target_end);
	return cuttle_parse_target(head, base);
}

/* RFC 9110, 8.6: one field, of digits. A list of equal numbers is rejected, as others might read it differently. */
static int parse_length(struct cuttle_head *head, const char *value, size_t length, uint8_t seen)
{
	uint64_t number = 0;

	if (seen & SEEN_LENGTH || length == 0 || !cuttle_all(value, length, CUTTLE_DIGIT))
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

/* RFC 9112, 6.1 and 6.3: "chunked" must occur once, at the end of the list, or the body's end is undefined. After other
 * codings it is well-formed, but no other coding is implemented. */
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

/* RFC 9110, 10.1.1: a list, in which empty elements don't count (5.6.1.2). Without an element there is no
 * expectation. */
static int parse_expect(const char *value, size_t length, uint8_t *seen)
{
	const char *at = value, *end = value + length, *element;

	while ((at = cuttle_next_element(at, end, &element, &length))) {
		if (!cuttle_same(element, length, "100-continue"))
			return 417;
		*seen = SEEN_EXPECT;
	}
	return 0;
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
		if (cuttle_same(name, 6, "expect"))
			failed = parse_expect(value, length, &seen);
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

	if (colon == line || colon == end || *colon != ':' || head->field_count == CUTTLE_LIMIT_FIELDS)
		return MALFORMED;
	value = colon + 1;
	if (!cuttle_is_value(value, (size_t)(end - value)))
		return MALFORMED;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (value < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	head->fields[head->field_count++] =
		(struct cuttle_field){.name = slice(base, line, colon), .value = slice(base, value, end)};
	return parse_known_field(state, head, base, line, (size_t)(colon - line), value, (size_t)(end - value));
}

/* Checks what the fields mean together, at the empty line behind them (RFC 9112, 3.2, 6.3 and 9.3). */
static int conclude(const struct cuttle_head_state *state, struct cuttle_head *head)
{
	if (head->minor == 1 && !(state->seen & SEEN_HOST))
		return 400;
	if (head->chunked && (head->has_length || head->minor == 0))
		return 400;
	head->keep_alive = !(state->seen & SEEN_CLOSE) && (head->minor == 1 || state->seen & SEEN_KEEP_ALIVE);
	head->expect_continue = state->seen & SEEN_EXPECT && head->minor == 1;
	return LAST;
}

/* Octets that the current line may take, with its CRLF. */
static size_t line_room(const struct cuttle_head_state *state)
{
	size_t line = state->phase == FIELDS ? CUTTLE_LIMIT_FIELD_LINE : CUTTLE_LIMIT_REQUEST_LINE;
	size_t head = CUTTLE_LIMIT_HEAD - state->line;

	return line + 2 < head ? line + 2 : head;
}

static int too_long(const struct cuttle_head_state *state)
{
	return state->phase == FIELDS ? 431 : 414;
}

static int parse_line(struct cuttle_head_state *state, struct cuttle_head *head, const char *base, const char *line,
		      const char *end)
{
	int failed;

	if (state->phase == FIELDS)
		return line == end ? conclude(state, head) : parse_field(state, head, base, line, end);
	if (line == end) {
		failed = state->phase == BLANK ? MALFORMED : 0;
		state->phase = BLANK;
		return failed;
	}
	memset(head, 0, offsetof(struct cuttle_head, fields));
	failed = parse_request_line(head, base, line, end);
	if (!failed)
		state->phase = FIELDS;
	return failed;
}

/* Parses a line that ends with the LF at newline. */
static int parse_to(struct cuttle_head_state *state, struct cuttle_head *head, const char *base, const char *line,
		    const char *newline)
{
	int failed = MALFORMED;

	if (newline > line && newline[-1] == '\r') /* RFC 9112, 2.2 allows a bare LF, others don't: rejected */
		failed = parse_line(state, head, base, line, newline - 1);
	return failed == MALFORMED ? check_octets(state, head, line, (size_t)(newline + 1 - line)) : failed;
}

int cuttle_parse_head(struct cuttle_head_state *state, struct cuttle_head *head, const char *bytes, size_t length)
{
	for (;;) {
		const char *line = bytes + state->line, *newline;
		size_t there = length - state->line, room = line_room(state);
		int failed;

		if (there > room) /* octets beyond the line's limit don't matter */
			there = room;
		newline = memchr(line + state->scanned, '\n', there - state->scanned);
		if (!newline) {
			failed = check_octets(state, head, line, there);
			return failed || there < room ? -failed : -too_long(state);
		}
		failed = parse_to(state, head, bytes, line, newline);
		if (failed > 0)
			return -failed;
		state->line = (uint32_t)(newline + 1 - bytes);
		state->scanned = 0;
		state->part = BEGINNING;
		if (failed == LAST)
			return (int)state->line;
	}
}
