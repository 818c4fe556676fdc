/* Responses: whole ones in one vectored write, others piece by piece, in chunks where no length is known, and files.
 *
 * What an app does wrong is found before the first octet leaves, or ends the connection: a message is never completed
 * as another than the app's head announced. */
#include "rb_cuttle.h"

#include <errno.h>
#include <ruby/io.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_PARTS 62                /* strings sent in one write; more are joined */
#define HIGH_WATER (256 * 1024)      /* octets queued before write waits for the client, */
#define LOW_WATER (64 * 1024)        /* and until it goes on */
#define SMALL_FILE (32 * 1024)       /* octets of a file that go out with the head */

static VALUE disconnected;

static struct cuttle_handle *unanswered(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	if (handle->finished || handle->connection->state != CUTTLE_TAKEN)
		rb_raise(rb_eIOError, "the connection holds no request");
	if (handle->status && NIL_P(handle->text))
		rb_raise(rb_eIOError, "the request has its response already");
	handle->text = Qnil; /* a head that never left gives way to another */
	handle->status = 0;
	return handle;
}

static struct cuttle_handle *answering(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	if (handle->finished || handle->connection->state != CUTTLE_TAKEN || !handle->status)
		rb_raise(disconnected, "no response is under way");
	return handle;
}

static bool stopping(const struct cuttle_handle *handle)
{
	return atomic_load_explicit(&handle->connection->core->stopping, memory_order_relaxed);
}

static int minor_version(const struct cuttle_handle *handle)
{
	return handle->connection->inbox->head.minor;
}

/* How the message says where it ends (RFC 9112, 6.3). length: the body's octets, or -1 where they are not known yet. */
static void frame(struct cuttle_handle *handle, struct cuttle_response_head *head, int status, int64_t length)
{
	struct cuttle_connection *connection = handle->connection;
	bool no_content = status == 204;

	handle->bodiless = handle->head_request || no_content || status == 304;
	handle->chunked = handle->measured = handle->encoded = handle->encoding_complete = false;
	if (head->close || stopping(handle))
		connection->keep_alive = false;
	if (head->chunked && minor_version(handle) == 1) {
		handle->encoded = !handle->bodiless;
		memset(&handle->encoding, 0, sizeof handle->encoding);
		cuttle_head_add(head, "transfer-encoding: chunked\r\n", 28);
	} else if (head->chunked) {
		rb_raise(cuttle_invalid_response, "a transfer-encoding for an HTTP/1.0 client");
	} else if (head->has_length) {
		handle->measured = !handle->bodiless;
		handle->left = head->content_length;
		if (!no_content)
			cuttle_head_add_length(head, head->content_length);
	} else if (length >= 0 && !handle->bodiless) {
		handle->measured = true;
		handle->left = (uint64_t)length;
		cuttle_head_add_length(head, (uint64_t)length);
	} else if (!handle->bodiless && minor_version(handle) == 1) {
		handle->chunked = true;
		cuttle_head_add(head, "transfer-encoding: chunked\r\n", 28);
	} else if (!handle->bodiless) {
		connection->keep_alive = false; /* the end of the connection is the end of the body */
	}
}

static void complete_head(struct cuttle_handle *handle, struct cuttle_response_head *head)
{
	const char *date;
	size_t date_length;

	if (!handle->connection->keep_alive)
		cuttle_head_add(head, "connection: close\r\n", 19);
	else if (minor_version(handle) == 0)
		cuttle_head_add(head, "connection: keep-alive\r\n", 24);
	if (!head->has_date) {
		date_length = cuttle_date_line(&date);
		cuttle_head_add(head, date, date_length);
	}
	cuttle_head_add(head, "\r\n", 2);
}

/* Status line and fields of a response whose body has length octets (-1: not known). */
static void begin(struct cuttle_handle *handle, struct cuttle_response_head *head, VALUE status, VALUE fields,
		  int64_t length)
{
	int code = cuttle_status(status);

	cuttle_head_render(head, code, fields);
	frame(handle, head, code, length);
	complete_head(handle, head);
	handle->connection->times[CUTTLE_RETURNED] = cuttle_now();
	handle->status = code;
}

/* Follows the chunks that the app makes itself. Returns false once they are none, or go on behind the last. */
static bool check_encoding(struct cuttle_handle *handle, const char *octets, size_t length)
{
	struct cuttle_slice data;

	while (length > 0 && !handle->encoding_complete) {
		size_t count = length;
		int result = cuttle_parse_chunks(&handle->encoding, octets, &count, &data);

		if (result < 0)
			return false;
		handle->encoding_complete = result == 1;
		octets += count;
		length -= count;
	}
	return length == 0;
}

