/* What Poller and Acceptor have in common: their options, and the listeners. */
#include "rb_cuttle.h"

#include <fcntl.h>
#include <math.h>

#define GIVE_WAY (1 * CUTTLE_MILLISECOND)

static uint64_t nanoseconds(VALUE options, const char *name, double otherwise)
{
	VALUE value = cuttle_source_option(options, name);
	double seconds = NIL_P(value) ? otherwise : NUM2DBL(value);

	if (!(seconds >= 0) || isinf(seconds))
		rb_raise(rb_eArgError, "%s: not a number of seconds", name);
	return (uint64_t)(seconds * (double)CUTTLE_SECOND);
}

VALUE cuttle_source_option(VALUE options, const char *name)
{
	return NIL_P(options) ? Qnil : rb_hash_aref(options, ID2SYM(rb_intern(name)));
}

static void reject_unknown(VALUE options)
{
	static const char *const known[] = {"env", "parser", "keep_alive", "request_timeout", "idle_timeout",
					    "write_timeout", "shared", "scoreboard"};
	VALUE keys = rb_funcall(options, rb_intern("keys"), 0);

	for (long index = 0; index < RARRAY_LEN(keys); index++) {
		VALUE key = RARRAY_AREF(keys, index);
		size_t number = 0;

		while (number < sizeof known / sizeof *known && key != ID2SYM(rb_intern(known[number])))
			number++;
		if (number == sizeof known / sizeof *known)
			rb_raise(rb_eArgError, "unknown option: %+" PRIsVALUE, key);
	}
}

/* The name and port that stand in where a request has none (HTTP/1.0 without Host): the first listener's. */
static void remember_local_address(VALUE self, struct cuttle_source *source)
{
	VALUE name = rb_str_new_cstr("localhost"), port = rb_str_new_cstr("80");
	VALUE first = rb_ary_entry(source->listeners, 0);

	if (rb_respond_to(first, rb_intern("local_address"))) {
		VALUE address = rb_funcall(first, rb_intern("local_address"), 0);

		if (RTEST(rb_funcall(address, rb_intern("ip?"), 0))) {
			name = rb_funcall(address, rb_intern("ip_address"), 0);
			port = rb_obj_as_string(rb_funcall(address, rb_intern("ip_port"), 0));
		}
	}
	RB_OBJ_WRITE(self, &source->local_name, rb_str_freeze(name));
	RB_OBJ_WRITE(self, &source->local_port, rb_str_freeze(port));
}

void cuttle_source_configure(VALUE self, struct cuttle_source *source, VALUE listeners, VALUE options)
{
	struct cuttle_core *core = source->core;
	VALUE env = cuttle_source_option(options, "env");

	if (!NIL_P(options))
		reject_unknown(options);
	if (NIL_P(env))
		env = rb_hash_new();
	Check_Type(env, T_HASH);
	core->timeouts[CUTTLE_UNTIL_REQUEST] = nanoseconds(options, "request_timeout", 30);
	core->timeouts[CUTTLE_UNTIL_IDLE] = nanoseconds(options, "idle_timeout", 65);
	core->timeouts[CUTTLE_UNTIL_WRITTEN] = nanoseconds(options, "write_timeout", 30);
	core->keep_alive = cuttle_source_option(options, "keep_alive") != Qfalse;
	core->foreign_parser = !NIL_P(cuttle_source_option(options, "parser"));
	RB_OBJ_WRITE(self, &source->parser, cuttle_source_option(options, "parser"));
	RB_OBJ_WRITE(self, &source->listeners, rb_ary_dup(listeners));
	RB_OBJ_WRITE(self, &source->env, rb_hash_dup(env));
	cuttle_env_prepare(source->env);
	remember_local_address(self, source);
}

void cuttle_source_mark(const struct cuttle_source *source)
{
	rb_gc_mark(source->listeners);
	rb_gc_mark(source->env);
	rb_gc_mark(source->parser);
	rb_gc_mark(source->server_name);
	rb_gc_mark(source->sent_port);
	rb_gc_mark(source->local_name);
	rb_gc_mark(source->local_port);
}

int cuttle_listener_descriptor(VALUE listener)
{
	int fd = NUM2INT(rb_funcall(listener, rb_intern("fileno"), 0));
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		rb_sys_fail("listener");
	return fd;
}

void cuttle_source_close_listeners(struct cuttle_source *source)
{
	VALUE listeners = source->listeners;

	for (long index = 0; index < RARRAY_LEN(listeners); index++)
		rb_io_close(RARRAY_AREF(listeners, index));
}

void cuttle_source_give_way(struct cuttle_source *source)
{
	uint64_t now = cuttle_now();

	if (now - source->gave_way < GIVE_WAY)
		return;
	source->gave_way = now;
	rb_thread_schedule();
}
