/* Heads and framing of responses, and whole responses in one vectored write.
 *
 * An app's mistake is found before the first octet leaves, or ends the connection: a message is never completed
 * differently from what the app's head announced. */
#include "rb_ledger.h"
#include "rb_response.h"

#define MOST_PARTS 62 /* strings sent in one write; more are joined */

/* The exchange, where it has no response yet. */
struct cuttle_held *cuttle_response_unanswered(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);

	if (held->status && !cuttle_held_unsent(held))
		rb_raise(rb_eIOError, "the request has its response already");
	cuttle_held_begin(held);
	if (held->extras)
		held->extras->text = Qnil; /* a head that never left gives way to another */
	held->status = 0;
	return held;
}

static int minor_version(const struct cuttle_held *held)
{
	return cuttle_exchange_head(held->live)->minor;
}

/* No octet of the response has left, and none will. */
void cuttle_response_give_up(struct cuttle_held *held, struct cuttle_response_head *head, const char *why)
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
	bool no_content = status == 204 || status == 205 || status == 304;

	*framing = (struct cuttle_framing){.bodiless = held->head_request || no_content};
	if (head->close || cuttle_core_ending(cuttle_held_core(held)))
		exchange->keep_alive = false;
	if (status == 204) /* has no field that speaks of a body (RFC 9110, 8.6; RFC 9112, 6.1) */
		return true;
	if (status == 205) /* a client expects a body otherwise, and there must be none (RFC 9110, 15.3.6) */
		return cuttle_response_head_add_length(head, 0);
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
		framing->unbounded = true;
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
	if (head->upgrade_at && !head->upgrade_option) /* RFC 9110, 7.8: a sender of Upgrade sends this option */
		good = good && cuttle_response_head_add(head, "connection: upgrade\r\n", 21);
	if (!head->has_date) {
		size_t length = cuttle_date_line(&date);

		good = good && cuttle_response_head_add(head, date, length);
	}
	return good && cuttle_response_head_add(head, "\r\n", 2);
}

/* The app has returned. */
static void note_return(struct cuttle_exchange *exchange)
{
	uint64_t now = cuttle_now();

	exchange->times[CUTTLE_RETURNED] = now;
	if (exchange->effort.clocks)
		cuttle_effort_read(exchange, now);
}

/* Adds where the request's time went, if that is asked for (--server-timing). The field is a list: what the app says in
 * its own stays. Returns false without memory. */
static bool add_timing(const struct cuttle_held *held, struct cuttle_response_head *head)
{
	char text[CUTTLE_TIMING_ROOM];
	struct cuttle_phases phases;
	size_t length;

	if (!cuttle_held_core(held)->limits.server_timing)
		return true;
	cuttle_exchange_phases(held->live, &phases, held->live->times[CUTTLE_RETURNED]);
	length = cuttle_phases_render(&phases, text);
	return cuttle_response_head_add(head, "server-timing: ", 15) && cuttle_response_head_add(head, text, length) &&
	       cuttle_response_head_add(head, "\r\n", 2);
}

void cuttle_response_begin(struct cuttle_held *held, struct cuttle_response_head *head, int status,
			   const struct cuttle_fields *fields, int64_t length)
{
	cuttle_fields_render(fields, status, head);
	if (head->chunked && minor_version(held) == 0)
		cuttle_response_give_up(held, head, "a transfer-encoding for an HTTP/1.0 client");
	note_return(held->live);
	if (!frame(held, head, status, length) || !add_timing(held, head) || !complete_head(held, head)) {
		cuttle_response_head_free(head);
		rb_memerror();
	}
	held->status = status;
}

/* Follows the chunks that the app makes itself. Returns false once they are none, or go on behind the last. */
bool cuttle_response_check_chunks(struct cuttle_framing *framing, const char *octets, size_t length)
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
		if (!cuttle_response_check_chunks(framing, parts[index].iov_base, parts[index].iov_len))
			return false;
	return framing->encoding_complete;
}

/* Leaves the octets that the client does not take yet to the loop, which measures and sends them. Under the lock. */
static void leave_to_loop(struct cuttle_held *held)
{
	struct cuttle_connection *connection = held->live->connection;
	struct cuttle_loop *loop = connection->core->loop;

	if (!loop || cuttle_outbox_empty(&held->live->out))
		return;
	if (!connection->deadline)
		cuttle_connection_measure_output(connection, cuttle_now());
	cuttle_loop_route(loop, connection, CUTTLE_STEP_WAIT);
}

void cuttle_response_send(struct cuttle_held *held, struct iovec *parts, int count)
{
	cuttle_held_lock(held);
	if (!atomic_load(&held->live->connection->stuck) && /* which a 103 may find */
	    cuttle_exchange_send(held->live, parts, NULL, count) == 0)
		leave_to_loop(held);
	cuttle_held_unlock(held);
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
			pieces[count++] =
				(struct iovec){.iov_base = RSTRING_PTR(part), .iov_len = (size_t)RSTRING_LEN(part)};
	}
	return count;
}