static void check_encoded_parts(struct cuttle_handle *handle, const struct iovec *parts, int count)
{
	bool good = true;

	for (int index = 0; index < count; index++)
		good = good && check_encoding(handle, parts[index].iov_base, parts[index].iov_len);
	if (good && handle->encoding_complete)
		return;
	handle->status = 0;
	rb_raise(cuttle_invalid_response, "transfer-encoding: chunked, but the body is not in chunks");
}

static int send_parts(struct cuttle_handle *handle, struct iovec *parts, int count)
{
	int failed;

	cuttle_handle_lock(handle);
	failed = cuttle_connection_send(handle->connection, parts, count);
	cuttle_handle_unlock(handle);
	return failed;
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

/* A body whose length is not the announced one can't be followed by another message. */
static void settle_length(struct cuttle_handle *handle, uint64_t length)
{
	if (handle->measured && length != handle->left)
		handle->connection->keep_alive = false;
	if (handle->measured)
		handle->left = 0;
}

/* Short parts are copied behind the head: one piece costs the system less than two. Returns how many pieces remain. */
static int merge(struct cuttle_response_head *head, struct iovec *pieces, int count)
{
	size_t total = 0;

	for (int index = 1; index < count; index++)
		total += pieces[index].iov_len;
	if (head->length + total > sizeof head->fixed || !NIL_P(head->spill))
		return count;
	for (int index = 1; index < count; index++)
		cuttle_head_add(head, pieces[index].iov_base, pieces[index].iov_len);
	return 1;
}

/* Returns false, with nothing sent, where the app wants the socket behind the head. */
static bool respond(struct cuttle_handle *handle, VALUE status, VALUE headers, VALUE parts)
{
	struct cuttle_response_head head;
	struct iovec pieces[MOST_PARTS + 2];
	int64_t length = total_length(parts);
	int count = 1;

	if (RARRAY_LEN(parts) > MOST_PARTS)
		parts = rb_ary_new_from_args(1, rb_ary_join(parts, Qnil));
	begin(handle, &head, status, headers, length);
	if (head.hijack) {
		handle->status = 0;
		return false;
	}
	for (long index = 0; index < RARRAY_LEN(parts) && !handle->bodiless; index++) {
		VALUE part = RARRAY_AREF(parts, index);

		if (RSTRING_LEN(part) > 0)
			pieces[count++] = (struct iovec){.iov_base = RSTRING_PTR(part),
							 .iov_len = (size_t)RSTRING_LEN(part)};
	}
	if (handle->encoded)
		check_encoded_parts(handle, pieces + 1, count - 1);
	if (handle->measured)
		count = 1 + cut(pieces + 1, count - 1, handle->left);
	settle_length(handle, (uint64_t)length);
	count = merge(&head, pieces, count);
	pieces[0] = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	send_parts(handle, pieces, count);
	cuttle_handle_finish(handle);
	RB_GC_GUARD(head.spill);
	RB_GC_GUARD(parts);
	return true;
}

/* call-seq: respond(status, headers, parts)
 *
 * Sends the whole response, parts being an Array of Strings, and is done with the request: a client that reads slowly
 * holds no thread. Raises Cuttle::InvalidResponse before anything was sent. */
static VALUE connection_respond(VALUE self, VALUE status, VALUE headers, VALUE parts)
{
	struct cuttle_handle *handle = unanswered(self);

	Check_Type(parts, T_ARRAY);
	if (!respond(handle, status, headers, parts))
		rb_raise(cuttle_invalid_response, "rack.hijack among the headers, and a body");
	return Qnil;
}

/* call-seq: answer(status, headers, body) -> true or false
 *
 * Responds, where that is all there is to do. Returns false, with nothing sent, where the response asks for more: a body
 * that is no plain Array, a status of 101, a rack.hijack among the headers, callbacks to be told of the response's end,
 * or a connection that is not the server's any more. Raises Cuttle::InvalidResponse before anything was sent. */
static VALUE connection_answer(VALUE self, VALUE status, VALUE headers, VALUE body)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);

	if (!RB_TYPE_P(body, T_ARRAY) || RBASIC_CLASS(body) != rb_cArray || status == INT2FIX(101) ||
	    handle->finished || cuttle_env_has_callbacks(handle))
		return Qfalse;
	return RBOOL(respond(unanswered(self), status, headers, body));
}

/* call-seq: start(status, headers)
 *
 * Begins a response whose body comes by write and ends by finish (or abort). The head leaves with the first piece. */
static VALUE connection_start(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_handle *handle = unanswered(self);
	struct cuttle_response_head head;

	begin(handle, &head, status, headers, -1);
	RB_OBJ_WRITE(self, &handle->text, rb_str_new(head.at, (long)head.length));
	RB_GC_GUARD(head.spill);
	return Qnil;
}

