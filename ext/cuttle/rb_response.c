/* Responses: whole ones in one vectored write, others piece by piece, in chunks where no length is known, and files.
 *
 * What an app does wrong is found before the first octet leaves, or ends the connection: a message is never completed
 * as another than the app's head announced. What runs the app's code (each, to_s) comes first in each method; from the
 * look at the exchange on, nothing does, so that nothing can change between a check and its use. */
#include "rb_exchange.h"
#include "rb_fields.h"

#include <errno.h>
#include <ruby/io.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_PARTS 62                /* strings sent in one write; more are joined */
#define HIGH_WATER (256 * 1024)      /* octets queued before the thread of a blocking connection waits */
#define SMALL_FILE (32 * 1024)       /* octets of a file that go out with the head */

static VALUE disconnected;

/* The exchange, where it has no response yet. */
static struct cuttle_held *unanswered(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);

	if (held->status && NIL_P(held->text))
		rb_raise(rb_eIOError, "the request has its response already");
	cuttle_held_begin(held);
	held->text = Qnil; /* a head that never left gives way to another */
	held->status = 0;
	return held;
}

/* The exchange, with a response under way. */
static struct cuttle_held *answering(VALUE self)
{
	struct cuttle_held *held = cuttle_held_of(self);

	if (!held->live || !held->status)
		rb_raise(disconnected, "no response is under way");
	return held;
}

static bool stopping(const struct cuttle_held *held)
{
	return atomic_load_explicit(&held->core->stopping, memory_order_relaxed);
}

static int minor_version(const struct cuttle_held *held)
{
	return cuttle_exchange_head(held->live)->minor;
}

/* No octet of the response has left, and none will. */
static void give_up(struct cuttle_held *held, struct cuttle_response_head *head, const char *why)
{
	held->status = 0;
	cuttle_response_head_free(head);
	rb_raise(cuttle_invalid_response, "%s", why);
}

/* How the message says where it ends (RFC 9112, 6.3). length: the body's octets, or -1 where they are not known yet.
 * Returns false without memory. */
static bool frame(struct cuttle_held *held, struct cuttle_response_head *head, int status, int64_t length)
{
	struct cuttle_exchange *exchange = held->live;
	struct cuttle_framing *framing = &exchange->framing;
	bool no_content = status == 204;

	*framing = (struct cuttle_framing){.bodiless = held->head_request || no_content || status == 304};
	if (head->close || stopping(held))
		exchange->keep_alive = false;
	if (no_content) /* has no field that speaks of a body (RFC 9110, 8.6; RFC 9112, 6.1) */
		return true;
	if (head->chunked) {
		framing->encoded = !framing->bodiless;
		return cuttle_response_head_add(head, "transfer-encoding: chunked\r\n", 28);
	}
	if (head->has_length) {
		framing->measured = !framing->bodiless;
		framing->left = head->content_length;
		return cuttle_response_head_add_length(head, head->content_length);
	}
	if (framing->bodiless)
		return true;
	if (length >= 0) {
		framing->measured = true;
		framing->left = (uint64_t)length;
		return cuttle_response_head_add_length(head, (uint64_t)length);
	}
	if (minor_version(held) == 0) {
		exchange->keep_alive = false; /* the end of the connection is the end of the body */
		return true;
	}
	framing->chunked = true;
	return cuttle_response_head_add(head, "transfer-encoding: chunked\r\n", 28);
}

static bool complete_head(struct cuttle_held *held, struct cuttle_response_head *head)
{
	const char *date;
	bool good = true;

	if (!held->live->keep_alive)
		good = cuttle_response_head_add(head, "connection: close\r\n", 19);
	else if (minor_version(held) == 0)
		good = cuttle_response_head_add(head, "connection: keep-alive\r\n", 24);
	if (!head->has_date) {
		size_t length = cuttle_date_line(&date);

		good = good && cuttle_response_head_add(head, date, length);
	}
	return good && cuttle_response_head_add(head, "\r\n", 2);
}

