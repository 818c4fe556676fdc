/* Cuttle::Connection: a connection as Ruby sees it, with its request. Its response is in response.c.
 *
 * A connection belongs to the thread (or fiber) that got it from next or accept, until its response is finished. */
#include "rb_cuttle.h"
#include "syntax.h"

#include <errno.h>
#include <netdb.h>
#include <ruby/io.h>
#include <stdlib.h>
#include <sys/socket.h>

static VALUE socket_class, hijack_io;

static void handle_mark(void *data)
{
	struct cuttle_handle *handle = data;

	rb_gc_mark(handle->source);
	rb_gc_mark(handle->parser);
	rb_gc_mark(handle->input);
	rb_gc_mark(handle->env);
	rb_gc_mark(handle->text);
	rb_gc_mark(handle->address);
	rb_gc_mark(handle->model);
	rb_gc_mark(handle->callbacks);
}

static void handle_free(void *data)
{
	struct cuttle_handle *handle = data;
	struct cuttle_connection *connection = handle->connection;
	struct cuttle_loop *loop = handle->loop;

	if (!loop || !loop->forked) {
		cuttle_handle_lock(handle);
		if (connection->state != CUTTLE_CLOSED && loop)
			cuttle_loop_close(loop, connection);
		else if (connection->state != CUTTLE_CLOSED)
			cuttle_connection_close(connection);
		cuttle_handle_unlock(handle);
		cuttle_core_disown(connection->core);
	}
	free(connection);
	xfree(handle);
}

static size_t handle_size(const void *data)
{
	return sizeof(struct cuttle_handle) + sizeof(struct cuttle_connection);
}

