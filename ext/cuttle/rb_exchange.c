/* Cuttle::Exchange: the request's side and the end of an exchange. rb_env.c has the env, rb_response.c the response,
 * rb_exchange_hijack.c what an app that takes the socket gets. */
#include "rb_exchange.h"
#include "syntax.h"

#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>

VALUE cuttle_exchange_class;

static void held_mark(void *data)
{
	struct cuttle_held *held = data;

	rb_gc_mark(held->owner);
	rb_gc_mark(held->env);
	if (held->extras) {
		rb_gc_mark(held->extras->input);
		rb_gc_mark(held->extras->text);
		rb_gc_mark(held->extras->address);
	}
}

/* Ends the charge for the input's file, which is closed now or will be when its object is collected. */
static void discharge(struct cuttle_extras *extras)
{
	struct cuttle_spool *spool = extras->spool;

	if (!spool)
		return;
	extras->spool = NULL;
	cuttle_spool_discharge(spool, extras->charged);
	cuttle_spool_disown(spool);
}

static void held_free(void *data)
{
	struct cuttle_held *held = data;

	cuttle_held_leave(held, false);
	if (held->extras)
		discharge(held->extras);
	xfree(held->extras);
#ifndef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
	xfree(held);
#endif
}

static size_t held_size(const void *data)
{
	const struct cuttle_held *held = data;
	size_t extras = held->extras ? sizeof *held->extras : 0;

#ifdef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
	return extras;
#else
	return sizeof *held + extras;
#endif
}

static void held_compact(void *data)
{
	struct cuttle_held *held = data;

	held->self = rb_gc_location(held->self);
	if (held->live)
		held->live->holder = held;
}

static const rb_data_type_t held_type = {
	.wrap_struct_name = "Cuttle::Exchange",
	.function = {.dmark = held_mark, .dfree = held_free, .dsize = held_size, .dcompact = held_compact},
#ifdef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_EMBEDDABLE,
#else
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
#endif
};

VALUE cuttle_exchange_prepare(void)
{
	struct cuttle_held *held;
	VALUE self = TypedData_Make_Struct(cuttle_exchange_class, struct cuttle_held, &held_type, held);

	held->self = self;
	held->owner = held->env = Qnil;
	return self;
}

struct cuttle_held *cuttle_held_of(VALUE exchange)
{
	struct cuttle_held *held;

	TypedData_Get_Struct(exchange, struct cuttle_held, &held_type, held);
	return held;
}

struct cuttle_extras *cuttle_held_extras(struct cuttle_held *held)
{
	struct cuttle_extras *extras;

	if (held->extras)
		return held->extras;
	extras = ZALLOC(struct cuttle_extras);
	extras->input = extras->text = extras->address = Qnil;
	return held->extras = extras;
}

bool cuttle_held_stuck(const struct cuttle_held *held)
{
	return held->live && atomic_load(&held->live->connection->stuck);
}

/* Gives up an exchange that has been answered. */
static void come_too_late(struct cuttle_held *held)
{
	cuttle_held_leave(held, false);
	rb_raise(rb_eIOError, "the request was answered with 503: the app did not answer in time (app_timeout)");
}

struct cuttle_held *cuttle_held_live(VALUE exchange)
{
	struct cuttle_held *held = cuttle_held_of(exchange);

	if (cuttle_held_stuck(held))
		come_too_late(held);
	if (!held->live)
		rb_raise(rb_eIOError, "the exchange is over");
	return held;
}

void cuttle_held_begin(struct cuttle_held *held)
{
	bool in_time;

	if (!cuttle_held_core(held)->limits.app_timeout)
		return;
	cuttle_held_lock(held);
	in_time = cuttle_connection_begin_response(held->live->connection);
	cuttle_held_unlock(held);
	if (!in_time)
		come_too_late(held);
}

