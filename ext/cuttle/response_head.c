/* Renders response heads; see response_head.h. */
#include "response_head.h"
#include "parser.h"
#include "syntax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for length more octets. Returns false if out of memory. */
static bool reserve(struct cuttle_response_head *head, size_t length)
{
	size_t room;
	char *grown;

	if (length <= head->room - head->length)
		return true;
	if (length > SIZE_MAX / 4 - head->length)
		return false;
	room = (head->length + length) * 2;
	grown = realloc(head->at == head->fixed ? NULL : head->at, room);
	if (!grown)
		return false;
	if (head->at == head->fixed)
		memcpy(grown, head->fixed, head->length);
	head->at = grown;
	head->room = room;
	return true;
}

bool cuttle_response_head_add(struct cuttle_response_head *head, const char *octets, size_t length)
{
	if (!reserve(head, length))
		return false;
	memcpy(head->at + head->length, octets, length);
	head->length += length;
	return true;
}

bool cuttle_response_head_add_length(struct cuttle_response_head *head, uint64_t length)
{
	char text[24] = {[22] = '\r', [23] = '\n'};
	size_t at = 22;

	do
		text[--at] = (char)('0' + length % 10);
	while (length /= 10);
	return cuttle_response_head_add(head, "content-length: ", 16) &&
	       cuttle_response_head_add(head, text + at, sizeof text - at);
}

void cuttle_response_head_begin(struct cuttle_response_head *head, int status)
{
	char line[96];
	int length;

	head->at = head->fixed;
	head->room = sizeof head->fixed;
	head->length = 0;
	head->has_length = head->chunked = head->has_date = head->close = head->upgrade_option = false;
	head->content_length = 0;
	head->upgrade_at = 0;
	if (status == 200) {
		cuttle_response_head_add(head, "HTTP/1.1 200 OK\r\n", 17);
		return;
	}
	length = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", status, cuttle_reason(status));
	cuttle_response_head_add(head, line, (size_t)length);
}

void cuttle_response_head_free(struct cuttle_response_head *head)
{
	if (head->at != head->fixed)
		free(head->at);
	head->at = head->fixed;
}

/* RFC 9110, 8.6: digits only. Two fields must agree. */
static enum cuttle_fault note_length(struct cuttle_response_head *head, const char *value, size_t length)
{
	uint64_t number = 0;

	if (length == 0 || length > 18)
		return CUTTLE_FAULT_LENGTH;
	for (size_t index = 0; index < length; index++) {
		if (value[index] < '0' || value[index] > '9')
			return CUTTLE_FAULT_LENGTH;
		number = number * 10 + (uint64_t)(value[index] - '0');
	}
	if (head->has_length && head->content_length != number)
		return CUTTLE_FAULT_LENGTHS;
	head->has_length = true;
	head->content_length = number;
	return CUTTLE_NO_FAULT;
}

/* Returns whether there are options other than those that the caller writes. A sender must list the fields that are
 * only for this connection (RFC 9110, 7.6.1). */
static bool note_options(struct cuttle_response_head *head, const char *value, size_t length)
{
	const char *at = value, *end = value + length, *element;
	bool others = false;

	while ((at = cuttle_next_element(at, end, &element, &length))) {
		bool close = cuttle_same(element, length, "close");

		head->close = head->close || close;
		head->upgrade_option = head->upgrade_option || cuttle_same(element, length, "upgrade");
		others = others || !(close || cuttle_same(element, length, "keep-alive"));
	}
	return others;
}

/* Notes what a field says about the message. *write becomes whether the field is sent as it is. */
static enum cuttle_fault note_field(struct cuttle_response_head *head, const char *name, size_t name_length,
				    const char *value, size_t length, bool *write)
{
	*write = false;
	switch (name_length) {
	case 4:
		head->has_date = head->has_date || cuttle_same(name, 4, "date");
		break;
	case 6:
		if (cuttle_same(name, 6, "status"))
			return CUTTLE_NO_FAULT;
		break;
	case 7:
		if (!head->upgrade_at && cuttle_same(name, 7, "upgrade")) {
			head->upgrade_at = head->length + name_length + 2;
			head->upgrade_length = length;
		}
		break;
	case 10:
		if (cuttle_same(name, 10, "keep-alive"))
			return CUTTLE_NO_FAULT;
		if (!cuttle_same(name, 10, "connection"))
			break;
		*write = note_options(head, value, length);
		return CUTTLE_NO_FAULT;
	case 14:
		if (!cuttle_same(name, 14, "content-length"))
			break;
		return note_length(head, value, length);
	case 17:
		if (!cuttle_same(name, 17, "transfer-encoding"))
			break;
		head->chunked = true;
		return cuttle_same(value, length, "chunked") ? CUTTLE_NO_FAULT : CUTTLE_FAULT_ENCODING;
	default:
		break;
	}
	*write = true;
	return CUTTLE_NO_FAULT;
}

static enum cuttle_fault add_line(struct cuttle_response_head *head, const char *name, size_t name_length,
				  const char *value, size_t length)
{
	bool write;
	enum cuttle_fault fault = note_field(head, name, name_length, value, length, &write);
	char *at;

	if (fault || !write)
		return fault;
	if (length > SIZE_MAX / 4 || !reserve(head, name_length + length + 4))
		return CUTTLE_FAULT_MEMORY;
	at = head->at + head->length;
	memcpy(at, name, name_length);
	at += name_length;
	*at++ = ':';
	*at++ = ' ';
	memcpy(at, value, length);
	at += length;
	*at++ = '\r';
	*at++ = '\n';
	head->length = (size_t)(at - head->at);
	return CUTTLE_NO_FAULT;
}

/* A value with newlines becomes several fields (Rack 2). Newlines at its end make none. */
static enum cuttle_fault add_lines(struct cuttle_response_head *head, const char *name, size_t name_length,
				   const char *at, size_t length)
{
	const char *end = at + length;

	while (end > at && end[-1] == '\n')
		end--;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		enum cuttle_fault fault;

		length = (size_t)((newline ? newline : end) - at);
		if (!cuttle_is_value(at, length))
			return CUTTLE_FAULT_VALUE;
		fault = add_line(head, name, name_length, at, length);
		if (fault)
			return fault;
		at += length + 1;
	}
	return CUTTLE_NO_FAULT;
}

enum cuttle_fault cuttle_response_head_field(struct cuttle_response_head *head, const char *name, size_t name_length,
					     const char *value, size_t length)
{
	if (name_length == 0 || name_length > SIZE_MAX / 4 || !cuttle_all(name, name_length, CUTTLE_TOKEN))
		return CUTTLE_FAULT_NAME;
	if (cuttle_is_value(value, length))
		return add_line(head, name, name_length, value, length);
	return add_lines(head, name, name_length, value, length);
}
