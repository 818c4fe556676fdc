/* Renders a response's status line and fields, and checks each octet of them on the way. */
#include "rb_cuttle.h"
#include "syntax.h"

#include <stdio.h>
#include <string.h>

VALUE cuttle_invalid_response;

static void invalid(const char *what, VALUE culprit)
{
	rb_raise(cuttle_invalid_response, "%s: %+" PRIsVALUE, what, culprit);
}

/* Room for length more octets; the text moves to a Ruby string once it outgrows the fixed buffer. */
static void reserve(struct cuttle_response_head *head, size_t length)
{
	if (head->length + length <= head->room)
		return;
	if (NIL_P(head->spill)) {
		head->spill = rb_str_new(NULL, (long)((head->length + length) * 2));
		memcpy(RSTRING_PTR(head->spill), head->at, head->length);
	} else {
		rb_str_resize(head->spill, (long)((head->length + length) * 2));
	}
	head->at = RSTRING_PTR(head->spill);
	head->room = (size_t)RSTRING_LEN(head->spill);
}

void cuttle_head_add(struct cuttle_response_head *head, const char *octets, size_t length)
{
	reserve(head, length);
	memcpy(head->at + head->length, octets, length);
	head->length += length;
}

void cuttle_head_add_length(struct cuttle_response_head *head, uint64_t length)
{
	char text[24] = {[22] = '\r', [23] = '\n'};
	size_t at = 22;

	do
		text[--at] = (char)('0' + length % 10);
	while (length /= 10);
	cuttle_head_add(head, "content-length: ", 16);
	cuttle_head_add(head, text + at, sizeof text - at);
}

/* RFC 9110, 8.6: digits only, and the same number if there are two. */
static void note_length(struct cuttle_response_head *head, const char *value, size_t length, VALUE culprit)
{
	uint64_t number = 0;

	if (length == 0 || length > 18)
		invalid("content-length is no number", culprit);
	for (size_t index = 0; index < length; index++) {
		if (value[index] < '0' || value[index] > '9')
			invalid("content-length is no number", culprit);
		number = number * 10 + (uint64_t)(value[index] - '0');
	}
	if (head->has_length && head->content_length != number)
		invalid("two different content-lengths", culprit);
	head->has_length = true;
	head->content_length = number;
}

static bool lists_close(const char *value, size_t length)
{
	const char *at = value, *end = value + length, *element;

	while ((at = cuttle_next_element(at, end, &element, &length)))
		if (cuttle_same(element, length, "close"))
			return true;
	return false;
}

/* Fields that say how the message goes over the wire are taken as the app's wish, and written by the server. */
static bool is_framing(struct cuttle_response_head *head, VALUE key, const char *value, size_t length)
{
	const char *name = RSTRING_PTR(key);

	switch (RSTRING_LEN(key)) {
	case 4:
		head->has_date = head->has_date || cuttle_same(name, 4, "date");
		return false;
	case 10:
		if (!cuttle_same(name, 10, "connection"))
			return cuttle_same(name, 10, "keep-alive");
		if (lists_close(value, length))
			head->close = true;
		return head->close || cuttle_same(value, length, "keep-alive");
	case 14:
		if (!cuttle_same(name, 14, "content-length"))
			return false;
		note_length(head, value, length, key);
		return true;
	case 17:
		if (!cuttle_same(name, 17, "transfer-encoding"))
			return false;
		if (!cuttle_same(value, length, "chunked"))
			invalid("a transfer-encoding other than chunked", key);
		head->chunked = true;
		return true;
	default:
		return false;
	}
}

static void add_field(struct cuttle_response_head *head, VALUE key, const char *value, size_t length)
{
	size_t name_length = (size_t)RSTRING_LEN(key);
	char *at;

	if (is_framing(head, key, value, length))
		return;
	reserve(head, name_length + length + 4);
	at = head->at + head->length;
	memcpy(at, RSTRING_PTR(key), name_length);
	at += name_length;
	*at++ = ':';
	*at++ = ' ';
	memcpy(at, value, length);
	at += length;
	*at++ = '\r';
	*at++ = '\n';
	head->length = (size_t)(at - head->at);
}