void cuttle_exchange_hold(VALUE self, struct cuttle_source *source, VALUE owner, struct cuttle_exchange *exchange)
{
	struct cuttle_held *held = cuttle_held_of(self);
	const struct cuttle_head *head = cuttle_exchange_head(exchange);

	held->live = exchange;
	held->generation = cuttle_core_generation();
	RB_OBJ_WRITE(self, &held->owner, owner);
	held->head_request = head->method.length == 4 &&
			     memcmp(cuttle_exchange_at(exchange, head->method), "HEAD", 4) == 0;
	exchange->holder = held;
	exchange->connection->core->owners++;
}

/* Saves the facts about the response that may be asked for after its connection has gone on to the next request. */
static void keep_record(struct cuttle_held *held, bool complete, uint64_t now)
{
	struct cuttle_exchange *exchange = held->live;

	if (complete && cuttle_outbox_empty(&exchange->out))
		exchange->times[CUTTLE_LAST_OCTET] = now;
	if (!held->extras || !held->extras->recorded)
		return;
	memcpy(held->extras->times, exchange->times, sizeof exchange->times);
	held->extras->bytes_sent = exchange->bytes_sent;
}

/* Separates the exchange from this object. Returns the connection, which the exchange may not outlive. */
static struct cuttle_connection *part(struct cuttle_held *held)
{
	struct cuttle_connection *connection = held->live->connection;

	cuttle_outbox_signal(&held->live->out, -1); /* a waiting thread will notice */
	held->live->holder = NULL;
	held->live = NULL;
	return connection;
}

/* Ends the response, under the lock, which it gives back. */
static void leave(struct cuttle_held *held, bool complete)
{
	struct cuttle_core *core = cuttle_held_core(held);
	uint64_t now = cuttle_now();
	struct cuttle_connection *connection;

	if (atomic_load(&held->live->connection->stuck)) { /* its response is complete, whatever the app did */
		complete = true;
		held->status = 503;
	}
	keep_record(held, complete, now);
	connection = part(held);
	if (core->loop) {
		cuttle_loop_finish(core->loop, connection, complete, now);
		pthread_mutex_unlock(&core->loop->lock);
	} else {
		connection->step = complete ? cuttle_connection_finish(connection, now) : CUTTLE_STEP_CLOSE;
		if (connection->step == CUTTLE_STEP_CLOSE)
			cuttle_connection_close(connection);
	}
	cuttle_core_disown(core);
}

void cuttle_held_leave(struct cuttle_held *held, bool complete)
{
	if (!held->live)
		return;
	cuttle_held_lock(held);
	leave(held, complete);
}

void cuttle_held_send_all(struct cuttle_held *held, struct iovec *parts, const uintptr_t *objects, int count)
{
	cuttle_held_lock(held);
	cuttle_exchange_send(held->live, parts, objects, count); /* a failure marks the connection, which ends then */
	leave(held, true);
}

void cuttle_held_dispose(struct cuttle_held *held)
{
	struct cuttle_extras *extras = held->extras;
	VALUE input;

	if (held->live)
		return;
	held->env = Qnil;
	if (!extras)
		return;
	input = extras->input;
	extras->input = Qnil;
	if (RB_TYPE_P(input, T_FILE))
		rb_io_close(input);
	else if (!NIL_P(input))
		rb_funcall(input, rb_intern("close"), 0);
	discharge(extras);
}

int cuttle_held_release(struct cuttle_held *held, bool websocket)
{
	struct cuttle_core *core = cuttle_held_core(held);
	struct cuttle_connection *connection;
	int fd;

	cuttle_held_lock(held);
	keep_record(held, false, 0);
	connection = part(held);
	if (core->loop) {
		fd = cuttle_loop_release(core->loop, connection);
		pthread_mutex_unlock(&core->loop->lock);
	} else {
		fd = cuttle_connection_release(connection);
	}
	held->given_away = fd >= 0;
	if (held->given_away && core->hijacked)
		cuttle_hijacked_add(core->hijacked, fd, websocket);
	cuttle_core_disown(core);
	return fd;
}