/* The client is slower than the app: waits until most of what is queued is sent. */
static void wait_for_client(struct cuttle_handle *handle)
{
	struct cuttle_connection *connection = handle->connection;

	while (connection->out.queued > LOW_WATER && !connection->broken) {
		enum cuttle_flush flush;

		if (!cuttle_wait_writable(handle, connection->core->timeouts[CUTTLE_UNTIL_WRITTEN])) {
			connection->broken = true;
			break;
		}
		cuttle_handle_lock(handle);
		flush = connection->state == CUTTLE_TAKEN
				? cuttle_outbox_flush(&connection->out, connection->transport, connection->fd,
						      &connection->bytes_sent)
				: CUTTLE_BROKEN;
		cuttle_handle_unlock(handle);
		if (flush == CUTTLE_BROKEN)
			connection->broken = true;
	}
}

static int add_head(struct cuttle_handle *handle, struct iovec *parts, VALUE *text)
{
	*text = handle->text;
	handle->text = Qnil;
	if (NIL_P(*text))
		return 0;
	parts[0] = (struct iovec){.iov_base = RSTRING_PTR(*text), .iov_len = (size_t)RSTRING_LEN(*text)};
	return 1;
}

/* Sends octets of the body as the framing wants them, behind the head if that has not left yet. */
static void send_piece(struct cuttle_handle *handle, const char *octets, size_t length)
{
	struct iovec parts[4];
	char size[24];
	VALUE text;
	int count = add_head(handle, parts, &text);

	if (length > 0 && handle->chunked) {
		int digits = snprintf(size, sizeof size, "%zx\r\n", length);

		parts[count++] = (struct iovec){.iov_base = size, .iov_len = (size_t)digits};
	}
	if (length > 0)
		parts[count++] = (struct iovec){.iov_base = (char *)octets, .iov_len = length};
	if (length > 0 && handle->chunked)
		parts[count++] = (struct iovec){.iov_base = (char *)"\r\n", .iov_len = 2};
	if (count > 0)
		send_parts(handle, parts, count);
	RB_GC_GUARD(text);
}

/* call-seq: write(string) -> Integer
 *
 * Sends a piece of the body at once. Waits while the client is slower than the app. Octets beyond the announced length
 * are not sent, and end the connection. Raises Cuttle::Disconnected when the client has gone. */
static VALUE connection_write(VALUE self, VALUE string)
{
	struct cuttle_handle *handle = answering(self);
	size_t length;

	if (!RB_TYPE_P(string, T_STRING))
		rb_raise(cuttle_invalid_response, "a part of the body is no String: %" PRIsVALUE, rb_obj_class(string));
	length = (size_t)RSTRING_LEN(string);
	if (handle->bodiless)
		length = 0;
	if (handle->encoded && !check_encoding(handle, RSTRING_PTR(string), length))
		rb_raise(cuttle_invalid_response, "transfer-encoding: chunked, but the body is not in chunks");
	if (handle->measured && length > handle->left) {
		handle->connection->keep_alive = false;
		length = (size_t)handle->left;
	}
	if (handle->measured)
		handle->left -= length;
	send_piece(handle, RSTRING_PTR(string), length);
	if (handle->connection->out.queued > HIGH_WATER)
		wait_for_client(handle);
	if (handle->connection->broken)
		rb_raise(disconnected, "the client has gone");
	RB_GC_GUARD(string);
	return SIZET2NUM(length);
}

/* call-seq: finish
 *
 * Completes the response. One that is shorter than it announced ends the connection instead. */
static VALUE connection_finish(VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);
	struct iovec last = {.iov_base = (char *)"0\r\n\r\n", .iov_len = 5};

	if (handle->finished || !handle->status)
		return Qnil;
	send_piece(handle, NULL, 0);
	settle_length(handle, 0);
	if (handle->encoded && !handle->encoding_complete)
		handle->connection->keep_alive = false;
	if (handle->chunked)
		send_parts(handle, &last, 1);
	cuttle_handle_finish(handle);
	return Qnil;
}

/* call-seq: abort
 *
 * Ends the connection without completing the response, so that the client sees that it is cut short. */
static VALUE connection_abort(VALUE self)
{
	cuttle_handle_abort(cuttle_handle_of(self));
	return Qnil;
}

/* A small file goes out with its head, in one write. Returns false where the file has fewer octets. */
static bool send_small_file(struct cuttle_handle *handle, struct cuttle_response_head *head, int file, uint64_t offset,
			    size_t length)
{
	char octets[SMALL_FILE];
	ssize_t count = pread(file, octets, length, (off_t)offset);
	struct iovec parts[2] = {
		{.iov_base = head->at, .iov_len = head->length},
		{.iov_base = octets, .iov_len = count > 0 ? (size_t)count : 0},
	};

	send_parts(handle, parts, 2);
	return count >= 0 && (size_t)count == length;
}

