/* Responses piece by piece: start, write, finish or abort. */
#include "rb_response.h"

#include <stdio.h>

#define HIGH_WATER (256 * 1024) /* octets queued before the thread of a blocking connection waits */

static VALUE disconnected;

/* The exchange, with a response under way. */
static struct cuttle_held *answering(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	if (!held->live || !held->status)
		rb_raise(disconnected, "no response is under way");
	return held;
}

/* call-seq: start(status, headers)
 *
 * Begins a response whose body comes by write and ends by finish (or abort). The head leaves with the first piece. */
static VALUE exchange_start(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_extras *extras = cuttle_held_extras(cuttle_held_of(self));
	int code = cuttle_status(status);

	cuttle_fields_gather(&fields, headers);
	cuttle_response_begin(cuttle_response_unanswered(self), &head, code, &fields, -1);
	RB_OBJ_WRITE(self, &extras->text, rb_str_new(head.at, (long)head.length));
	cuttle_response_head_free(&head);
	return Qnil;
}

/* Octets that may be queued before a thread waits for the client; 0: any number. A poller sends them at the same time;
 * on a blocking connection no other thread does. */
static uint64_t most_queued(const struct cuttle_held *held)
{
	const struct cuttle_core *core = cuttle_held_core(held);

	return core->loop ? core->limits.write_ahead : HIGH_WATER;
}

/* Whether the app is too far ahead of the client (write_ahead) or of the disk; with still: further than three
 * quarters of that. Not of a client that has gone. */
static bool ahead(const struct cuttle_held *held, bool still)
{
	const struct cuttle_outbox *out = &held->live->out;
	uint64_t most = most_queued(held), enough = still ? most - most / 4 : most;
	bool found;

	cuttle_held_lock(held);
	found = !held->live->connection->broken &&
		((most && out->queued > enough) || cuttle_outbox_crowded(out, still));
	cuttle_held_unlock(held);
	return found;
}

/* Whether the client has gone, or the exchange is over. */
static bool gone(const struct cuttle_held *held)
{
	bool broken;

	if (!held->live)
		return true;
	cuttle_held_lock(held);
	broken = held->live->connection->broken;
	cuttle_held_unlock(held);
	return broken;
}

/* Waits until most of what is queued is sent or on the disk, or the connection is broken, or the exchange is over. */
static void wait_for_client(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);
	uint64_t patience = cuttle_held_patience(held);

	while (held->live && ahead(held, true)) {
		bool moves = cuttle_wait_for_outbox(held, patience);

		if (!held->live) /* another thread ended it meanwhile */
			return;
		cuttle_held_lock(held);
		if (moves)
			cuttle_exchange_flush(held->live);
		else
			held->live->connection->broken = true;
		cuttle_held_unlock(held);
	}
}

static int add_head(struct cuttle_held *held, struct iovec *parts, VALUE *text)
{
	if (!cuttle_held_unsent(held))
		return 0;
	*text = held->extras->text;
	held->extras->text = Qnil;
	parts[0] = (struct iovec){.iov_base = RSTRING_PTR(*text), .iov_len = (size_t)RSTRING_LEN(*text)};
	return 1;
}

/* Sends octets of the body as the framing wants them, behind the head if that has not left yet. */
static void send_piece(struct cuttle_held *held, const char *octets, size_t length)
{
	bool chunked = length > 0 && held->live->framing.chunked;
	struct iovec parts[4];
	char size[24];
	VALUE text = Qnil;
	int count = add_head(held, parts, &text);

	if (chunked) {
		int digits = snprintf(size, sizeof size, "%zx\r\n", length);

		parts[count++] = (struct iovec){.iov_base = size, .iov_len = (size_t)digits};
	}
	if (length > 0)
		parts[count++] = (struct iovec){.iov_base = (char *)octets, .iov_len = length};
	if (chunked)
		parts[count++] = (struct iovec){.iov_base = (char *)"\r\n", .iov_len = 2};
	if (count > 0)
		cuttle_response_send(held, parts, count);
	RB_GC_GUARD(text);
}

/* call-seq: write(string) -> Integer
 *
 * Sends a piece of the body at once. Waits while the client is too far behind the app (write_ahead), or while both the
 * client and the disk that holds its octets are too slow. Octets beyond the announced length are not sent, and end the
 * connection. Raises Cuttle::Disconnected when the client has gone. */
static VALUE exchange_write(VALUE self, VALUE string)
{
	struct cuttle_held *held = answering(self);
	struct cuttle_framing *framing = &held->live->framing;
	size_t length;

	if (!RB_TYPE_P(string, T_STRING))
		rb_raise(cuttle_invalid_response, "a part of the body is no String: %" PRIsVALUE, rb_obj_class(string));
	length = framing->bodiless ? 0 : (size_t)RSTRING_LEN(string);
	if (framing->encoded && !cuttle_response_check_chunks(framing, RSTRING_PTR(string), length))
		rb_raise(cuttle_invalid_response, "transfer-encoding: chunked, but the body is not in chunks");
	if (framing->measured && length > framing->left) {
		held->live->keep_alive = false;
		length = (size_t)framing->left;
	}
	if (framing->measured)
		framing->left -= length;
	send_piece(held, RSTRING_PTR(string), length);
	if (ahead(held, false))
		wait_for_client(self);
	if (gone(held))
		rb_raise(disconnected, "the client has gone");
	RB_GC_GUARD(string);
	return SIZET2NUM(length);
}

/* call-seq: finish
 *
 * Completes the response. One that is shorter than it announced ends the connection instead. */
static VALUE exchange_finish(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);
	struct iovec last = {.iov_base = (char *)"0\r\n\r\n", .iov_len = 5};
	const struct cuttle_framing *framing;

	if (!held->live || !held->status)
		return Qnil;
	framing = &held->live->framing;
	send_piece(held, NULL, 0);
	cuttle_response_settle_length(held, 0);
	if (framing->encoded && !framing->encoding_complete)
		held->live->keep_alive = false;
	if (framing->chunked)
		cuttle_response_send(held, &last, 1);
	cuttle_held_leave(held, true);
	return Qnil;
}

/* call-seq: abort
 *
 * Ends the connection without completing the response, so that the client sees that it is cut short. */
static VALUE exchange_abort(VALUE self)
{
	cuttle_held_leave(cuttle_held_of(self), false);
	return Qnil;
}

void Init_cuttle_response_stream(void)
{
	VALUE class = cuttle_exchange_class;

	disconnected = rb_define_class_under(cuttle_module, "Disconnected", rb_eIOError);
	rb_define_method(class, "start", exchange_start, 2);
	rb_define_method(class, "write", exchange_write, 1);
	rb_define_method(class, "finish", exchange_finish, 0);
	rb_define_method(class, "abort", exchange_abort, 0);
}
