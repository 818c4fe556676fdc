/* Cuttle::Load::TestServer: server.h for Ruby. */
#include "core.h"
#include "server.h"
#include <errno.h>
#include <ruby/thread.h>

static void free_server(void *server)
{
	server_stop(server);
}

static const rb_data_type_t TYPE = {
	.wrap_struct_name = "Cuttle::Load::TestServer",
	.function = {.dfree = free_server},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate(VALUE class)
{
	return TypedData_Wrap_Struct(class, &TYPE, NULL);
}

static struct server *get(VALUE self)
{
	struct server *server = rb_check_typeddata(self, &TYPE);

	if (!server)
		rb_raise(rb_eRuntimeError, "the test server is closed");
	return server;
}

static enum manner manner(VALUE name)
{
	static const char *const NAMES[] = {"answer", "close", "reset", "silence"};
	size_t at;

	Check_Type(name, T_SYMBOL);
	for (at = 0; at < 4; at++)
		if (SYM2ID(name) == rb_intern(NAMES[at]))
			return (enum manner)at;
	rb_raise(rb_eArgError, "no manner %" PRIsVALUE, name);
}

/* Packs the delays as int64_t into a String, so that Ruby frees the memory even after an exception. */
static VALUE pack_delays(VALUE delays)
{
	VALUE packed = rb_str_buf_new(RARRAY_LEN(delays) * (long)sizeof(int64_t));
	long at;

	for (at = 0; at < RARRAY_LEN(delays); at++) {
		int64_t delay = NUM2LL(rb_ary_entry(delays, at));

		rb_str_cat(packed, (const char *)&delay, sizeof(delay));
	}
	return packed;
}

/* start(manner:, answer:, delays:, freeze_at:, freeze:) -> self; times in nanoseconds */
static VALUE start(VALUE self, VALUE hash)
{
	VALUE answer = option(hash, "answer"), delays = option(hash, "delays"), packed;
	struct server_options options = {
		.manner = manner(option(hash, "manner")),
		.freeze_at = NUM2LL(option(hash, "freeze_at")),
		.freeze = NUM2LL(option(hash, "freeze")),
	};

	StringValue(answer);
	Check_Type(delays, T_ARRAY);
	if (DATA_PTR(self))
		rb_raise(rb_eRuntimeError, "the test server runs already");
	options.answer = RSTRING_PTR(answer);
	options.answer_length = (size_t)RSTRING_LEN(answer);
	packed = pack_delays(delays);
	options.delays = (const int64_t *)(const void *)RSTRING_PTR(packed);
	options.delay_count = (size_t)RARRAY_LEN(delays);
	DATA_PTR(self) = server_start(&options);
	RB_GC_GUARD(packed);
	RB_GC_GUARD(answer);
	if (!DATA_PTR(self))
		rb_sys_fail("test server");
	return self;
}

static VALUE port(VALUE self)
{
	return INT2NUM(server_port(get(self)));
}

static VALUE requests(VALUE self)
{
	return ULL2NUM(server_requests(get(self)));
}

/* times -> [held, cycle]: Histograms of the delayed requests (struct server_times) */
static VALUE times(VALUE self)
{
	struct server *server = get(self);
	VALUE buffer, held, cycle;
	struct server_times *times = rb_alloc_tmp_buffer(&buffer, sizeof(*times));

	server_copy_times(server, times);
	held = histogram_to_ruby(&times->held);
	cycle = histogram_to_ruby(&times->cycle);
	rb_free_tmp_buffer(&buffer);
	return rb_assoc_new(held, cycle);
}

static void *stop_server(void *server)
{
	server_stop(server);
	return NULL;
}

static VALUE close_server(VALUE self)
{
	struct server *server = rb_check_typeddata(self, &TYPE);

	DATA_PTR(self) = NULL;
	if (server)
		rb_thread_call_without_gvl(stop_server, server, NULL, NULL);
	return Qnil;
}

void init_server(VALUE module)
{
	VALUE class = rb_define_class_under(module, "TestServer", rb_cObject);

	rb_define_alloc_func(class, allocate);
	rb_undef_method(class, "initialize_copy");
	rb_define_private_method(class, "start", start, 1);
	rb_define_method(class, "port", port, 0);
	rb_define_method(class, "requests", requests, 0);
	rb_define_method(class, "times", times, 0);
	rb_define_method(class, "close", close_server, 0);
}
