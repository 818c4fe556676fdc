/* The serialiser of response heads: fields that an app returned, as an input of names and values by turns, each ended
 * by a NUL. What comes out is what a slow reference writes, octet for octet, or both refuse the same field. */
#include "check.h"
#include "targets.h"

#include <response_head.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STATUS_LINE "HTTP/1.1 200 OK\r\n"

/* The reference's head, with room for all that an input can become. */
struct text {
	char *octets;
	size_t length;
	bool close, upgrade_option, chunked, has_length;
	size_t upgrade_at, upgrade_length;
	unsigned long long content_length;
};

static void add(struct text *text, const char *octets, size_t length)
{
	memcpy(text->octets + text->length, octets, length);
	text->length += length;
}

static bool is_token(const char *octets, size_t length)
{
	for (size_t at = 0; at < length; at++)
		if (!strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
			    octets[at]))
			return false;
	return length > 0;
}

static bool is_text(const char *octets, size_t length)
{
	for (size_t at = 0; at < length; at++)
		if (octets[at] != '\t' && ((unsigned char)octets[at] < 32 || octets[at] == 127))
			return false;
	return true;
}

static bool same(const char *octets, size_t length, const char *word)
{
	return length == strlen(word) && strncasecmp(octets, word, length) == 0;
}

/* Reads a list of options (RFC 9110, 5.6.1). Returns whether it has others than "close" and "keep-alive". */
static bool read_options(struct text *text, const char *value, size_t length)
{
	bool others = false;
	size_t at = 0;

	while (at <= length) {
		size_t end = at, first, last;

		while (end < length && value[end] != ',')
			end++;
		first = at;
		last = end;
		while (first < last && (value[first] == ' ' || value[first] == '\t'))
			first++;
		while (last > first && (value[last - 1] == ' ' || value[last - 1] == '\t'))
			last--;
		if (same(value + first, last - first, "close"))
			text->close = true;
		else if (last > first && !same(value + first, last - first, "keep-alive"))
			others = true;
		if (same(value + first, last - first, "upgrade"))
			text->upgrade_option = true;
		at = end + 1;
	}
	return others;
}

/* Returns false where the length is refused. */
static bool read_length(struct text *text, const char *value, size_t length)
{
	unsigned long long number = 0;

	if (length == 0 || length > 18)
		return false;
	for (size_t at = 0; at < length; at++) {
		if (value[at] < '0' || value[at] > '9')
			return false;
		number = number * 10 + (unsigned long long)(value[at] - '0');
	}
	if (text->has_length && text->content_length != number)
		return false;
	text->has_length = true;
	text->content_length = number;
	return true;
}

/* One line of a value. Returns false where it is refused. */
static bool write_line(struct text *text, const char *name, size_t name_length, const char *value, size_t length)
{
	if (!is_text(value, length))
		return false;
	if (same(name, name_length, "status") || same(name, name_length, "keep-alive"))
		return true;
	if (same(name, name_length, "content-length"))
		return read_length(text, value, length);
	if (same(name, name_length, "transfer-encoding")) {
		text->chunked = true;
		return same(value, length, "chunked");
	}
	if (same(name, name_length, "connection") && !read_options(text, value, length))
		return true;
	if (same(name, name_length, "upgrade") && text->upgrade_at == 0) {
		text->upgrade_at = text->length + name_length + 2;
		text->upgrade_length = length;
	}
	add(text, name, name_length);
	add(text, ": ", 2);
	add(text, value, length);
	add(text, "\r\n", 2);
	return true;
}

static bool write_field(struct text *text, const char *name, size_t name_length, const char *value, size_t length)
{
	if (!is_token(name, name_length))
		return false;
	if (length > 0 && value[length - 1] == '\n') {
		while (length > 0 && value[length - 1] == '\n')
			length--;
		if (length == 0) /* only newlines, which make no field */
			return true;
	}
	for (;;) {
		const char *newline = memchr(value, '\n', length);
		size_t line = newline ? (size_t)(newline - value) : length;

		if (!write_line(text, name, name_length, value, line))
			return false;
		if (!newline)
			return true;
		value += line + 1;
		length -= line + 1;
	}
}

/* The octets up to the next NUL, or to the end; *at moves behind them. */
static const char *next(const char *octets, size_t length, size_t *at, size_t *size)
{
	const char *found = octets + *at, *end = memchr(found, '\0', length - *at);

	*size = end ? (size_t)(end - found) : length - *at;
	*at += *size + (end ? 1 : 0);
	return found;
}

void fuzz_response_head(const char *octets, size_t length)
{
	struct input input = {octets, length};
	struct cuttle_response_head head;
	struct text text = {.octets = malloc(length * 260 + sizeof STATUS_LINE)};
	bool good = true;
	size_t at = 0;

	cuttle_response_head_begin(&head, 200);
	add(&text, STATUS_LINE, sizeof STATUS_LINE - 1);
	while (good && at < length) {
		size_t name_size, value_size;
		const char *name = next(octets, length, &at, &name_size);
		const char *value = next(octets, length, &at, &value_size);
		char *copied_name = check_copy(name, name_size), *copied_value = check_copy(value, value_size);

		if (name_size > 256)
			name_size = 256;
		good = write_field(&text, name, name_size, value, value_size);
		check_demand((cuttle_response_head_field(&head, copied_name, name_size, copied_value, value_size) ==
			      CUTTLE_NO_FAULT) == good,
			     "a field is refused where the reference refuses it", input);
		free(copied_name);
		free(copied_value);
	}
	if (good) {
		check_demand(head.length == text.length && memcmp(head.at, text.octets, text.length) == 0,
			     "a head is the reference's", input);
		check_demand(head.close == text.close && head.upgrade_option == text.upgrade_option &&
				     head.upgrade_at == text.upgrade_at &&
				     (!head.upgrade_at || head.upgrade_length == text.upgrade_length) &&
				     head.chunked == text.chunked && head.has_length == text.has_length &&
				     (!head.has_length || head.content_length == text.content_length),
			     "a head says of the message what the reference says", input);
	}
	cuttle_response_head_free(&head);
	free(text.octets);
}
