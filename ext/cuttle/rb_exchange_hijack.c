/* Hijacking (Rack SPEC, Hijacking): an exchange ends by giving its socket to the app. hijacked.h has what becomes of
 * such sockets. */
#include "rb_exchange.h"

#include <ruby/io.h>

static VALUE socket_class, hijack_io;

/* Returns what was read after the request and not used. */
static VALUE unread(const struct cuttle_exchange *exchange)
{
	struct cuttle_inbox *inbox = exchange->connection->inbox;

	if (cuttle_inbox_size(inbox) <= exchange->head_size)
		return Qnil;
	return rb_str_new(cuttle_inbox_unused(inbox) + exchange->head_size,
			  cuttle_inbox_size(inbox) - exchange->head_size);
}

/* Whether the socket becomes a WebSocket, as far as the server sees it: with a full hijack the app answers itself. */
static bool becomes_websocket(const struct cuttle_held *held)
{
	return (!held->status || held->status == 101) && cuttle_hijacked_asks_for_websocket(held->live);
}

/* Gives up the connection. Returns its descriptor as an IO, with unused input pushed back. */
static VALUE release(struct cuttle_held *held)
{
	VALUE io, rest = unread(held->live);
	int fd = cuttle_held_release(held, becomes_websocket(held));

	if (fd < 0)
		rb_raise(rb_eIOError, "this connection has no socket to give: no descriptors or no memory are left");
	io = rb_funcall(socket_class, rb_intern("for_fd"), 1, INT2NUM(fd));
	rb_funcall(io, rb_intern("sync="), 1, Qtrue);
	if (!NIL_P(rest))
		rb_io_ungetbyte(io, rest);
	return io;
}

/* Sends what is queued. Raises IOError if the peer does not take it. */
static void flush_fully(VALUE self)
{
	for (;;) {
		struct cuttle_held *held = cuttle_held_live(self);
		enum cuttle_flush flush;

		cuttle_held_lock(held);
		flush = cuttle_exchange_flush(held->live);
		cuttle_held_unlock(held);
		if (flush == CUTTLE_FLUSHED)
			return;
		if (flush == CUTTLE_FLUSH_BROKEN)
			rb_raise(rb_eIOError, "the connection is broken");
		if (flush != CUTTLE_FLUSH_TURN && !cuttle_wait_writable(held, cuttle_held_patience(held)))
			rb_raise(rb_eIOError, "the peer does not read");
	}
}

/* call-seq: hijack -> Socket
 *
 * Gives the socket to the caller, which owns it from now on (Rack SPEC, Hijacking). Sends what is queued first. Also
 * sets rack.hijack_io in the env (Rack 2). Raises IOError if the exchange is over. */
static VALUE exchange_hijack(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);
	VALUE env = held->env, io;

	if (cuttle_held_core(held)->forked)
		rb_raise(rb_eIOError, "the exchange is the parent process's");
	cuttle_held_begin(held);
	flush_fully(self);
	io = release(held);
	if (!NIL_P(env) && !OBJ_FROZEN(env))
		rb_hash_aset(env, hijack_io, io);
	held->env = Qnil;
	if (held->extras)
		held->extras->input = Qnil;
	return io;
}

/* call-seq: call -> Socket, call(headers) -> nil
 *
 * Lets the env use the exchange as rack.hijack, called without arguments, and as rack.early_hints, called with headers
 * (and as cuttle.ledger, see to_h): one object costs less than four. */
static VALUE exchange_call(int argc, VALUE *argv, VALUE self)
{
	rb_check_arity(argc, 0, 1);
	return argc == 0 ? exchange_hijack(self) : rb_funcallv(self, rb_intern("early_hints"), 1, argv);
}

void Init_cuttle_exchange_hijack(void)
{
	rb_require("socket");
	socket_class = rb_const_get(rb_cObject, rb_intern("Socket"));
	rb_gc_register_mark_object(socket_class);
	hijack_io = rb_str_freeze(rb_usascii_str_new_cstr("rack.hijack_io"));
	rb_gc_register_mark_object(hijack_io);
	rb_define_method(cuttle_exchange_class, "hijack", exchange_hijack, 0);
	rb_define_method(cuttle_exchange_class, "call", exchange_call, -1);
}