/* A body whose length is not the announced one can't be followed by another message. */
void cuttle_response_settle_length(struct cuttle_held *held, uint64_t length)
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
static void respond(struct cuttle_held *held, int status, const struct cuttle_fields *fields, VALUE parts,
		    int64_t length)
{
	struct cuttle_framing *framing = &held->live->framing;
	struct cuttle_response_head head;
	struct iovec pieces[MOST_PARTS + 1];
	uintptr_t objects[MOST_PARTS + 1];
	bool lends = length >= CUTTLE_LENT_LEAST;
	int count;

	cuttle_response_begin(held, &head, status, fields, length);
	count = framing->bodiless ? 1 : place(parts, pieces);
	if (framing->encoded && !is_encoded(framing, pieces + 1, count - 1))
		cuttle_response_give_up(held, &head, "transfer-encoding: chunked, but the body is not in chunks");
	if (framing->measured)
		count = 1 + cut(pieces + 1, count - 1, framing->left);
	cuttle_response_settle_length(held, (uint64_t)length);
	count = merge(&head, pieces, count);
	pieces[0] = (struct iovec){.iov_base = head.at, .iov_len = head.length};
	if (lends)
		note_objects(parts, objects);
	cuttle_held_send_all(held, pieces, lends ? objects : NULL, count);
	cuttle_response_head_free(&head);
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
	held = cuttle_response_unanswered(self);
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
 * Responds and disposes, if there is nothing else to do. Returns false, with nothing sent, if the response needs more:
 * a body other than a plain Array, a status of 101, rack.hijack among the headers, callbacks, or an exchange that is
 * over. Raises IOError if the request was answered because it was stuck, and Cuttle::InvalidResponse before anything
 * was sent. */
static VALUE exchange_answer(VALUE self, VALUE status, VALUE headers, VALUE body)
{
	struct cuttle_held *held = cuttle_held_of(self);
	struct cuttle_fields fields;
	int64_t length;
	int code;

	if (cuttle_held_stuck(held))
		cuttle_held_live(self); /* raises */
	if (!RB_TYPE_P(body, T_ARRAY) || RBASIC_CLASS(body) != rb_cArray || status == INT2FIX(101) || !held->live ||
	    cuttle_held_core(held)->forked)
		return Qfalse;
	code = cuttle_status(status);
	cuttle_fields_gather(&fields, headers);
	if (fields.hijack || cuttle_env_has_callbacks(held))
		return Qfalse;
	held = cuttle_response_unanswered(self);
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
	cuttle_response_send(held, &part, 1);
	if (head.close) /* the app has announced it (RFC 9112, 9.6) */
		held->live->keep_alive = false;
	cuttle_response_head_free(&head);
	return Qnil;
}

/* Checks the app's head of a response after which it has the socket. RFC 9112, 6.1: HTTP/1.0 has no Transfer-Encoding.
 * RFC 9110, 7.8: nor has it upgrades, and a client gets a protocol that it has asked for. */
static void check_upgrade(struct cuttle_held *held, struct cuttle_response_head *head, int status)
{
	bool old = minor_version(held) == 0;

	if (head->chunked && old)
		cuttle_response_give_up(held, head, "a transfer-encoding for an HTTP/1.0 client");
	if (status == 101 && (old || !head->upgrade_at ||
			      !cuttle_hijacked_asks_for(held->live, head->at + head->upgrade_at, head->upgrade_length)))
		cuttle_response_give_up(held, head, "a 101 to a protocol that the client has not asked for");
}

/* Sends the head. RFC 9110, 7.8: a 101 comes after a 100, if the client expects one. */
static void send_upgrade(struct cuttle_held *held, struct cuttle_response_head *head, int status)
{
	const struct cuttle_exchange *exchange = held->live;
	bool due = status == 101 && cuttle_exchange_head(exchange)->expect_continue && !exchange->continued;
	struct iovec parts[] = {
		{.iov_base = (char *)CUTTLE_CONTINUE, .iov_len = sizeof CUTTLE_CONTINUE - 1},
		{.iov_base = head->at, .iov_len = head->length},
	};

	cuttle_response_send(held, due ? parts : parts + 1, due ? 2 : 1);
}

/* Adds the framing fields as the app gave them, because the app writes what follows. A 101 or 204 has none. */
static bool keep_framing(struct cuttle_response_head *head, int status)
{
	if (status == 101 || status == 204) /* RFC 9110, 8.6; RFC 9112, 6.1 */
		return true;
	if (head->chunked && !cuttle_response_head_add(head, "transfer-encoding: chunked\r\n", 28))
		return false;
	return !head->has_length || cuttle_response_head_add_length(head, head->content_length);
}

/* call-seq: upgrade(status, headers) -> Socket
 *
 * Sends a head as the app gives it, and gives the socket to the caller (Rack SPEC, partial hijack). The status may be
 * 101, if the client has asked for a protocol that Upgrade names. */
static VALUE exchange_upgrade(VALUE self, VALUE status, VALUE headers)
{
	struct cuttle_response_head head;
	struct cuttle_fields fields;
	struct cuttle_held *held;
	int code = status == INT2FIX(101) ? 101 : cuttle_status(status);

	cuttle_fields_gather(&fields, headers);
	held = cuttle_response_unanswered(self);
	cuttle_fields_render(&fields, code, &head);
	check_upgrade(held, &head, code);
	held->live->keep_alive = code == 101; /* no "connection: close" beside the app's "upgrade" */
	if (!keep_framing(&head, code) || !complete_head(held, &head)) {
		cuttle_response_head_free(&head);
		rb_memerror();
	}
	held->status = code;
	send_upgrade(held, &head, code);
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
	rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &lender_type, (void *)&lender_type));
	rb_define_method(class, "respond", exchange_respond, 3);
	rb_define_method(class, "answer", exchange_answer, 3);
	rb_define_method(class, "early_hints", exchange_early_hints, 1);
	rb_define_method(class, "upgrade", exchange_upgrade, 2);
}