static bool send_large_file(struct cuttle_handle *handle, struct cuttle_response_head *head, VALUE io, int file,
			    uint64_t offset, uint64_t length)
{
	struct iovec part = {.iov_base = head->at, .iov_len = head->length};
	int failed;

	rb_funcall(io, rb_intern("autoclose="), 1, Qfalse); /* the outbox closes it */
	cuttle_handle_lock(handle);
	failed = cuttle_connection_send(handle->connection, &part, 1);
	failed |= cuttle_outbox_append_file(&handle->connection->out, file, offset, length);
	cuttle_handle_unlock(handle);
	return !failed;
}

/* call-seq: send_file(status, headers, io, offset, length)
 *
 * Sends the whole response with length octets of an open file as its body, and closes the file; nobody waits for the client.
 * Raises Cuttle::InvalidResponse before anything was sent. */
static VALUE connection_send_file(VALUE self, VALUE status, VALUE headers, VALUE io, VALUE offset, VALUE length)
{
	struct cuttle_handle *handle = unanswered(self);
	struct cuttle_response_head head;
	uint64_t from = NUM2ULL(offset), count = NUM2ULL(length);
	int file = NUM2INT(rb_funcall(io, rb_intern("fileno"), 0));
	bool sent;

	begin(handle, &head, status, headers, (int64_t)count);
	if (handle->encoded)
		check_encoded_parts(handle, NULL, 0);
	if (handle->measured && count > handle->left)
		count = handle->left;
	settle_length(handle, NUM2ULL(length));
	if (handle->bodiless)
		count = 0;
	if (count > SMALL_FILE)
		sent = send_large_file(handle, &head, io, file, from, count);
	else
		sent = send_small_file(handle, &head, file, from, (size_t)count);
	if (count <= SMALL_FILE)
		rb_io_close(io);
	if (sent)
		cuttle_handle_finish(handle);
	else
		cuttle_handle_abort(handle);
	RB_GC_GUARD(head.spill);
	RB_GC_GUARD(io);
	return Qnil;
}

/* call-seq: early_hints(headers)
 *
 * Sends a 103 (RFC 8297) with those fields; nothing on HTTP/1.0, or when the final response has begun. */
static VALUE connection_early_hints(VALUE self, VALUE headers)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);
	struct cuttle_response_head head;
	struct iovec part;

	if (handle->finished || handle->status || minor_version(handle) == 0)
		return Qnil;
	cuttle_head_render(&head, 103, headers);
	cuttle_head_add(&head, "\r\n", 2);
	part = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	send_parts(handle, &part, 1);
	RB_GC_GUARD(head.spill);
	return Qnil;
}

/* call-seq: upgrade(status, headers) -> Socket
 *
 * Sends a head as the app gives it, without framing, and gives the socket to the caller (Rack SPEC, partial hijack). The status
 * may be 101. */
static VALUE connection_upgrade(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_handle *handle = unanswered(self);
	struct cuttle_response_head head;
	int code = status == INT2FIX(101) ? 101 : cuttle_status(status);
	struct iovec part;

	cuttle_head_render(&head, code, headers);
	handle->connection->keep_alive = code == 101; /* no "connection: close" beside the app's "upgrade" */
	if (head.has_length)
		cuttle_head_add_length(&head, head.content_length);
	complete_head(handle, &head);
	handle->status = code;
	part = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	send_parts(handle, &part, 1);
	RB_GC_GUARD(head.spill);
	return rb_funcall(self, rb_intern("hijack"), 0);
}

void Init_cuttle_response(void)
{
	VALUE class = cuttle_connection_class, error = rb_const_get(cuttle_module, rb_intern("Error"));

	cuttle_invalid_response = rb_define_class_under(cuttle_module, "InvalidResponse", error);
	disconnected = rb_define_class_under(cuttle_module, "Disconnected", rb_eIOError);
	rb_define_method(class, "respond", connection_respond, 3);
	rb_define_method(class, "answer", connection_answer, 3);
	rb_define_method(class, "start", connection_start, 2);
	rb_define_method(class, "write", connection_write, 1);
	rb_define_method(class, "finish", connection_finish, 0);
	rb_define_method(class, "abort", connection_abort, 0);
	rb_define_method(class, "send_file", connection_send_file, 5);
	rb_define_method(class, "early_hints", connection_early_hints, 1);
	rb_define_method(class, "upgrade", connection_upgrade, 2);
}
