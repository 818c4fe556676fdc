/* Cuttle::Acceptor: the blocking side, for engines that give a thread or a process to a connection. All of it runs
 * with the GVL, which is let go only to wait. */
#include "rb_cuttle.h"
#include "rb_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_LISTENERS 64
#define FIRST_GRACE ((int64_t)CUTTLE_SECOND) /* nanoseconds that a connection has for its first request, at least */

struct acceptor {
	struct cuttle_source source; /* first: see cuttle_source_of */
	int descriptors[MOST_LISTENERS];
	int count;
	int stopped[2]; /* a pipe: readable for good once stop was called */
	bool closed;
};

static void acceptor_mark(void *data)
{
	cuttle_source_mark(data);
}

static void acceptor_free(void *data)
{
	struct acceptor *acceptor = data;

	if (acceptor->source.core) {
		close(acceptor->stopped[0]);
		close(acceptor->stopped[1]);
		cuttle_core_disown(acceptor->source.core);
	}
	xfree(acceptor);
}

static size_t acceptor_size(const void *data)
{
	return sizeof(struct acceptor);
}

static const rb_data_type_t acceptor_type = {
	.wrap_struct_name = "Cuttle::Acceptor",
	.function = {.dmark = acceptor_mark, .dfree = acceptor_free, .dsize = acceptor_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE acceptor_allocate(VALUE class)
{
	struct acceptor *acceptor;
	VALUE self = TypedData_Make_Struct(class, struct acceptor, &acceptor_type, acceptor);

	acceptor->source.listeners = acceptor->source.env = acceptor->source.parser = Qnil;
	acceptor->source.server_name = acceptor->source.sent_port = Qnil;
	acceptor->source.local_name = acceptor->source.local_port = Qnil;
	return self;
}

static struct acceptor *acceptor_of(VALUE self)
{
	struct acceptor *acceptor;

	TypedData_Get_Struct(self, struct acceptor, &acceptor_type, acceptor);
	if (!acceptor->source.core)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Acceptor");
	return acceptor;
}

static void free_core(struct cuttle_core *core)
{
	free(core);
}

static void open_pipe(struct acceptor *acceptor)
{
	if (pipe(acceptor->stopped) < 0)
		rb_sys_fail("Cuttle::Acceptor");
	for (int side = 0; side < 2; side++) {
		fcntl(acceptor->stopped[side], F_SETFD, FD_CLOEXEC);
		fcntl(acceptor->stopped[side], F_SETFL, O_NONBLOCK);
	}
}

/* call-seq: Acceptor.new(listeners, env:, …)
 *
 * Takes what Poller.new takes (watch says nothing here). At most 64 listeners. */
static VALUE acceptor_initialize(int argc, VALUE *argv, VALUE self)
{
	struct acceptor *acceptor;
	VALUE listeners, options;

	rb_scan_args(argc, argv, "1:", &listeners, &options);
	Check_Type(listeners, T_ARRAY);
	TypedData_Get_Struct(self, struct acceptor, &acceptor_type, acceptor);
	if (acceptor->source.core)
		rb_raise(rb_eArgError, "already initialized");
	if (RARRAY_LEN(listeners) > MOST_LISTENERS)
		rb_raise(rb_eArgError, "more than %d listeners", MOST_LISTENERS);
	for (long index = 0; index < RARRAY_LEN(listeners); index++)
		acceptor->descriptors[acceptor->count++] = cuttle_listener_descriptor(RARRAY_AREF(listeners, index));
	open_pipe(acceptor);
	acceptor->source.core = malloc(sizeof *acceptor->source.core);
	if (!acceptor->source.core)
		rb_memerror();
	cuttle_core_reset(acceptor->source.core, free_core);
	cuttle_source_configure(self, &acceptor->source, listeners, options);
	return self;
}

static int accept_any(struct acceptor *acceptor)
{
	int fd = -1;

	for (int index = 0; fd < 0 && index < acceptor->count; index++)
		fd = cuttle_accept(acceptor->descriptors[index]);
	return fd;
}

static int add_listeners(struct acceptor *acceptor, struct pollfd *descriptors, int count)
{
	for (int index = 0; index < acceptor->count; index++)
		descriptors[count++] = (struct pollfd){.fd = acceptor->descriptors[index], .events = POLLIN};
	return count;
}

/* call-seq: accept -> connection or nil
 *
 * Waits for a connection. After stop: one that waits already, else the listeners close and it is nil. */
static VALUE acceptor_accept(VALUE self)
{
	struct acceptor *acceptor = acceptor_of(self);
	struct pollfd descriptors[MOST_LISTENERS + 1];
	struct cuttle_connection *connection;

	for (;;) {
		bool stopping = atomic_load(&acceptor->source.core->stopping);
		int fd = acceptor->closed ? -1 : accept_any(acceptor);

		if (fd >= 0) {
			connection = cuttle_connection_open(acceptor->source.core, fd, cuttle_now());
			if (!connection)
				rb_memerror();
			return cuttle_connection_wrap(self, connection);
		}
		if (stopping || acceptor->closed) {
			if (!acceptor->closed)
				cuttle_stop_listening(acceptor->descriptors, acceptor->count);
			acceptor->closed = true;
			cuttle_source_close_listeners(&acceptor->source);
			return Qnil;
		}
		descriptors[0] = (struct pollfd){.fd = acceptor->stopped[0], .events = POLLIN};
		cuttle_poll(descriptors, (nfds_t)add_listeners(acceptor, descriptors, 1), 3600 * CUTTLE_SECOND);
	}
}

/* call-seq: waiting? -> true or false, whether a connection waits to be accepted */
static VALUE acceptor_waiting_p(VALUE self)
{
	struct acceptor *acceptor = acceptor_of(self);
	struct pollfd descriptors[MOST_LISTENERS];

	return RBOOL(!acceptor->closed && poll(descriptors, (nfds_t)add_listeners(acceptor, descriptors, 0), 0) > 0);
}

/* call-seq: stop
 *
 * Takes no new connections, and lets each end after its request. Only sets a flag and writes to a descriptor, so a trap
 * handler may call it. */
static VALUE acceptor_stop(VALUE self)
{
	struct acceptor *acceptor = acceptor_of(self);

	atomic_store(&acceptor->source.core->stopping, true);
	(void)!write(acceptor->stopped[1], "", 1);
	return Qnil;
}

/* call-seq: stopping? -> true or false */
static VALUE acceptor_stopping_p(VALUE self)
{
	return RBOOL(atomic_load(&acceptor_of(self)->source.core->stopping));
}

/* call-seq: stats -> Hash: connections (open), accepted and requests (since the start) */
static VALUE acceptor_stats(VALUE self)
{
	struct cuttle_core *core = acceptor_of(self)->source.core;
	VALUE stats = rb_hash_new();

	rb_hash_aset(stats, ID2SYM(rb_intern("connections")), UINT2NUM(core->open));
	rb_hash_aset(stats, ID2SYM(rb_intern("accepted")), ULL2NUM(core->accepted));
	rb_hash_aset(stats, ID2SYM(rb_intern("requests")), ULL2NUM(core->requests));
	return stats;
}

struct cuttle_source *cuttle_source_of(VALUE object)
{
	if (rb_typeddata_is_kind_of(object, &acceptor_type))
		return &acceptor_of(object)->source;
	return cuttle_poller_source(object);
}

/* Whether neither the stop nor a crowd ends the connection. After the stop, one that has not asked yet has a moment
 * left to do so. */
static bool spared(struct acceptor *acceptor, struct cuttle_connection *connection, uint64_t now)
{
	if (connection->state != CUTTLE_IDLE)
		return true;
	if (connection->times[CUTTLE_FIRST_OCTET] || !atomic_load(&acceptor->source.core->stopping))
		return false;
	if (connection->deadline_kind != CUTTLE_UNTIL_LINGERED)
		cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_LINGERED, now);
	return true;
}

/* Waits for what the connection needs next: its descriptor, its deadline, the stop or (when it idles longer than
 * grace nanoseconds) somebody at the door. Returns false when it should end. */
static bool await(struct acceptor *acceptor, struct cuttle_connection *connection, uint64_t idle_since, int64_t grace)
{
	struct pollfd descriptors[MOST_LISTENERS + 2];
	uint64_t now = cuttle_now(), left;
	bool output = !cuttle_outbox_empty(&connection->out), idle = !spared(acceptor, connection, now);
	int count = 1;

	if (grace >= 0 && grace < FIRST_GRACE && !connection->times[CUTTLE_FIRST_OCTET])
		grace = FIRST_GRACE;
	left = connection->deadline > now ? connection->deadline - now : 0;
	descriptors[0] = (struct pollfd){
		.fd = connection->fd,
		.events = (short)((output ? POLLOUT : 0) | (connection->state == CUTTLE_DRAIN ? 0 : POLLIN)),
	};
	if (idle)
		descriptors[count++] = (struct pollfd){.fd = acceptor->stopped[0], .events = POLLIN};
	if (idle && grace >= 0 && now >= idle_since + (uint64_t)grace)
		count = add_listeners(acceptor, descriptors, count);
	else if (idle && grace >= 0 && left > idle_since + (uint64_t)grace - now)
		left = idle_since + (uint64_t)grace - now;

	if (cuttle_poll(descriptors, (nfds_t)count, left) == 0)
		return true;
	if (descriptors[0].revents & (POLLIN | POLLHUP | POLLERR))
		connection->readable = true;
	return descriptors[0].revents != 0 || spared(acceptor, connection, now);
}

/* A last look at a connection that should end: what was sent in time is still answered. */
static enum cuttle_step last_look(struct cuttle_connection *connection)
{
	enum cuttle_step step;

	connection->readable = true;
	step = cuttle_connection_step(connection, cuttle_now());
	return connection->state == CUTTLE_IDLE ? CUTTLE_STEP_CLOSE : step;
}

static enum cuttle_step advance(struct acceptor *acceptor, struct cuttle_connection *connection, VALUE self,
				enum cuttle_step step, uint64_t idle_since, int64_t grace)
{
	switch (step) {
	case CUTTLE_STEP_UNPARSED:
		return cuttle_ruby_parse(self);
	case CUTTLE_STEP_WAIT:
		if (!await(acceptor, connection, idle_since, grace))
			return last_look(connection);
		if (connection->deadline && cuttle_now() >= connection->deadline)
			return cuttle_connection_expire(connection, cuttle_now());
		return cuttle_connection_step(connection, cuttle_now());
	default:
		return cuttle_connection_step(connection, cuttle_now());
	}
}

/* call-seq: next_request(grace = nil) -> true or false
 *
 * Waits until the connection holds a complete request; false when it has ended. With grace (seconds), a connection
 * that has idled so long gives way to one that waits to be accepted. */
static VALUE connection_next_request(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_handle *handle = cuttle_handle_of(self);
	struct cuttle_connection *connection = handle->connection;
	struct acceptor *acceptor = acceptor_of(handle->source);
	enum cuttle_step step = handle->step;
	int64_t grace = -1;
	uint64_t idle_since = cuttle_now();

	rb_check_arity(argc, 0, 1);
	if (argc == 1 && !NIL_P(argv[0]))
		grace = (int64_t)(NUM2DBL(argv[0]) * (double)CUTTLE_SECOND);
	if (connection->state == CUTTLE_TAKEN)
		rb_raise(rb_eIOError, "the last request has no complete response");
	while (connection->state != CUTTLE_READY) {
		if (connection->state == CUTTLE_CLOSED) {
			cuttle_source_give_way(&acceptor->source);
			return Qfalse;
		}
		step = advance(acceptor, connection, self, step, idle_since, grace);
		if (step == CUTTLE_STEP_CLOSE)
			cuttle_connection_close(connection);
	}
	cuttle_connection_take(connection, cuttle_now());
	cuttle_handle_begin(handle);
	return Qtrue;
}

void Init_cuttle_acceptor(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Acceptor", rb_cObject);

	rb_define_alloc_func(class, acceptor_allocate);
	rb_define_method(class, "initialize", acceptor_initialize, -1);
	rb_define_method(class, "accept", acceptor_accept, 0);
	rb_define_method(class, "waiting?", acceptor_waiting_p, 0);
	rb_define_method(class, "stop", acceptor_stop, 0);
	rb_define_method(class, "stopping?", acceptor_stopping_p, 0);
	rb_define_method(class, "stats", acceptor_stats, 0);
	rb_define_method(cuttle_connection_class, "next_request", connection_next_request, -1);
}