/* Status line and fields of a response whose body has length octets (-1: not known). Raises before anything was sent. */
static void begin(struct cuttle_held *held, struct cuttle_response_head *head, int status,
		  const struct cuttle_fields *fields, int64_t length)
{
	cuttle_fields_render(fields, status, head);
	if (head->chunked && minor_version(held) == 0)
		give_up(held, head, "a transfer-encoding for an HTTP/1.0 client");
	if (!frame(held, head, status, length) || !complete_head(held, head)) {
		cuttle_response_head_free(head);
		rb_memerror();
	}
	held->live->times[CUTTLE_RETURNED] = cuttle_now();
	held->status = status;
}

/* Follows the chunks that the app makes itself. Returns false once they are none, or go on behind the last. */
static bool check_encoding(struct cuttle_framing *framing, const char *octets, size_t length)
{
	struct cuttle_slice data;

	while (length > 0 && !framing->encoding_complete) {
		size_t count = length;
		int result = cuttle_parse_chunks(&framing->encoding, octets, &count, &data);

		if (result < 0)
			return false;
		framing->encoding_complete = result == 1;
		octets += count;
		length -= count;
	}
	return length == 0;
}

/* Whether these parts are all of a body in chunks. */
static bool is_encoded(struct cuttle_framing *framing, const struct iovec *parts, int count)
{
	for (int index = 0; index < count; index++)
		if (!check_encoding(framing, parts[index].iov_base, parts[index].iov_len))
			return false;
	return framing->encoding_complete;
}

/* What the client does not take yet is measured, and sent by whoever polls. Under the lock. */
static void leave_to_loop(struct cuttle_held *held)
{
	struct cuttle_connection *connection = held->live->connection;

	if (!held->loop || cuttle_outbox_empty(&held->live->out))
		return;
	if (!connection->deadline)
		cuttle_connection_measure_output(connection, cuttle_now());
	cuttle_loop_route(held->loop, connection, CUTTLE_STEP_WAIT);
}

/* objects: the Strings that may be lent (outbox.h), NULL: none. */
static void lend_parts(struct cuttle_held *held, struct iovec *parts, const uintptr_t *objects, int count)
{
	cuttle_held_lock(held);
	if (!atomic_load(&held->live->connection->stuck) && /* which a 103 may find */
	    cuttle_exchange_send(held->live, parts, objects, count) == 0)
		leave_to_loop(held);
	cuttle_held_unlock(held);
}

static void send_parts(struct cuttle_held *held, struct iovec *parts, int count)
{
	lend_parts(held, parts, NULL, count);
}

/* Cuts parts to at most octets altogether. Returns how many parts are left. */
static int cut(struct iovec *parts, int count, uint64_t octets)
{
	int index;

	for (index = 0; index < count && octets > 0; index++) {
		if (parts[index].iov_len > octets)
			parts[index].iov_len = (size_t)octets;
		octets -= parts[index].iov_len;
	}
	return index;
}

/* The octets of a body's parts. */
static int64_t total_length(VALUE parts)
{
	int64_t total = 0;

	for (long index = 0; index < RARRAY_LEN(parts); index++) {
		VALUE part = RARRAY_AREF(parts, index);

		if (!RB_TYPE_P(part, T_STRING))
			rb_raise(cuttle_invalid_response, "a part of the body is no String: %" PRIsVALUE,
				 rb_obj_class(part));
		total += RSTRING_LEN(part);
	}
	return total;
}

/* One part of all: octets, whatever their encodings. */
static VALUE joined(VALUE parts, int64_t length)
{
	VALUE whole = rb_str_buf_new((long)length);

	for (long index = 0; index < RARRAY_LEN(parts); index++) {
		VALUE part = RARRAY_AREF(parts, index);

		rb_str_cat(whole, RSTRING_PTR(part), RSTRING_LEN(part));
	}
	return rb_ary_new_from_args(1, whole);
}