static const rb_data_type_t handle_type = {
	.wrap_struct_name = "Cuttle::Connection",
	.function = {.dmark = handle_mark, .dfree = handle_free, .dsize = handle_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct cuttle_handle *cuttle_handle_of(VALUE connection)
{
	struct cuttle_handle *handle;

	TypedData_Get_Struct(connection, struct cuttle_handle, &handle_type, handle);
	return handle;
}

VALUE cuttle_connection_wrap(VALUE source, struct cuttle_connection *connection)
{
	struct cuttle_source *origin = cuttle_source_of(source);
	struct cuttle_handle *handle;
	VALUE self, parser = Qnil;

	if (connection->object)
		return (VALUE)connection->object;
	if (connection->core->foreign_parser)
		parser = rb_funcall(origin->parser, rb_intern("new"), 0);
	handle = ZALLOC(struct cuttle_handle);
	handle->connection = connection;
	handle->loop = origin->loop;
	handle->input = handle->text = handle->env = handle->address = Qnil;
	handle->model = handle->callbacks = Qnil;
	handle->step = CUTTLE_STEP_AGAIN;
	handle->source = source;
	handle->origin = origin;
	handle->authority = origin->authority - 1; /* no model yet */
	handle->parser = parser;
	self = TypedData_Wrap_Struct(cuttle_connection_class, &handle_type, handle);
	RB_OBJ_WRITTEN(self, Qundef, source);
	RB_OBJ_WRITTEN(self, Qundef, parser);
	handle->self = self;
	connection->core->owners++;
	cuttle_handle_lock(handle);
	connection->object = (void *)self;
	cuttle_handle_unlock(handle);
	RB_OBJ_WRITTEN(source, Qundef, self);
	RB_GC_GUARD(parser);
	return self;
}

void cuttle_handle_lock(struct cuttle_handle *handle)
{
	if (handle->loop)
		pthread_mutex_lock(&handle->loop->lock);
}

void cuttle_handle_unlock(struct cuttle_handle *handle)
{
	if (handle->loop)
		pthread_mutex_unlock(&handle->loop->lock);
}

void cuttle_handle_begin(struct cuttle_handle *handle)
{
	handle->input = handle->text = handle->env = Qnil;
	handle->status = 0;
	handle->left = 0;
	handle->finished = false;
	handle->head_request = cuttle_inbox_size(handle->connection->inbox) >= 5 &&
			       handle->connection->inbox->head.method.length == 4 &&
			       memcmp(cuttle_inbox_at(handle->connection->inbox, handle->connection->inbox->head.method),
				      "HEAD", 4) == 0;
}

/* What is the request's goes with it: its env, and its spooled body's file. */
static void let_go(struct cuttle_handle *handle)
{
	VALUE input = handle->input;

	handle->input = handle->env = Qnil;
	if (RB_TYPE_P(input, T_FILE))
		rb_io_close(input);
}

/* What is said of the response once its connection may be at the next request. */
static void keep_record(struct cuttle_handle *handle, bool complete, uint64_t now)
{
	struct cuttle_connection *connection = handle->connection;

	if (complete && cuttle_outbox_empty(&connection->out))
		connection->times[CUTTLE_LAST_OCTET] = now;
	memcpy(handle->times, connection->times, sizeof handle->times);
	handle->bytes_sent = connection->bytes_sent;
}

static void end(struct cuttle_handle *handle, bool complete)
{
	struct cuttle_connection *connection = handle->connection;
	struct cuttle_loop *loop = handle->loop;
	uint64_t now;

	if (handle->finished)
		return;
	handle->finished = true;
	now = cuttle_now();
	cuttle_handle_lock(handle);
	keep_record(handle, complete, now);
	if (connection->state == CUTTLE_TAKEN) {
		enum cuttle_step step = CUTTLE_STEP_CLOSE;

		if (complete) {
			if (loop)
				loop->busy--;
			step = cuttle_connection_finish(connection, now);
			if (loop && step == CUTTLE_STEP_CLOSE && connection->state == CUTTLE_TAKEN)
				loop->busy++; /* cuttle_loop_close counts it down */
		}
		handle->step = step;
		if (loop) {
			cuttle_loop_route(loop, connection, step);
			cuttle_loop_pass_on(loop); /* this thread may not ask for work again soon */
		} else if (step == CUTTLE_STEP_CLOSE) {
			cuttle_connection_close(connection);
		}
	}
	cuttle_handle_unlock(handle);
	let_go(handle);
}

void cuttle_handle_finish(struct cuttle_handle *handle)
{
	end(handle, true);
}

void cuttle_handle_abort(struct cuttle_handle *handle)
{
	end(handle, false);
}

static struct cuttle_handle *taken(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	if (handle->finished || handle->connection->state != CUTTLE_TAKEN)
		rb_raise(rb_eIOError, "the connection holds no request");
	return handle;
}

static VALUE slice(struct cuttle_handle *handle, struct cuttle_slice slice)
{
	return rb_str_new(cuttle_inbox_at(handle->connection->inbox, slice), slice.length);
}

/* call-seq: env -> Hash
 *
 * The request as a Rack env: a new one each time, so ask once. Raises IOError when the connection holds none. */
static VALUE connection_env(VALUE self)
{
	struct cuttle_handle *handle = taken(self);

	RB_OBJ_WRITE(self, &handle->env, cuttle_env(handle));
	return handle->env;
}

/* call-seq: request_method -> String */
static VALUE connection_request_method(VALUE self)
{
	struct cuttle_handle *handle = taken(self);

	return slice(handle, handle->connection->inbox->head.method);
}

/* call-seq: path -> String, the path part of the request's target as it was sent: percent-encoded, binary */
static VALUE connection_path(VALUE self)
{
	struct cuttle_handle *handle = taken(self);

	return slice(handle, handle->connection->inbox->head.path);
}

/* call-seq: header(name) -> String or nil
 *
 * The value of the fields of that name, which is given in lower case; several are one list (RFC 9110, 5.3). */
static VALUE connection_header(VALUE self, VALUE name)
{
	struct cuttle_handle *handle = taken(self);
	struct cuttle_inbox *inbox = handle->connection->inbox;
	const char *wanted = StringValueCStr(name);
	VALUE value = Qnil;

	for (uint32_t index = 0; index < inbox->head.field_count; index++) {
		struct cuttle_field *field = &inbox->head.fields[index];

		if (!cuttle_same(cuttle_inbox_at(inbox, field->name), field->name.length, wanted))
			continue;
		if (NIL_P(value))
			value = slice(handle, field->value);
		else
			rb_str_append(rb_str_cat_cstr(value, ", "), slice(handle, field->value));
	}
	RB_GC_GUARD(name);
	return value;
}

/* call-seq: head? -> true or false, whether the request's method is HEAD */
static VALUE connection_head_p(VALUE self)
{
	return RBOOL(cuttle_handle_of(self)->head_request);
}

/* call-seq: responded? -> true or false, whether a final status line was written */
static VALUE connection_responded_p(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	return RBOOL((handle->status && NIL_P(handle->text)) || handle->finished);
}

/* call-seq: finished? -> true or false, whether the response is complete, or its connection gone */
static VALUE connection_finished_p(VALUE self)
{
	return RBOOL(cuttle_handle_of(self)->finished);
}

/* call-seq: evented? -> true or false, whether a poller drives it, rather than a thread of its own */
static VALUE connection_evented_p(VALUE self)
{
	return RBOOL(cuttle_handle_of(self)->loop);
}

/* call-seq: keep_alive? -> true or false, whether the connection goes on after this response */
static VALUE connection_keep_alive_p(VALUE self)
{
	return RBOOL(cuttle_handle_of(self)->connection->keep_alive);
}

/* call-seq: close_after -> nil
 *
 * The response to come is the connection's last. */
static VALUE connection_close_after(VALUE self)
{
	taken(self)->connection->keep_alive = false;
	return Qnil;
}

/* call-seq: status -> Integer, of the response; nil before it has begun */
static VALUE connection_status(VALUE self)
{
	int status = cuttle_handle_of(self)->status;

	return status ? INT2FIX(status) : Qnil;
}

/* call-seq: bytes_sent -> Integer, octets of the present response that the system has taken */
static VALUE connection_bytes_sent(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	return ULL2NUM(handle->finished ? handle->bytes_sent : handle->connection->bytes_sent);
}

/* call-seq: times -> [accepted, first byte, complete, taken, returned, last byte]
 *
 * When the present request passed, in seconds on the monotonic clock; nil for what has not come to pass. */
static VALUE connection_times(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);
	const uint64_t *times = handle->finished ? handle->times : handle->connection->times;
	VALUE list = rb_ary_new_capa(CUTTLE_TIMES);

	for (int index = 0; index < CUTTLE_TIMES; index++)
		rb_ary_push(list, times[index] ? DBL2NUM((double)times[index] / (double)CUTTLE_SECOND) : Qnil);
	return list;
}

VALUE cuttle_remote_address(struct cuttle_handle *handle)
{
	struct sockaddr_storage peer = {0};
	socklen_t length = sizeof peer;
	char text[NI_MAXHOST];

	if (!NIL_P(handle->address))
		return handle->address;
	if (getpeername(handle->connection->fd, (struct sockaddr *)&peer, &length) < 0 || peer.ss_family == AF_UNIX ||
	    getnameinfo((struct sockaddr *)&peer, length, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
		strcpy(text, "127.0.0.1");
	RB_OBJ_WRITE(handle->self, &handle->address, rb_enc_interned_str_cstr(text, rb_usascii_encoding()));
	return handle->address;
}

/* call-seq: remote_address -> String, the peer's IP address; 127.0.0.1 on a unix socket */
static VALUE connection_remote_address(VALUE self)
{
	return cuttle_remote_address(cuttle_handle_of(self));
}

/* Lets go of the connection, and makes it an IO with what was read but not used pushed back. */
static VALUE release(struct cuttle_handle *handle)
{
	struct cuttle_connection *connection = handle->connection;
	VALUE io, rest = Qnil;
	int fd;

	if (connection->inbox && cuttle_inbox_size(connection->inbox) > connection->head_size)
		rest = rb_str_new(cuttle_inbox_unused(connection->inbox) + connection->head_size,
				  cuttle_inbox_size(connection->inbox) - connection->head_size);
	cuttle_handle_lock(handle);
	fd = handle->loop ? cuttle_loop_release(handle->loop, connection) : cuttle_connection_release(connection);
	cuttle_handle_unlock(handle);
	handle->finished = true;
	io = rb_funcall(socket_class, rb_intern("for_fd"), 1, INT2NUM(fd));
	rb_funcall(io, rb_intern("sync="), 1, Qtrue);
	if (!NIL_P(rest))
		rb_io_ungetbyte(io, rest);
	return io;
}

/* call-seq: hijack -> Socket
 *
 * Gives the socket to the caller, whose it is from now on (Rack SPEC, Hijacking). What was queued is sent first. The
 * env has it as rack.hijack_io from now on (Rack 2). */
static VALUE connection_hijack(VALUE self)
{
	struct cuttle_handle *handle = taken(self);
	struct cuttle_connection *connection = handle->connection;
	VALUE io;

	while (!cuttle_outbox_empty(&connection->out)) {
		if (!cuttle_wait_writable(handle, connection->core->timeouts[CUTTLE_UNTIL_WRITTEN]))
			rb_raise(rb_eIOError, "the peer does not read");
		if (cuttle_outbox_flush(&connection->out, connection->transport, connection->fd,
					&connection->bytes_sent) == CUTTLE_BROKEN)
			rb_raise(rb_eIOError, "the connection is broken");
	}
	io = release(handle);
	if (!NIL_P(handle->env))
		rb_hash_aset(handle->env, hijack_io, io);
	return io;
}

void Init_cuttle_connection(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Connection", rb_cObject);

	cuttle_connection_class = class;
	rb_require("socket");
	socket_class = rb_const_get(rb_cObject, rb_intern("Socket"));
	rb_gc_register_mark_object(socket_class);
	hijack_io = rb_str_freeze(rb_usascii_str_new_cstr("rack.hijack_io"));
	rb_gc_register_mark_object(hijack_io);
	rb_undef_alloc_func(class);
	rb_define_method(class, "env", connection_env, 0);
	rb_define_method(class, "request_method", connection_request_method, 0);
	rb_define_method(class, "path", connection_path, 0);
	rb_define_method(class, "header", connection_header, 1);
	rb_define_method(class, "head?", connection_head_p, 0);
	rb_define_method(class, "responded?", connection_responded_p, 0);
	rb_define_method(class, "finished?", connection_finished_p, 0);
	rb_define_method(class, "evented?", connection_evented_p, 0);
	rb_define_method(class, "keep_alive?", connection_keep_alive_p, 0);
	rb_define_method(class, "close_after", connection_close_after, 0);
	rb_define_method(class, "status", connection_status, 0);
	rb_define_method(class, "bytes_sent", connection_bytes_sent, 0);
	rb_define_method(class, "times", connection_times, 0);
	rb_define_method(class, "remote_address", connection_remote_address, 0);
	rb_define_method(class, "hijack", connection_hijack, 0);
}