/* call-seq: dispose -> nil
 *
 * Closes the request's input (rack.input). Call it last, when callbacks and the body's close no longer need the input.
 * Does nothing while the exchange is live. */
static VALUE exchange_dispose(VALUE self)
{
	cuttle_held_dispose(cuttle_held_of(self));
	return Qnil;
}

static VALUE slice(struct cuttle_held *held, struct cuttle_slice slice)
{
	return rb_str_new(cuttle_exchange_at(held->live, slice), slice.length);
}

/* Records the fiber that runs the app, if there is one: its backtrace, not its thread's, shows where the request is
 * stuck. */
static void remember_fiber(struct cuttle_held *held)
{
	if (!NIL_P(rb_fiber_scheduler_current()))
		cuttle_source_refer(held->owner, held->live->connection, CUTTLE_TO_FIBER, rb_fiber_current());
}

/* call-seq: env -> Hash
 *
 * The request as a Rack env. Each call makes a new one, so call it once. Raises IOError if the exchange is over. */
static VALUE exchange_env(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);

	if (cuttle_held_core(held)->limits.app_timeout)
		remember_fiber(held);
	RB_OBJ_WRITE(self, &held->env, cuttle_env(held));
	return held->env;
}

/* call-seq: request_method -> String */
static VALUE exchange_request_method(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);

	return slice(held, cuttle_exchange_head(held->live)->method);
}

/* call-seq: path -> String, the path of the request's target as it was sent: percent-encoded, binary */
static VALUE exchange_path(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);

	return slice(held, cuttle_exchange_head(held->live)->path);
}

/* call-seq: header(name) -> String or nil
 *
 * The value of the fields of that name, which must be lower case. Several fields form one list (RFC 9110, 5.3). */
static VALUE exchange_header(VALUE self, VALUE name)
{
	const char *wanted = StringValueCStr(name);
	struct cuttle_held *held = cuttle_held_live(self);
	const struct cuttle_head *head = cuttle_exchange_head(held->live);
	VALUE value = Qnil;

	for (uint32_t index = 0; index < head->field_count; index++) {
		const struct cuttle_field *field = &head->fields[index];

		if (!cuttle_same(cuttle_exchange_at(held->live, field->name), field->name.length, wanted))
			continue;
		if (NIL_P(value))
			value = slice(held, field->value);
		else
			rb_str_append(rb_str_cat_cstr(value, ", "), slice(held, field->value));
	}
	RB_GC_GUARD(name);
	return value;
}

/* call-seq: head? -> true or false, whether the request's method is HEAD */
static VALUE exchange_head_p(VALUE self)
{
	return RBOOL(cuttle_held_of(self)->head_request);
}

/* call-seq: responded? -> true or false, whether a final status line was written, by the app or for it */
static VALUE exchange_responded_p(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	return RBOOL((held->status && !cuttle_held_unsent(held)) || !held->live || cuttle_held_stuck(held));
}

/* call-seq: finished? -> true or false, whether the response is complete or its connection gone */
static VALUE exchange_finished_p(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	return RBOOL(!held->live || cuttle_held_stuck(held));
}

/* call-seq: evented? -> true or false, whether a poller drives the connection instead of a thread of its own */
static VALUE exchange_evented_p(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	return RBOOL(held->live && cuttle_held_core(held)->loop);
}

/* call-seq: forked? -> true or false
 *
 * Whether this process is a child that the app forked after it got this exchange, which belongs to the parent. Valid
 * also for an exchange that is over. */
static VALUE exchange_forked_p(VALUE self)
{
	return RBOOL(cuttle_held_of(self)->generation != cuttle_core_generation());
}

/* call-seq: given_away? -> true or false, whether the app has taken the socket */
static VALUE exchange_given_away_p(VALUE self)
{
	return RBOOL(cuttle_held_of(self)->given_away);
}

/* call-seq: keep_alive? -> true or false, whether the connection persists after this response */
static VALUE exchange_keep_alive_p(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	return RBOOL(held->live && held->live->keep_alive);
}

