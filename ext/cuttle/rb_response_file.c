/* Responses from an open file: a small one goes out with its head, a large one by sendfile. */
#include "rb_response.h"

#include <ruby/io.h>
#include <unistd.h>

#define SMALL_FILE (32 * 1024) /* octets of a file that go out with the head */

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

	cuttle_response_send(held, parts, 2);
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

/* How many of the file's octets go out: no more than were announced, none where there is no body. */
static uint64_t settle_file(struct cuttle_held *held, uint64_t size)
{
	const struct cuttle_framing *framing = &held->live->framing;
	uint64_t announced = framing->measured ? framing->left : size;

	cuttle_response_settle_length(held, size);
	if (framing->bodiless)
		return 0;
	return size < announced ? size : announced;
}

/* call-seq: send_file(status, headers, io, offset, length)
 *
 * Sends the whole response with length octets of an open file as its body, and closes the file; nobody waits for the
 * client. If it raises, nothing was sent, and the file is still open and the caller's. */
static VALUE exchange_send_file(VALUE self, VALUE status, VALUE headers, VALUE io, VALUE offset, VALUE length)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_held *held;
	uint64_t from = NUM2ULL(offset), size = NUM2ULL(length), count;
	int file = NUM2INT(rb_funcall(io, rb_intern("fileno"), 0));
	int code = cuttle_status(status);
	bool large, sent;

	cuttle_fields_gather(&fields, headers);
	held = cuttle_response_unanswered(self);
	cuttle_response_begin(held, &head, code, &fields, (int64_t)size);
	if (held->live->framing.encoded)
		cuttle_response_give_up(held, &head, "transfer-encoding: chunked, but the body is not in chunks");
	count = settle_file(held, size);
	large = count > SMALL_FILE;
	if (large) {
		rb_funcall(io, rb_intern("autoclose="), 1, Qfalse); /* the outbox closes it from here on */
		sent = send_large_file(held, &head, file, from, count);
	} else {
		sent = send_small_file(held, &head, file, from, (size_t)count);
	}
	cuttle_response_head_free(&head);
	if (!large)
		rb_io_close(io);
	cuttle_held_leave(held, sent);
	RB_GC_GUARD(io);
	return Qnil;
}

void Init_cuttle_response_file(void)
{
	rb_define_method(cuttle_exchange_class, "send_file", exchange_send_file, 5);
}
