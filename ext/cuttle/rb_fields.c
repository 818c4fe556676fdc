/* Renders an app's header fields; see rb_fields.h. */
#include "rb_fields.h"

#include <string.h>

VALUE cuttle_invalid_response;

static void invalid(const char *what, VALUE culprit)
{
	rb_raise(cuttle_invalid_response, "%s: %+" PRIsVALUE, what, culprit);
}

static void add(struct cuttle_fields *fields, VALUE name, VALUE value)
{
	if (fields->count < CUTTLE_FIELDS_AT_HAND) {
		fields->at_hand[fields->count * 2] = name;
		fields->at_hand[fields->count * 2 + 1] = value;
	} else {
		if (NIL_P(fields->more))
			fields->more = rb_ary_new();
		rb_ary_push(fields->more, name);
		rb_ary_push(fields->more, value);
	}
	fields->count++;
}

static void add_value(struct cuttle_fields *fields, VALUE name, VALUE value)
{
	if (RB_TYPE_P(value, T_ARRAY)) {
		for (long index = 0; index < RARRAY_LEN(value); index++)
			add_value(fields, name, rb_obj_as_string(RARRAY_AREF(value, index)));
		return;
	}
	add(fields, name, RB_TYPE_P(value, T_STRING) ? value : rb_obj_as_string(value));
}

static bool begins_with_rack(VALUE name)
{
	return RSTRING_LEN(name) > 5 && memcmp(RSTRING_PTR(name), "rack.", 5) == 0;
}

static int gather_pair(VALUE name, VALUE value, VALUE data)
{
	struct cuttle_fields *fields = (struct cuttle_fields *)data;

	if (RB_TYPE_P(name, T_SYMBOL))
		name = rb_sym2str(name);
	if (!RB_TYPE_P(name, T_STRING))
		invalid("a header's name is no token", name);
	if (begins_with_rack(name)) /* for the server, not to be sent */
		fields->hijack = fields->hijack || (RTEST(value) && RSTRING_LEN(name) == 11 &&
						    memcmp(RSTRING_PTR(name), "rack.hijack", 11) == 0);
	else if (!NIL_P(value))
		add_value(fields, name, value);
	return ST_CONTINUE;
}

static VALUE gather_yielded(RB_BLOCK_CALL_FUNC_ARGLIST(pair, data))
{
	VALUE name = argc == 2 ? argv[0] : rb_ary_entry(rb_Array(pair), 0);
	VALUE value = argc == 2 ? argv[1] : rb_ary_entry(rb_Array(pair), 1);

	gather_pair(name, value, data);
	return Qnil;
}

void cuttle_fields_gather(struct cuttle_fields *fields, VALUE headers)
{
	fields->count = 0;
	fields->hijack = false;
	fields->more = Qnil;
	if (RB_TYPE_P(headers, T_HASH))
		rb_hash_foreach(headers, gather_pair, (VALUE)fields);
	else if (rb_respond_to(headers, rb_intern("each")))
		rb_block_call(headers, rb_intern("each"), 0, NULL, gather_yielded, (VALUE)fields);
	else
		invalid("headers can't be enumerated", headers);
}

static VALUE text_at(const struct cuttle_fields *fields, long index)
{
	return index < CUTTLE_FIELDS_AT_HAND * 2 ? fields->at_hand[index]
						 : RARRAY_AREF(fields->more, index - CUTTLE_FIELDS_AT_HAND * 2);
}

static void refuse(enum cuttle_fault fault, VALUE name)
{
	static const char *const faults[] = {
		[CUTTLE_FAULT_NAME] = "a header's name is no token",
		[CUTTLE_FAULT_VALUE] = "control character in the value of a header",
		[CUTTLE_FAULT_LENGTH] = "content-length is no number",
		[CUTTLE_FAULT_LENGTHS] = "two different content-lengths",
		[CUTTLE_FAULT_ENCODING] = "a transfer-encoding other than chunked",
	};

	if (fault == CUTTLE_FAULT_MEMORY)
		rb_memerror();
	invalid(faults[fault], name);
}

void cuttle_fields_render(const struct cuttle_fields *fields, int status, struct cuttle_response_head *head)
{
	cuttle_response_head_begin(head, status);
	for (long index = 0; index < fields->count; index++) {
		VALUE name = text_at(fields, index * 2), value = text_at(fields, index * 2 + 1);
		enum cuttle_fault fault = cuttle_response_head_field(head, RSTRING_PTR(name), (size_t)RSTRING_LEN(name),
								     RSTRING_PTR(value), (size_t)RSTRING_LEN(value));

		if (fault) {
			cuttle_response_head_free(head);
			refuse(fault, name);
		}
	}
}

int cuttle_status(VALUE status)
{
	VALUE value = status;
	long number;

	if (!FIXNUM_P(status)) {
		VALUE text = rb_check_string_type(status);

		if (NIL_P(text) || RSTRING_LEN(text) != 3)
			invalid("status is no final status code", status);
		value = rb_str_to_inum(text, 10, 0);
	}
	number = FIXNUM_P(value) ? FIX2LONG(value) : 0;
	if (number < 200 || number > 599)
		invalid("status is no final status code", status);
	return (int)number;
}