/* call-seq: close_after -> nil
 *
 * Makes the coming response the connection's last. */
static VALUE exchange_close_after(VALUE self)
{
	cuttle_held_live(self)->live->keep_alive = false;
	return Qnil;
}

/* call-seq: status -> Integer, the response's status; nil before it has begun */
static VALUE exchange_status(VALUE self)
{
	int status = cuttle_held_of(self)->status;

	return status ? INT2FIX(status) : Qnil;
}

/* call-seq: keep_record -> nil
 *
 * Makes bytes_sent, times and remote_address available after the exchange is over, which a log needs. */
static VALUE exchange_keep_record(VALUE self)
{
	struct cuttle_extras *extras = cuttle_held_extras(cuttle_held_of(self));
	struct cuttle_held *held = cuttle_held_live(self);

	RB_OBJ_WRITE(self, &extras->address, cuttle_client_address(held));
	extras->recorded = true;
	return Qnil;
}

static bool has_record(const struct cuttle_held *held)
{
	return held->extras && held->extras->recorded;
}

/* call-seq: bytes_sent -> Integer, octets of the response that the system has taken; nil without a record once the
 * exchange is over */
static VALUE exchange_bytes_sent(VALUE self)
{
	const struct cuttle_held *held = cuttle_held_of(self);

	if (held->live)
		return ULL2NUM(held->live->bytes_sent);
	return has_record(held) ? ULL2NUM(held->extras->bytes_sent) : Qnil;
}

/* call-seq: times -> [accepted, first byte, complete, taken, returned, last byte]
 *
 * When the request reached each stage, in seconds on the monotonic clock; nil for one not reached. Returns nil without
 * a record once the exchange is over. */
static VALUE exchange_times(VALUE self)
{
	VALUE list = rb_ary_new_capa(CUTTLE_TIMES);
	const struct cuttle_held *held = cuttle_held_of(self);
	uint64_t times[CUTTLE_TIMES];

	if (!held->live && !has_record(held))
		return Qnil;
	memcpy(times, held->live ? held->live->times : held->extras->times, sizeof times);
	for (int index = 0; index < CUTTLE_TIMES; index++)
		rb_ary_push(list, times[index] ? DBL2NUM((double)times[index] / (double)CUTTLE_SECOND) : Qnil);
	return list;
}

/* call-seq: remote_address -> String, the client's IP address as in REMOTE_ADDR; 127.0.0.1 on a Unix socket; nil
 * without a record once the exchange is over */
static VALUE exchange_remote_address(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	if (held->live)
		return cuttle_client_address(held);
	return has_record(held) ? held->extras->address : Qnil;
}

void Init_cuttle_exchange(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Exchange", rb_cObject);

	cuttle_exchange_class = class;
	rb_undef_alloc_func(class);
	rb_define_method(class, "env", exchange_env, 0);
	rb_define_method(class, "request_method", exchange_request_method, 0);
	rb_define_method(class, "path", exchange_path, 0);
	rb_define_method(class, "header", exchange_header, 1);
	rb_define_method(class, "head?", exchange_head_p, 0);
	rb_define_method(class, "responded?", exchange_responded_p, 0);
	rb_define_method(class, "finished?", exchange_finished_p, 0);
	rb_define_method(class, "evented?", exchange_evented_p, 0);
	rb_define_method(class, "forked?", exchange_forked_p, 0);
	rb_define_method(class, "given_away?", exchange_given_away_p, 0);
	rb_define_method(class, "keep_alive?", exchange_keep_alive_p, 0);
	rb_define_method(class, "close_after", exchange_close_after, 0);
	rb_define_method(class, "status", exchange_status, 0);
	rb_define_method(class, "keep_record", exchange_keep_record, 0);
	rb_define_method(class, "bytes_sent", exchange_bytes_sent, 0);
	rb_define_method(class, "times", exchange_times, 0);
	rb_define_method(class, "remote_address", exchange_remote_address, 0);
	rb_define_method(class, "dispose", exchange_dispose, 0);
}