static bool worth_lending(VALUE part)
{
	return RSTRING_LEN(part) >= CUTTLE_LENT_LEAST;
}

/* The same parts; those that may be lent are ones that nobody can change. What the app goes on to do to its own Strings
 * makes Ruby copy them then. */
static VALUE lendable(VALUE parts)
{
	VALUE frozen = rb_ary_new_capa(RARRAY_LEN(parts));

	for (long index = 0; index < RARRAY_LEN(parts); index++) {
		VALUE part = RARRAY_AREF(parts, index);

		rb_ary_push(frozen, worth_lending(part) ? rb_str_new_frozen(part) : part);
	}
	return frozen;
}

/* Which of the parts, as lendable returned them, may be lent, in the order of place. */
static void note_objects(VALUE parts, uintptr_t *objects)
{
	int count = 1;

	objects[0] = 0;
	for (long index = 0; index < RARRAY_LEN(parts); index++) {
		VALUE part = RARRAY_AREF(parts, index);

		if (RSTRING_LEN(part) > 0)
			objects[count++] = worth_lending(part) ? (uintptr_t)part : 0;
	}
}

/* The parts' octets behind the head's place in pieces. Returns how many pieces that makes with the head's. */
static int place(VALUE parts, struct iovec *pieces)
{
	int count = 1;

	for (long index = 0; index < RARRAY_LEN(parts); index++) {
		VALUE part = RARRAY_AREF(parts, index);

		if (RSTRING_LEN(part) > 0)
			pieces[count++] = (struct iovec){.iov_base = RSTRING_PTR(part),
							 .iov_len = (size_t)RSTRING_LEN(part)};
	}
	return count;
}

/* A body whose length is not the announced one can't be followed by another message. */
static void settle_length(struct cuttle_held *held, uint64_t length)
{
	struct cuttle_framing *framing = &held->live->framing;

	if (framing->measured && length != framing->left)
		held->live->keep_alive = false;
	if (framing->measured)
		framing->left = 0;
}

/* Short parts are copied behind the head: one piece costs the system less than two. Returns how many pieces remain. */
static int merge(struct cuttle_response_head *head, struct iovec *pieces, int count)
{
	size_t total = 0;

	for (int index = 1; index < count; index++)
		total += pieces[index].iov_len;
	if (head->at != head->fixed || head->length + total > sizeof head->fixed)
		return count;
	for (int index = 1; index < count; index++)
		cuttle_response_head_add(head, pieces[index].iov_base, pieces[index].iov_len);
	return 1;
}

/* Sends a whole response. The parts are Strings, at most MOST_PARTS; where length is enough for it, they are what
 * lendable returned. */
static void respond(struct cuttle_held *held, int status, const struct cuttle_fields *fields, VALUE parts, int64_t length)
{
	struct cuttle_framing *framing = &held->live->framing;
	struct cuttle_response_head head;
	struct iovec pieces[MOST_PARTS + 1];
	uintptr_t objects[MOST_PARTS + 1];
	bool lends = length >= CUTTLE_LENT_LEAST;
	int count;

	begin(held, &head, status, fields, length);
	count = framing->bodiless ? 1 : place(parts, pieces);
	if (framing->encoded && !is_encoded(framing, pieces + 1, count - 1))
		give_up(held, &head, "transfer-encoding: chunked, but the body is not in chunks");
	if (framing->measured)
		count = 1 + cut(pieces + 1, count - 1, framing->left);
	settle_length(held, (uint64_t)length);
	count = merge(&head, pieces, count);
	pieces[0] = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	if (lends)
		note_objects(parts, objects);
	lend_parts(held, pieces, lends ? objects : NULL, count);
	cuttle_response_head_free(&head);
	cuttle_held_leave(held, true);
}

