/* Lets a Ruby parser stand in for the native one: its Http::Head becomes a cuttle_head, whose slices are into a copy
 * of its strings. */
#include "rb_cuttle.h"
#include "syntax.h"

#include <stdlib.h>
#include <strings.h>

static VALUE parse_error;

/* The strings of a head, one behind the other, while they are gathered. */
struct copy {
	char *octets;
	size_t length, room;
};

static struct cuttle_slice append(struct copy *copy, VALUE string)
{
	struct cuttle_slice slice = {.offset = (uint32_t)copy->length};

	if (NIL_P(string))
		return slice;
	StringValue(string);
	slice.length = (uint32_t)RSTRING_LEN(string);
	if (copy->length + slice.length > copy->room)
		rb_raise(rb_eArgError, "a parser's head is longer than its input");
	memcpy(copy->octets + copy->length, RSTRING_PTR(string), slice.length);
	copy->length += slice.length;
	return slice;
}

static VALUE get(VALUE head, const char *name)
{
	return rb_funcall(head, rb_intern(name), 0);
}

static bool is_content_length(VALUE name)
{
	return cuttle_same(RSTRING_PTR(name), (size_t)RSTRING_LEN(name), "content-length");
}

static void copy_fields(struct cuttle_head *into, struct copy *copy, VALUE fields)
{
	Check_Type(fields, T_ARRAY);
	into->has_length = false;
	if (RARRAY_LEN(fields) > CUTTLE_LIMIT_FIELDS)
		rb_raise(rb_eArgError, "a parser's head has too many fields");
	into->field_count = (uint32_t)RARRAY_LEN(fields);
	for (long index = 0; index < RARRAY_LEN(fields); index++) {
		VALUE field = rb_ary_entry(fields, index);

		into->fields[index].name = append(copy, rb_ary_entry(field, 0));
		into->fields[index].value = append(copy, rb_ary_entry(field, 1));
		into->has_length = into->has_length || is_content_length(rb_ary_entry(field, 0));
	}
}

static void copy_head(struct cuttle_head *into, struct copy *copy, VALUE head)
{
	VALUE query = get(head, "query"), host = get(head, "host"), length = get(head, "content_length");

	into->method = append(copy, get(head, "http_method"));
	into->target = append(copy, get(head, "target"));
	into->path = append(copy, get(head, "path"));
	into->query = append(copy, query);
	into->host = append(copy, host);
	into->port = append(copy, get(head, "port"));
	into->has_query = !NIL_P(query);
	into->has_host = !NIL_P(host);
	into->chunked = RTEST(get(head, "chunked"));
	into->content_length = NIL_P(length) ? 0 : NUM2ULL(length);
	into->minor = (uint8_t)NUM2INT(get(head, "minor"));
	into->keep_alive = RTEST(get(head, "keep_alive"));
	into->expect_continue = RTEST(get(head, "expect_continue"));
	copy_fields(into, copy, get(head, "fields"));
}

static enum cuttle_step parse_head(struct cuttle_handle *handle, VALUE octets)
{
	struct cuttle_connection *connection = handle->connection;
	VALUE head = rb_funcall(handle->parser, rb_intern("head"), 1, octets);
	struct copy copy = {.room = (size_t)RSTRING_LEN(octets) * 3 + 64};
	enum cuttle_step step;

	if (NIL_P(head)) {
		cuttle_handle_lock(handle);
		cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_REQUEST, cuttle_now());
		step = cuttle_connection_hungry(connection, cuttle_now());
		cuttle_handle_unlock(handle);
		return step;
	}
	copy.octets = connection->inbox->foreign = malloc(copy.room);
	if (!copy.octets)
		rb_memerror();
	copy_head(&connection->inbox->head, &copy, head);
	cuttle_handle_lock(handle);
	step = cuttle_connection_head_parsed(connection, NUM2UINT(get(head, "bytesize")), cuttle_now());
	cuttle_handle_unlock(handle);
	return step;
}

static enum cuttle_step parse_body(struct cuttle_handle *handle, VALUE octets)
{
	struct cuttle_connection *connection = handle->connection;
	VALUE result = rb_funcall(handle->parser, rb_intern("chunks"), 1, octets);
	VALUE data = rb_ary_entry(rb_Array(result), 1);
	uint32_t consumed = NUM2UINT(rb_ary_entry(result, 0));
	enum cuttle_step step;

	StringValue(data);
	if (consumed > (size_t)RSTRING_LEN(octets))
		rb_raise(rb_eArgError, "a parser consumed more than its input");
	cuttle_handle_lock(handle);
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_REQUEST, cuttle_now());
	step = cuttle_connection_body_parsed(connection, consumed, RSTRING_PTR(data), (size_t)RSTRING_LEN(data),
					     RTEST(rb_ary_entry(result, 2)), cuttle_now());
	cuttle_handle_unlock(handle);
	RB_GC_GUARD(data);
	return step;
}

static VALUE parse(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);
	struct cuttle_inbox *inbox = handle->connection->inbox;
	bool body = handle->connection->state == CUTTLE_BODY;
	uint32_t skip = body ? handle->connection->head_size : 0;
	VALUE octets = rb_str_new(cuttle_inbox_unused(inbox) + skip, cuttle_inbox_size(inbox) - skip);

	return INT2FIX(body ? parse_body(handle, octets) : parse_head(handle, octets));
}

enum cuttle_step cuttle_ruby_parse(VALUE connection)
{
	struct cuttle_handle *handle = cuttle_handle_of(connection);
	enum cuttle_step step;
	int failed, status = 500;
	VALUE result = rb_protect(parse, connection, &failed), error;

	if (!failed)
		return (enum cuttle_step)FIX2INT(result);
	error = rb_errinfo();
	rb_set_errinfo(Qnil);
	if (RTEST(rb_obj_is_kind_of(error, parse_error)))
		status = NUM2INT(rb_funcall(error, rb_intern("status"), 0));
	cuttle_handle_lock(handle);
	step = cuttle_connection_fail(handle->connection, status, cuttle_now());
	cuttle_handle_unlock(handle);
	return step;
}

void Init_cuttle_ruby_parser(void)
{
	VALUE http = rb_const_get(cuttle_module, rb_intern("Http"));

	parse_error = rb_const_get(http, rb_intern("ParseError"));
	rb_gc_register_mark_object(parse_error);
}
