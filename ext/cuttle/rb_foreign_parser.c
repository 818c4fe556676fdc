/* Lets a Ruby parser replace the native one: its Http::Head becomes a cuttle_head, whose slices refer to a copy of its
 * strings. */
#include "rb_exchange.h"
#include "syntax.h"

#include <stdlib.h>
#include <strings.h>

static VALUE parse_error;

/* Gathers the strings of a head, one after the other. */
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

/* The arguments of what runs under rb_protect. */
struct parsing {
	struct cuttle_source *source;
	struct cuttle_connection *connection;
	VALUE owner, parser;
	enum cuttle_step step;
};

static void lock(const struct cuttle_source *source)
{
	if (source->loop)
		pthread_mutex_lock(&source->loop->lock);
}

static void parse_head(struct parsing *parsing, VALUE octets)
{
	struct cuttle_connection *connection = parsing->connection;
	VALUE head = rb_funcall(parsing->parser, rb_intern("head"), 1, octets);
	struct copy copy = {.room = (size_t)RSTRING_LEN(octets) * 3 + 64};
	uint32_t size = 0;

	if (!NIL_P(head)) {
		size = NUM2UINT(get(head, "bytesize"));
		if (size == 0 || size > (size_t)RSTRING_LEN(octets))
			rb_raise(rb_eArgError, "a parser's head is no part of its input");
		free(connection->inbox->foreign);
		copy.octets = connection->inbox->foreign = malloc(copy.room);
		if (!copy.octets)
			rb_memerror();
		copy_head(&connection->inbox->head, &copy, head);
	}
	lock(parsing->source);
	parsing->step = size ? cuttle_connection_head_parsed(connection, size, cuttle_now())
			     : cuttle_connection_unsatisfied(connection, cuttle_now());
}

static void parse_body(struct parsing *parsing, VALUE octets)
{
	VALUE result = rb_Array(rb_funcall(parsing->parser, rb_intern("chunks"), 1, octets));
	VALUE data = rb_ary_entry(result, 1);
	uint32_t consumed = NUM2UINT(rb_ary_entry(result, 0));
	bool done = RTEST(rb_ary_entry(result, 2));

	StringValue(data);
	if (consumed > (size_t)RSTRING_LEN(octets))
		rb_raise(rb_eArgError, "a parser consumed more than its input");
	lock(parsing->source);
	parsing->step = cuttle_connection_body_parsed(parsing->connection, consumed, RSTRING_PTR(data),
						      (size_t)RSTRING_LEN(data), done, cuttle_now());
	RB_GC_GUARD(data);
}

static VALUE parse(VALUE data)
{
	struct parsing *parsing = (struct parsing *)data;
	struct cuttle_connection *connection = parsing->connection;
	struct cuttle_inbox *inbox = connection->inbox;
	bool body = connection->parsed_state == CUTTLE_BODY;
	uint32_t skip = body ? connection->exchange->head_size : 0;
	VALUE octets = rb_str_new(cuttle_inbox_unused(inbox) + skip, cuttle_inbox_size(inbox) - skip);

	(body ? parse_body : parse_head)(parsing, octets);
	return Qnil;
}

/* Finds the request's parser, which is made when its head begins. */
static VALUE find_parser(VALUE data)
{
	struct parsing *parsing = (struct parsing *)data;
	uintptr_t known = cuttle_connection_reference(parsing->connection, CUTTLE_TO_PARSER);

	parsing->parser = known ? (VALUE)known : rb_funcall(parsing->source->parser, rb_intern("new"), 0);
	if (!known && !cuttle_source_refer(parsing->owner, parsing->connection, CUTTLE_TO_PARSER, parsing->parser))
		rb_memerror();
	return Qnil;
}

/* Returns the status to answer to what a parser raised. Anything but a ParseError is the parser's own fault. */
static int status_of(VALUE error)
{
	if (RTEST(rb_obj_is_kind_of(error, parse_error)))
		return NUM2INT(rb_funcall(error, rb_intern("status"), 0));
	return 500;
}

/* Whether the exception does not concern the parser: a signal, Thread#kill, the process's exit. */
static bool is_foreign(VALUE error)
{
	return RB_SPECIAL_CONST_P(error) || !RTEST(rb_obj_is_kind_of(error, rb_eStandardError));
}

enum cuttle_step cuttle_foreign_parse(struct cuttle_source *source, VALUE owner, struct cuttle_connection *connection,
				      int *raised)
{
	struct parsing parsing = {.source = source, .connection = connection, .owner = owner, .parser = Qnil};
	VALUE error;
	int failed, status = 500;

	*raised = 0;

	rb_protect(find_parser, (VALUE)&parsing, &failed);
	if (!failed)
		rb_protect(parse, (VALUE)&parsing, &failed);
	if (!failed)
		return parsing.step;
	error = rb_errinfo();
	if (is_foreign(error)) {
		*raised = failed;
	} else {
		rb_set_errinfo(Qnil);
		status = status_of(error);
	}
	lock(source);
	parsing.step = cuttle_connection_refuse(connection, status, cuttle_now());
	return parsing.step;
}

void Init_cuttle_foreign_parser(void)
{
	VALUE http = rb_const_get(cuttle_module, rb_intern("Http"));

	parse_error = rb_const_get(http, rb_intern("ParseError"));
	rb_gc_register_mark_object(parse_error);
}
