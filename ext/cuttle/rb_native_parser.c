/* Cuttle::Http::Parsers::Native: the native parser behind the contract of the Ruby parsers. */
#include "parser.h"
#include "rb_cuttle.h"

#include <stdlib.h>

struct native_parser {
	struct cuttle_head_state state;
	struct cuttle_chunk_state chunks;
	struct cuttle_head head;
};

static VALUE head_class;

static size_t native_parser_size(const void *data)
{
	return sizeof(struct native_parser);
}

static const rb_data_type_t native_parser_type = {
	.wrap_struct_name = "Cuttle::Http::Parsers::Native",
	.function = {.dfree = RUBY_DEFAULT_FREE, .dsize = native_parser_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE native_parser_allocate(VALUE class)
{
	struct native_parser *parser;

	return TypedData_Make_Struct(class, struct native_parser, &native_parser_type, parser);
}

static struct native_parser *native_parser_of(VALUE self)
{
	struct native_parser *parser;

	TypedData_Get_Struct(self, struct native_parser, &native_parser_type, parser);
	return parser;
}

static void fail(int status)
{
	VALUE error = rb_const_get(rb_const_get(cuttle_module, rb_intern("Http")), rb_intern("ParseError"));
	VALUE options = rb_hash_new(), arguments[2] = {rb_str_new_cstr(cuttle_reason(status)), options};

	rb_hash_aset(options, ID2SYM(rb_intern("status")), INT2FIX(status));
	rb_exc_raise(rb_class_new_instance_kw(2, arguments, error, RB_PASS_KEYWORDS));
}

static VALUE text(VALUE bytes, struct cuttle_slice slice)
{
	return rb_str_new(RSTRING_PTR(bytes) + slice.offset, slice.length);
}

static void set(VALUE values, const char *name, VALUE value)
{
	rb_hash_aset(values, ID2SYM(rb_intern(name)), value);
}

static VALUE build_head(const struct cuttle_head *head, VALUE bytes, int size)
{
	VALUE fields = rb_ary_new_capa(head->field_count), values = rb_hash_new();

	for (uint32_t index = 0; index < head->field_count; index++)
		rb_ary_push(fields, rb_assoc_new(text(bytes, head->fields[index].name),
						 text(bytes, head->fields[index].value)));
	set(values, "http_method", text(bytes, head->method));
	set(values, "target", text(bytes, head->target));
	set(values, "path", text(bytes, head->path));
	set(values, "query", head->has_query ? text(bytes, head->query) : Qnil);
	set(values, "host", head->has_host ? text(bytes, head->host) : Qnil);
	set(values, "port", text(bytes, head->port));
	set(values, "minor", INT2FIX(head->minor));
	set(values, "fields", fields);
	set(values, "content_length", head->chunked ? Qnil : ULL2NUM(head->content_length));
	set(values, "chunked", RBOOL(head->chunked));
	set(values, "keep_alive", RBOOL(head->keep_alive));
	set(values, "expect_continue", RBOOL(head->expect_continue));
	set(values, "bytesize", INT2FIX(size));
	return rb_class_new_instance_kw(1, &values, head_class, RB_PASS_KEYWORDS);
}

/* call-seq: head(bytes) -> Http::Head or nil */
static VALUE native_parser_head(VALUE self, VALUE bytes)
{
	struct native_parser *parser = native_parser_of(self);
	int size;

	StringValue(bytes);
	size = cuttle_parse_head(&parser->state, &parser->head, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes));
	if (size == 0)
		return Qnil;
	memset(&parser->state, 0, sizeof parser->state);
	memset(&parser->chunks, 0, sizeof parser->chunks);
	if (size < 0)
		fail(-size);
	return build_head(&parser->head, bytes, size);
}

/* call-seq: chunks(bytes) -> [consumed, data, done] */
static VALUE native_parser_chunks(VALUE self, VALUE bytes)
{
	struct native_parser *parser = native_parser_of(self);
	VALUE data = rb_str_new(NULL, 0);
	size_t consumed = 0, count;
	int result;

	StringValue(bytes);
	do {
		struct cuttle_slice piece;
		const char *from = RSTRING_PTR(bytes) + consumed;

		count = (size_t)RSTRING_LEN(bytes) - consumed;
		result = cuttle_parse_chunks(&parser->chunks, from, &count, &piece);
		if (result < 0)
			fail(-result);
		rb_str_cat(data, from + piece.offset, piece.length);
		consumed += count;
	} while (result == 0 && count > 0);
	return rb_ary_new_from_args(3, SIZET2NUM(consumed), data, RBOOL(result == 1));
}

void Init_cuttle_native_parser(void)
{
	VALUE http = rb_const_get(cuttle_module, rb_intern("Http"));
	VALUE class = rb_define_class_under(rb_const_get(http, rb_intern("Parsers")), "Native", rb_cObject);

	head_class = rb_const_get(http, rb_intern("Head"));
	rb_gc_register_mark_object(head_class);
	rb_define_alloc_func(class, native_parser_allocate);
	rb_define_method(class, "head", native_parser_head, 1);
	rb_define_method(class, "chunks", native_parser_chunks, 1);
}