/* call-seq: respond(status, headers, parts)
 *
 * Sends the whole response, parts being an Array of Strings, and is done with the request: a client that reads slowly
 * holds no thread. Raises Cuttle::InvalidResponse before anything was sent. */
static VALUE exchange_respond(VALUE self, VALUE status, VALUE headers, VALUE parts)
{
	struct cuttle_fields fields;
	struct cuttle_held *held;
	int64_t length;
	int code;

	Check_Type(parts, T_ARRAY);
	code = cuttle_status(status);
	cuttle_fields_gather(&fields, headers);
	if (fields.hijack)
		rb_raise(cuttle_invalid_response, "rack.hijack among the headers, and a body");
	held = unanswered(self);
	length = total_length(parts);
	if (RARRAY_LEN(parts) > MOST_PARTS)
		parts = joined(parts, length);
	if (length >= CUTTLE_LENT_LEAST)
		parts = lendable(parts);
	respond(held, code, &fields, parts, length);
	RB_GC_GUARD(parts);
	return Qnil;
}

/* call-seq: answer(status, headers, body) -> true or false
 *
 * Responds and disposes, where that is all there is to do. Returns false, with nothing sent, where the response asks for
 * more: a body that is no plain Array, a status of 101, a rack.hijack among the headers, calls after the response, or an
 * exchange that is over. Raises IOError where it was answered because it was stuck, and Cuttle::InvalidResponse before
 * anything was sent. */
static VALUE exchange_answer(VALUE self, VALUE status, VALUE headers, VALUE body)
{
	struct cuttle_held *held = cuttle_held_of(self);
	struct cuttle_fields fields;
	int64_t length;
	int code;

	if (cuttle_held_stuck(held))
		cuttle_held_live(self); /* raises */
	if (!RB_TYPE_P(body, T_ARRAY) || RBASIC_CLASS(body) != rb_cArray || status == INT2FIX(101) || !held->live ||
	    held->core->forked || cuttle_env_has_callbacks(held))
		return Qfalse;
	code = cuttle_status(status);
	cuttle_fields_gather(&fields, headers);
	if (fields.hijack)
		return Qfalse;
	held = unanswered(self);
	length = total_length(body);
	if (RARRAY_LEN(body) > MOST_PARTS)
		body = joined(body, length);
	if (length >= CUTTLE_LENT_LEAST)
		body = lendable(body);
	respond(held, code, &fields, body, length);
	cuttle_held_dispose(held);
	RB_GC_GUARD(body);
	return Qtrue;
}

/* call-seq: start(status, headers)
 *
 * Begins a response whose body comes by write and ends by finish (or abort). The head leaves with the first piece. */
static VALUE exchange_start(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_held *held;
	int code = cuttle_status(status);

	cuttle_fields_gather(&fields, headers);
	held = unanswered(self);
	begin(held, &head, code, &fields, -1);
	RB_OBJ_WRITE(self, &held->text, rb_str_new(head.at, (long)head.length));
	cuttle_response_head_free(&head);
	return Qnil;
}

/* Octets that may be queued before a thread waits for the client, 0: any number. A poller sends them meanwhile; a
 * blocking connection has nobody else to send them. */
