/* The request head, line by line. See parser.h for the contract, target.c for targets and authorities.
 *
 *   START --CRLF--> BLANK --line--> FIELDS --line--> ... --empty line--> done
 *     `-----------------line---------^
 */
#include "parser.h"
#include "syntax.h"
#include "target.h"

#include <string.h>
#include <strings.h>

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

static bool same(const char *octets, size_t length, const char *word)
{
	return length == strlen(word) && strncasecmp(octets, word, length) == 0;
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

		if (number > (INT64_MAX - digit) / 10)
			return 400;
		number = number * 10 + digit;
	}
	head->content_length = number;
	head->has_length = true;
	return 0;
}

/* Calls each for every element of a comma-separated list (RFC 9110, 5.6.1), without the white space around it. */
static const char *next_element(const char *at, const char *end, const char **element, size_t *length)
{
	const char *stop;

	while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
		at++;
	if (at == end)
		return NULL;
	stop = memchr(at, ',', (size_t)(end - at));
	if (!stop)
		stop = end;
	*element = at;
	*length = (size_t)(stop - at);
	while (*length > 0 && (at[*length - 1] == ' ' || at[*length - 1] == '\t'))
		(*length)--;
	return stop;
}

static uint8_t parse_connection(const char *value, size_t length)
{
	const char *at = value, *end = value + length, *element;
	uint8_t seen = 0;

	while ((at = next_element(at, end, &element, &length))) {
		if (same(element, length, "close"))
			seen |= SEEN_CLOSE;
		else if (same(element, length, "keep-alive"))
			seen |= SEEN_KEEP_ALIVE;
	}
	return seen;
}

/* RFC 9112, 6.1: chunked, and nothing else, is understood. One chunked that is not alone makes the message's end a
 * matter of opinion. */
static int parse_encoding(struct cuttle_head *head, const char *value, size_t length, uint8_t seen)
{
	const char *at = value, *end = value + length, *element;
	size_t count = 0, element_length;
	bool chunked = false;

	if (seen & SEEN_ENCODING || length == 0)
		return 400;
	while ((at = next_element(at, end, &element, &element_length))) {
		if (chunked)
			return 400;
		chunked = same(element, element_length, "chunked");
		if (!chunked && cuttle_span(element, element_length, CUTTLE_TOKEN) != element_length)
			return 400;
		count++;
	}
	if (count != 1 || !chunked || length != 7)
		return count == 1 && chunked ? 400 : 501;
	head->chunked = true;
	return 0;
}

static int parse_known_field(struct cuttle_head_state *state, struct cuttle_head *head, const char *base,
			     const char *name, size_t name_length, const char *value, size_t length)
{
	uint8_t seen = 0;
	int failed = 0;

	switch (name_length) {
	case 4:
		if (same(name, 4, "host")) {
			seen = SEEN_HOST;
			failed = state->seen & SEEN_HOST ? 400 : cuttle_parse_host(head, base, value, length);
		}
		break;
	case 6:
		if (same(name, 6, "expect")) {
			seen = SEEN_EXPECT;
			failed = same(value, length, "100-continue") ? 0 : 417;
		}
		break;
	case 10:
		if (same(name, 10, "connection"))
			seen = parse_connection(value, length);
		break;
	case 14:
		if (same(name, 14, "content-length")) {
			seen = SEEN_LENGTH;
			failed = parse_length(head, value, length, state->seen);
		}
		break;
	case 17:
		if (same(name, 17, "transfer-encoding")) {
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
	if (cuttle_span(value, (size_t)(end - value), CUTTLE_VALUE) != (size_t)(end - value))
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

static void begin(struct cuttle_head *head)
{
	memset(head, 0, offsetof(struct cuttle_head, fields));
}

/* A line that is too long, or holds what no line may: told before its end has come. */
static int check_unfinished(const struct cuttle_head_state *state, const char *line, size_t length)
{
	if (memchr(line, '\0', length))
		return 400;
	if (state->phase != FIELDS && length > CUTTLE_LIMIT_REQUEST_LINE)
		return memchr(line, ' ', METHOD_LIMIT + 1) ? 414 : 501;
	return state->phase == FIELDS && length > CUTTLE_LIMIT_FIELD_LINE ? 431 : 0;
}

static int parse_line(struct cuttle_head_state *state, struct cuttle_head *head, const char *base, const char *line,
		      const char *end)
{
	int failed = check_unfinished(state, line, (size_t)(end - line));

	if (failed)
		return failed;
	if (state->phase == FIELDS)
		return parse_field(state, head, base, line, end);
	if (state->phase == START && line == end) { /* RFC 9112, 2.2: one empty line before a request is forgiven */
		state->phase = BLANK;
		return 0;
	}
	begin(head);
	state->phase = FIELDS;
	return parse_request_line(head, base, line, end);
}

int cuttle_parse_head(struct cuttle_head_state *state, struct cuttle_head *head, const char *bytes, size_t length)
{
	for (;;) {
		const char *line = bytes + state->line, *from = line + state->scanned;
		const char *newline = memchr(from, '\n', length - state->line - state->scanned);
		bool last;
		int failed;

		if (!newline) {
			failed = check_unfinished(state, line, length - state->line);
			state->scanned = (uint32_t)(length - state->line);
			return length > CUTTLE_LIMIT_HEAD && !failed ? -431 : -failed;
		}
		if (newline == line || newline[-1] != '\r') /* RFC 9112, 2.2 lets a bare LF pass; others differ: rejected */
			return -400;
		last = state->phase == FIELDS && newline - 1 == line;
		failed = last ? conclude(state, head) : parse_line(state, head, bytes, line, newline - 1);
		state->line = (uint32_t)(newline + 1 - bytes);
		state->scanned = 0;
		if (failed || last)
			return failed ? -failed : (int)state->line;
		if (state->line > CUTTLE_LIMIT_HEAD)
			return -431;
	}
}
