/* rack.input and CONTENT_LENGTH: a request's body as the app reads it, from memory or from the file that it was spooled
 * to. */
#include "rb_env_parts.h"

static VALUE content_length, input_key, string_io;

/* Returns the file that a body was spooled to, as an IO of its own. The spool is charged for it until it is closed. */
static VALUE spooled_input(struct cuttle_extras *extras, struct cuttle_body *body)
{
	uint64_t charged = 0;
	int file;

	if (extras->spool) /* env was called before */
		return extras->input;
	file = cuttle_stream_take_file(body->stream, &charged);
	if (file < 0)
		rb_sys_fail("rack.input");
	extras->spool = cuttle_spool_share(body->spool);
	extras->charged = charged;
	rb_update_max_fd(file);
	return rb_funcall(rb_cFile, rb_intern("for_fd"), 2, INT2NUM(file), rb_str_new_lit("r+b"));
}

/* Returns a body in memory as a binary IO. */
static VALUE input_from(const struct cuttle_body *body)
{
	VALUE octets = rb_str_new(body->memory, (long)body->length);
	VALUE input = rb_class_new_instance(1, &octets, string_io);

	if (rb_default_internal_encoding()) /* then it has that one and the external one */
		rb_funcall(input, rb_intern("binmode"), 0);
	return input;
}

static VALUE decimal(uint64_t number)
{
	char text[20];
	size_t at = sizeof text;

	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	return rb_usascii_str_new(text + at, (long)(sizeof text - at));
}

void cuttle_env_add_input(VALUE env, struct cuttle_held *held)
{
	struct cuttle_body *body = held->live->body;
	struct cuttle_extras *extras;
	VALUE input;

	if (!body) { /* the source's env has rack.input for it */
		rb_hash_aset(env, content_length, rb_str_new_lit("0"));
		return;
	}
	extras = cuttle_held_extras(held);
	input = body->stream ? spooled_input(extras, body) : input_from(body);
	RB_OBJ_WRITE(held->self, &extras->input, input);
	rb_hash_aset(env, input_key, input);
	rb_hash_aset(env, content_length, decimal(body->total));
}

void Init_cuttle_env_input(void)
{
	content_length = cuttle_env_interned("CONTENT_LENGTH");
	input_key = cuttle_env_interned("rack.input");
	rb_require("stringio");
	string_io = rb_const_get(rb_cObject, rb_intern("StringIO"));
	rb_gc_register_mark_object(string_io);
}
