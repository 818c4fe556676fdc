/* Cuttle::Connection: a connection on the blocking side, which returns its exchanges one after the other. Its thread
 * waits for it, so only the GVL guards it. */
#include "rb_acceptor.h"
#include "rb_exchange.h"
#include "rb_ledger.h"
#include "rb_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BLIND_WAIT (10 * CUTTLE_MILLISECOND) /* for the disk, if there is no pipe */

static VALUE connection_class;

struct blocking {
	struct cuttle_connection *connection;
	struct cuttle_acceptor *acceptor; /* the Acceptor's structure */
	VALUE source;
	int written[2]; /* a pipe, if it had to wait for the disk; otherwise -1 */
};

static void blocking_mark(void *data)
{
	struct blocking *blocking = data;

	rb_gc_mark(blocking->source);
	if (blocking->connection && blocking->connection->references)
		cuttle_references_mark(blocking->connection->references);
}

/* A connection that ends has closed its stream, so nothing uses the pipe any more. */
static void close_pipe(struct blocking *blocking)
{
	if (blocking->written[0] < 0)
		return;
	close(blocking->written[0]);
	close(blocking->written[1]);
	blocking->written[0] = blocking->written[1] = -1;
}

/* Ends the connection. An exchange that is still held loses it. */
static void shut(struct blocking *blocking)
{
	struct cuttle_connection *connection = blocking->connection;

	if (connection->exchange && connection->exchange->holder)
		cuttle_held_leave(connection->exchange->holder, false);
	cuttle_connection_close(connection);
	close_pipe(blocking);
}

static void blocking_free(void *data)
{
	struct blocking *blocking = data;

	if (blocking->connection) {
		struct cuttle_core *core = blocking->connection->core;

		shut(blocking);
		free(blocking->connection);
		cuttle_core_disown(core);
	}
	close_pipe(blocking);
	xfree(blocking);
}

static size_t blocking_size(const void *data)
{
	return sizeof(struct blocking) + sizeof(struct cuttle_connection);
}