static uint64_t most_queued(const struct cuttle_held *held)
{
	return held->loop ? held->core->limits.write_ahead : HIGH_WATER;
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
	uint64_t stall = held->core->limits.write_timeout;

	while (held->live && ahead(held, true)) {
		bool moves = cuttle_wait_for_outbox(held, stall ? stall : CUTTLE_FOREVER);

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
	*text = held->text;
	held->text = Qnil;
	if (NIL_P(*text))
		return 0;
	parts[0] = (struct iovec){.iov_base = RSTRING_PTR(*text), .iov_len = (size_t)RSTRING_LEN(*text)};
	return 1;
}

/* Sends octets of the body as the framing wants them, behind the head if that has not left yet. */
static void send_piece(struct cuttle_held *held, const char *octets, size_t length)
{
	bool chunked = length > 0 && held->live->framing.chunked;
	struct iovec parts[4];
	char size[24];
	VALUE text;
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
		send_parts(held, parts, count);
	RB_GC_GUARD(text);
}

/* call-seq: write(string) -> Integer
 *
 * Sends a piece of the body at once. Waits while the client is too far behind the app (write_ahead), or both the client
 * and the disk that octets wait on for it. Octets beyond the
 * announced length are not sent, and end the connection. Raises Cuttle::Disconnected when the client has gone. */
static VALUE exchange_write(VALUE self, VALUE string)
{
	struct cuttle_held *held = answering(self);
	struct cuttle_framing *framing = &held->live->framing;
	size_t length;

	if (!RB_TYPE_P(string, T_STRING))
		rb_raise(cuttle_invalid_response, "a part of the body is no String: %" PRIsVALUE, rb_obj_class(string));
	length = framing->bodiless ? 0 : (size_t)RSTRING_LEN(string);
	if (framing->encoded && !check_encoding(framing, RSTRING_PTR(string), length))
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
	settle_length(held, 0);
	if (framing->encoded && !framing->encoding_complete)
		held->live->keep_alive = false;
	if (framing->chunked)
		send_parts(held, &last, 1);
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

/* A small file goes out with its head, in one write. Returns false where the file has fewer octets. */
static bool send_small_file(struct cuttle_held *held, struct cuttle_response_head *head, int file, uint64_t offset,
			    size_t length)
{
	char octets[SMALL_FILE];
	ssize_t count = pread(file, octets, length, (off_t)offset);
	struct iovec parts[2] = {
		{.iov_base = head->at, .iov_len = head->length},
		{.iov_base = octets, .iov_len = count > 0 ? (size_t)count : 0},
	};

	send_parts(held, parts, 2);
	return count >= 0 && (size_t)count == length;
}

/* The outbox closes the file. */
static bool send_large_file(struct cuttle_held *held, struct cuttle_response_head *head, int file, uint64_t offset,
			    uint64_t length)
{
	struct iovec part = {.iov_base = head->at, .iov_len = head->length};
	bool sent;

	cuttle_held_lock(held);
	sent = cuttle_exchange_send(held->live, &part, NULL, 1) == 0;
	sent = cuttle_outbox_append_file(&held->live->out, file, offset, length) == 0 && sent;
	cuttle_held_unlock(held);
	return sent;
}

/* Octets of the file that go out, of so many: no more than were announced, none where there is no body. */
static uint64_t settle_file(struct cuttle_held *held, uint64_t count)
{
	const struct cuttle_framing *framing = &held->live->framing;
	uint64_t announced = framing->measured ? framing->left : count;

	settle_length(held, count);
	if (framing->bodiless)
		return 0;
	return count < announced ? count : announced;
}

/* call-seq: send_file(status, headers, io, offset, length)
 *
 * Sends the whole response with length octets of an open file as its body, and closes the file; nobody waits for the
 * client. Raises Cuttle::InvalidResponse before anything was sent; then the file stays open. */
static VALUE exchange_send_file(VALUE self, VALUE status, VALUE headers, VALUE io, VALUE offset, VALUE length)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_held *held;
	uint64_t from = NUM2ULL(offset), count = NUM2ULL(length);
	int file = NUM2INT(rb_funcall(io, rb_intern("fileno"), 0));
	int code = cuttle_status(status);
	bool sent;

	cuttle_fields_gather(&fields, headers);
	if (count > SMALL_FILE)
		rb_funcall(io, rb_intern("autoclose="), 1, Qfalse); /* the outbox closes it */
	held = unanswered(self);
	begin(held, &head, code, &fields, (int64_t)count);
	if (held->live->framing.encoded)
		give_up(held, &head, "transfer-encoding: chunked, but the body is not in chunks");
	count = settle_file(held, count);
	if (count > SMALL_FILE)
		sent = send_large_file(held, &head, file, from, count);
	else
		sent = send_small_file(held, &head, file, from, (size_t)count);
	cuttle_response_head_free(&head);
	if (count <= SMALL_FILE)
		rb_io_close(io);
	cuttle_held_leave(held, sent);
	RB_GC_GUARD(io);
	return Qnil;
}

/* call-seq: early_hints(headers) -> nil
 *
 * Sends a 103 (RFC 8297) with those fields; nothing on HTTP/1.0, or when the final response has begun. Raises IOError
 * where the exchange is over. */
static VALUE exchange_early_hints(VALUE self, VALUE headers)
{
	struct cuttle_fields fields;
	struct cuttle_response_head head;
	struct cuttle_held *held;
	struct iovec part;

	cuttle_fields_gather(&fields, headers);
	held = cuttle_held_live(self);
	if (held->status || minor_version(held) == 0)
		return Qnil;
	cuttle_fields_render(&fields, 103, &head);
	if (!cuttle_response_head_add(&head, "\r\n", 2))
		rb_memerror();
	part = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	send_parts(held, &part, 1);
	cuttle_response_head_free(&head);
	return Qnil;
}

/* What the app says of its message's framing, as it says it: what follows is the app's. A 204 says nothing. */
static bool keep_framing(struct cuttle_response_head *head, int status)
{
	if (status == 204)
		return true;
	if (head->chunked && !cuttle_response_head_add(head, "transfer-encoding: chunked\r\n", 28))
		return false;
	return !head->has_length || cuttle_response_head_add_length(head, head->content_length);
}

/* call-seq: upgrade(status, headers) -> Socket
 *
 * Sends a head as the app gives it, and gives the socket to the caller (Rack SPEC, partial hijack). The status may be
 * 101. */
static VALUE exchange_upgrade(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_held *held;
	int code = status == INT2FIX(101) ? 101 : cuttle_status(status);
	struct iovec part;

	cuttle_fields_gather(&fields, headers);
	held = unanswered(self);
	cuttle_fields_render(&fields, code, &head);
	held->live->keep_alive = code == 101; /* no "connection: close" beside the app's "upgrade" */
	if (!keep_framing(&head, code) || !complete_head(held, &head)) {
		cuttle_response_head_free(&head);
		rb_memerror();
	}
	held->status = code;
	part = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	send_parts(held, &part, 1);
	cuttle_response_head_free(&head);
	return rb_funcall(self, rb_intern("hijack"), 0);
}

static void mark_object(uintptr_t object)
{
	rb_gc_mark((VALUE)object); /* and pins it */
}

static void mark_lent(void *unused)
{
	cuttle_lent_each(mark_object);
}

/* Keeps what is lent alive until it is returned, even where a Poller is collected with connections that still send it.
 * Without write barriers the collector looks at it each time. */
static const rb_data_type_t lender_type = {
	.wrap_struct_name = "Cuttle/lender",
	.function = {.dmark = mark_lent},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

void Init_cuttle_response(void)
{
	VALUE class = cuttle_exchange_class, error = rb_const_get(cuttle_module, rb_intern("Error"));

	cuttle_invalid_response = rb_define_class_under(cuttle_module, "InvalidResponse", error);
	disconnected = rb_define_class_under(cuttle_module, "Disconnected", rb_eIOError);
	rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &lender_type, (void *)&lender_type));
	rb_define_method(class, "respond", exchange_respond, 3);
	rb_define_method(class, "answer", exchange_answer, 3);
	rb_define_method(class, "start", exchange_start, 2);
	rb_define_method(class, "write", exchange_write, 1);
	rb_define_method(class, "finish", exchange_finish, 0);
	rb_define_method(class, "abort", exchange_abort, 0);
	rb_define_method(class, "send_file", exchange_send_file, 5);
	rb_define_method(class, "early_hints", exchange_early_hints, 1);
	rb_define_method(class, "upgrade", exchange_upgrade, 2);
}