/* A value with newlines means several fields (Rack 2). */
static void add_lines(struct cuttle_response_head *head, VALUE key, const char *at, size_t length)
{
	const char *end = at + length;

	for (;;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		length = (size_t)((newline ? newline : end) - at);
		if (!cuttle_is_value(at, length))
			invalid("control character in the value of a header", key);
		add_field(head, key, at, length);
		if (!newline)
			break;
		at = newline + 1;
	}
}

static void add_text(struct cuttle_response_head *head, VALUE key, VALUE value)
{
	const char *octets = RSTRING_PTR(value);
	size_t length = (size_t)RSTRING_LEN(value);

	if (cuttle_is_value(octets, length))
		add_field(head, key, octets, length);
	else
		add_lines(head, key, octets, length);
	RB_GC_GUARD(value);
}

static void add_value(struct cuttle_response_head *head, VALUE key, VALUE value)
{
	if (RB_TYPE_P(value, T_ARRAY)) {
		for (long index = 0; index < RARRAY_LEN(value); index++)
			add_value(head, key, rb_obj_as_string(RARRAY_AREF(value, index)));
		return;
	}
	if (!RB_TYPE_P(value, T_STRING))
		value = rb_obj_as_string(value);
	add_text(head, key, value);
}

static int add_pair(VALUE key, VALUE value, VALUE data)
{
	struct cuttle_response_head *head = (struct cuttle_response_head *)data;

	if (RB_TYPE_P(key, T_SYMBOL))
		key = rb_sym2str(key);
	if (!RB_TYPE_P(key, T_STRING) || RSTRING_LEN(key) == 0 ||
	    cuttle_span(RSTRING_PTR(key), (size_t)RSTRING_LEN(key), CUTTLE_TOKEN) != (size_t)RSTRING_LEN(key))
		invalid("a header's name is no token", key);
	if (RSTRING_LEN(key) > 5 && memcmp(RSTRING_PTR(key), "rack.", 5) == 0) { /* for the server, not for the wire */
		if (RSTRING_LEN(key) == 11 && memcmp(RSTRING_PTR(key), "rack.hijack", 11) == 0 && RTEST(value))
			head->hijack = true;
		return ST_CONTINUE;
	}
	if (!NIL_P(value))
		add_value(head, key, value);
	RB_GC_GUARD(key);
	return ST_CONTINUE;
}

static VALUE add_yielded(RB_BLOCK_CALL_FUNC_ARGLIST(pair, data))
{
	VALUE key = argc == 2 ? argv[0] : rb_ary_entry(rb_Array(pair), 0);
	VALUE value = argc == 2 ? argv[1] : rb_ary_entry(rb_Array(pair), 1);

	add_pair(key, value, data);
	return Qnil;
}

static void add_status_line(struct cuttle_response_head *head, int status)
{
	char line[96];
	int length;

	if (status == 200) {
		cuttle_head_add(head, "HTTP/1.1 200 OK\r\n", 17);
		return;
	}
	length = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", status, cuttle_reason(status));
	cuttle_head_add(head, line, (size_t)length);
}

void cuttle_head_render(struct cuttle_response_head *head, int status, VALUE fields)
{
	head->at = head->fixed;
	head->room = sizeof head->fixed;
	head->length = 0;
	head->spill = Qnil;
	head->has_length = head->chunked = head->hijack = head->has_date = head->close = false;
	head->content_length = 0;
	add_status_line(head, status);
	if (RB_TYPE_P(fields, T_HASH))
		rb_hash_foreach(fields, add_pair, (VALUE)head);
	else if (rb_respond_to(fields, rb_intern("each")))
		rb_block_call(fields, rb_intern("each"), 0, NULL, add_yielded, (VALUE)head);
	else
		invalid("headers can't be enumerated", fields);
}

int cuttle_status(VALUE status)
{
	long number;

	if (!FIXNUM_P(status)) {
		VALUE text = rb_check_string_type(status);

		if (NIL_P(text) || RSTRING_LEN(text) != 3)
			invalid("status is no final status code", status);
		status = rb_str_to_inum(text, 10, 0);
	}
	number = FIXNUM_P(status) ? FIX2LONG(status) : 0;
	if (number < 200 || number > 599)
		invalid("status is no final status code", status);
	return (int)number;
}