static const rb_data_type_t blocking_type = {
	.wrap_struct_name = "Cuttle::Connection",
	.function = {.dmark = blocking_mark, .dfree = blocking_free, .dsize = blocking_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct blocking *blocking_of(VALUE self)
{
	struct blocking *blocking;

	TypedData_Get_Struct(self, struct blocking, &blocking_type, blocking);
	return blocking;
}

VALUE cuttle_connection_prepare(struct cuttle_acceptor *acceptor)
{
	struct blocking *blocking;
	VALUE self = TypedData_Make_Struct(connection_class, struct blocking, &blocking_type, blocking);

	blocking->acceptor = acceptor;
	blocking->written[0] = blocking->written[1] = -1;
	RB_OBJ_WRITE(self, &blocking->source, acceptor->source.self);
	return self;
}

void cuttle_connection_adopt(VALUE self, struct cuttle_connection *connection)
{
	connection->step = CUTTLE_STEP_AGAIN;
	connection->core->owners++;
	blocking_of(self)->connection = connection;
}

/* Whether the connection survives a stop or a waiting connection for now. After the stop, a request may still be on its
 * way: a new connection waits a moment for it, a kept one the drain grace. */
static bool spared(struct cuttle_acceptor *acceptor, struct cuttle_connection *connection, uint64_t now)
{
	enum cuttle_deadline until = connection->served ? CUTTLE_UNTIL_DRAINED : CUTTLE_UNTIL_ASKED;

	if (connection->state != CUTTLE_IDLE)
		return true;
	if (!atomic_load(&connection->core->stopping) || !connection->core->timeouts[until])
		return false;
	if (connection->deadline_kind != until || !connection->deadline)
		cuttle_connection_set_deadline(connection, until, now);
	return true;
}

/* Opens the pipe through which the spooler reports what it has written. Returns the descriptor to wait for, or -1 if
 * there is none. */
static int open_pipe(struct blocking *blocking)
{
	if (blocking->written[0] < 0 && rb_cloexec_pipe(blocking->written) == 0)
		for (int end = 0; end < 2; end++)
			fcntl(blocking->written[end], F_SETFL, O_NONBLOCK);
	return blocking->written[0];
}

/* Waits until the disk has taken more of the body, the peer has gone, or time is up. */
static void await_disk(struct blocking *blocking, uint64_t left)
{
	struct cuttle_connection *connection = blocking->connection;
	struct pollfd descriptors[2] = {
		{.fd = connection->transport.fd},
		{.fd = open_pipe(blocking), .events = POLLIN},
	};
	char octets[64];

	if (descriptors[1].fd < 0 && left > BLIND_WAIT)
		left = BLIND_WAIT;
	cuttle_stream_signal(connection->exchange->body->stream, blocking->written[1]);
	if (cuttle_body_look(connection->exchange->body, connection->exchange->body_left == 0) != CUTTLE_BODY_WAITS ||
	    cuttle_poll(descriptors, 2, left) <= 0)
		return;
	if (descriptors[1].revents)
		(void)!read(blocking->written[0], octets, sizeof octets);
	if (descriptors[0].revents)
		connection->broken = true;
}

static void complain(const struct blocking *blocking)
{
	int error = cuttle_spool_complaint(blocking->connection->core->spool);

	if (error)
		cuttle_source_complain_of_spool(&blocking->acceptor->source, error);
	if (cuttle_core_tells_unproxied(blocking->connection->core, cuttle_now()))
		cuttle_source_complain_of_unproxied();
}

/* Converts directions (backend.h) to those of poll(2). */
static int poll_events(uint8_t wants)
{
	return ((wants & CUTTLE_READ) ? POLLIN : 0) | ((wants & CUTTLE_WRITE) ? POLLOUT : 0);
}

/* Waits for what the connection needs next: its descriptor, its deadline, the stop or (once it idled longer than grace
 * nanoseconds) a connection in the backlog. Returns false if it should end. */
static bool await(struct blocking *blocking, uint64_t idle_since, int64_t grace)
{
	struct cuttle_acceptor *acceptor = blocking->acceptor;
	struct cuttle_connection *connection = blocking->connection;
	struct pollfd descriptors[CUTTLE_MOST_LISTENERS + 2];
	uint64_t now = cuttle_now(), left = CUTTLE_FOREVER;
	bool output = (connection->exchange && !cuttle_outbox_empty(&connection->exchange->out)) || connection->parting;
	uint8_t read_wants = connection->state == CUTTLE_DRAIN ? 0 : connection->read_wants;
	bool kept = spared(acceptor, connection, now), idle = connection->state == CUTTLE_IDLE;
	int count = 1;

	if (atomic_load(&connection->core->stopping))
		grace = -1; /* its deadline counts now, and nobody else is accepted */
	else if (grace >= 0 && grace < CUTTLE_FIRST_GRACE && !connection->served)
		grace = CUTTLE_FIRST_GRACE;
	if (connection->deadline)
		left = connection->deadline > now ? connection->deadline - now : 0;
	if (connection->spooling) {
		await_disk(blocking, left);
		return true;
	}
	descriptors[0] = (struct pollfd){
		.fd = connection->transport.fd,
		.events = (short)(poll_events(output ? connection->write_wants : 0) | poll_events(read_wants)),
	};
	if (idle && !kept)
		descriptors[count++] = (struct pollfd){.fd = acceptor->stopped[0], .events = POLLIN};
	if (idle && grace >= 0 && now >= idle_since + (uint64_t)grace)
		count = cuttle_acceptor_listeners(acceptor, descriptors, count);
	else if (idle && grace >= 0 && left > idle_since + (uint64_t)grace - now)
		left = idle_since + (uint64_t)grace - now;

	if (cuttle_poll(descriptors, (nfds_t)count, left) <= 0)
		return true;
	if (descriptors[0].revents & (poll_events(read_wants) | POLLHUP | POLLERR))
		connection->readable = true;
	return descriptors[0].revents != 0 ||
	       (count > 1 && descriptors[1].fd == acceptor->stopped[0] && spared(acceptor, connection, cuttle_now()));
}

/* Checks once more a connection that should end, so that a request sent in time is still answered. */
static enum cuttle_step last_look(struct cuttle_connection *connection)
{
	enum cuttle_step step;

	connection->readable = true;
	step = cuttle_connection_step(connection, cuttle_now());
	return connection->state == CUTTLE_IDLE ? CUTTLE_STEP_CLOSE : step;
}

static enum cuttle_step parse(VALUE self, struct blocking *blocking)
{
	struct cuttle_connection *connection = blocking->connection;
	enum cuttle_step step;
	int raised;

	cuttle_connection_begin_parsing(connection);
	step = cuttle_foreign_parse(&blocking->acceptor->source, self, connection, &raised);
	if (raised) {
		cuttle_connection_close(connection);
		rb_jump_tag(raised);
	}
	return step;
}

static enum cuttle_step advance(VALUE self, struct blocking *blocking, uint64_t idle_since, int64_t grace)
{
	struct cuttle_connection *connection = blocking->connection;

	switch (connection->step) {
	case CUTTLE_STEP_UNPARSED:
		return parse(self, blocking);
	case CUTTLE_STEP_WAIT:
		if (!await(blocking, idle_since, grace))
			return last_look(connection);
		if (connection->deadline && cuttle_now() >= connection->deadline)
			return cuttle_connection_expire(connection, cuttle_now());
		return cuttle_connection_step(connection, cuttle_now());
	default:
		return cuttle_connection_step(connection, cuttle_now());
	}
}

static bool reach_request(VALUE self, struct blocking *blocking, uint64_t idle_since, int64_t grace)
{
	struct cuttle_connection *connection = blocking->connection;

	while (connection->state != CUTTLE_READY && connection->state != CUTTLE_CLOSED) {
		connection->step = advance(self, blocking, idle_since, grace);
		complain(blocking);
		if (connection->step == CUTTLE_STEP_CLOSE)
			cuttle_connection_close(connection);
	}
	if (connection->state != CUTTLE_READY)
		return false;
	if (!connection->suspect || connection->served > 1 || !cuttle_connection_gone(connection))
		return true;
	connection->core->dropped++;
	cuttle_connection_close(connection);
	return false;
}

/* call-seq: next_request(grace = nil) -> Exchange or nil
 *
 * Waits until the connection holds a complete request. Returns nil when it has ended. With grace, a connection that has
 * idled for that many seconds ends if another one waits to be accepted. */
static VALUE connection_next_request(int argc, VALUE *argv, VALUE self)
{
	struct blocking *blocking = blocking_of(self);
	struct cuttle_connection *connection = blocking->connection;
	struct cuttle_clocks *clocks;
	VALUE exchange;
	int64_t grace = -1;

	rb_check_arity(argc, 0, 1);
	if (argc == 1 && !NIL_P(argv[0]))
		grace = (int64_t)cuttle_nanoseconds(NUM2DBL(argv[0]));
	if (connection->core->forked || connection->state == CUTTLE_TAKEN)
		rb_raise(rb_eIOError, "the last request has no complete response");
	exchange = cuttle_exchange_prepare();
	clocks = connection->core->ledger ? cuttle_clocks_here() : NULL;
	if (!reach_request(self, blocking, cuttle_now(), grace)) {
		cuttle_source_give_way(&blocking->acceptor->source);
		return Qnil;
	}
	cuttle_connection_take(connection, cuttle_now());
	cuttle_exchange_hold(exchange, &blocking->acceptor->source, self, connection->exchange);
	if (clocks)
		cuttle_effort_begin(connection->exchange, clocks, CUTTLE_ALONE);
	return exchange;
}

/* call-seq: close -> nil
 *
 * Ends the connection in any state. A response in progress is cut short. */
static VALUE connection_close(VALUE self)
{
	shut(blocking_of(self));
	return Qnil;
}

void Init_cuttle_connection(void)
{
	connection_class = rb_define_class_under(cuttle_module, "Connection", rb_cObject);
	rb_gc_register_mark_object(connection_class);
	rb_undef_alloc_func(connection_class);
	rb_define_method(connection_class, "next_request", connection_next_request, -1);
	rb_define_method(connection_class, "close", connection_close, 0);
}
