/* Cuttle::Acceptor: the blocking side, for engines that give each connection a thread or a process. All of it runs with
 * the GVL, which it releases only to wait. Its connections are in rb_connection.c. */
#include "rb_acceptor.h"
#include "rb_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define RECOVERY (100 * CUTTLE_MILLISECOND) /* before the next accept after a shortage */

/* The core, with the data that a forked child needs. */
struct blocking_core {
	struct cuttle_core core;
	struct cuttle_acceptor *acceptor; /* NULL once it was collected */
};

static void acceptor_mark(void *data)
{
	struct cuttle_acceptor *acceptor = data;

	cuttle_source_mark(&acceptor->source);
}

static void acceptor_compact(void *data)
{
	struct cuttle_acceptor *acceptor = data;

	cuttle_source_compact(&acceptor->source);
}

/* Closes the connections that the stop has accepted and no thread has taken. */
static void close_waiting(struct cuttle_acceptor *acceptor)
{
	while (acceptor->waiting_next < acceptor->waiting_count)
		close(acceptor->waiting[acceptor->waiting_next++].fd);
}

static void close_pipe(struct cuttle_acceptor *acceptor)
{
	for (int side = 0; side < 2; side++) {
		if (acceptor->stopped[side] >= 0)
			close(acceptor->stopped[side]);
		acceptor->stopped[side] = -1;
	}
}

static void acceptor_free(void *data)
{
	struct cuttle_acceptor *acceptor = data;

	close_waiting(acceptor);
	free(acceptor->waiting);
	close_pipe(acceptor);
	if (acceptor->source.core) {
		if (acceptor->source.core->spool)
			cuttle_spool_end(acceptor->source.core->spool);
		CUTTLE_CONTAINER(acceptor->source.core, struct blocking_core, core)->acceptor = NULL;
		cuttle_core_disown(acceptor->source.core);
	}
	cuttle_source_free(&acceptor->source);
	xfree(acceptor);
}

static size_t acceptor_size(const void *data)
{
	const struct cuttle_acceptor *acceptor = data;

	return sizeof *acceptor + cuttle_source_size(&acceptor->source);
}

static const rb_data_type_t acceptor_type = {
	.wrap_struct_name = "Cuttle::Acceptor",
	.function = {.dmark = acceptor_mark,
		     .dfree = acceptor_free,
		     .dsize = acceptor_size,
		     .dcompact = acceptor_compact},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE acceptor_allocate(VALUE class)
{
	struct cuttle_acceptor *acceptor;
	VALUE self = TypedData_Make_Struct(class, struct cuttle_acceptor, &acceptor_type, acceptor);

	cuttle_source_reset(&acceptor->source, self);
	acceptor->stopped[0] = acceptor->stopped[1] = -1;
	return self;
}

static struct cuttle_acceptor *acceptor_of(VALUE self)
{
	struct cuttle_acceptor *acceptor;

	TypedData_Get_Struct(self, struct cuttle_acceptor, &acceptor_type, acceptor);
	if (!acceptor->source.core)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Acceptor");
	return acceptor;
}

static void free_core(struct cuttle_core *core)
{
	free(CUTTLE_CONTAINER(core, struct blocking_core, core));
}

static void around_fork(struct cuttle_core *core, enum cuttle_fork when)
{
	struct cuttle_acceptor *acceptor = CUTTLE_CONTAINER(core, struct blocking_core, core)->acceptor;

	if (when != CUTTLE_FORK_IN_CHILD || !acceptor)
		return;
	if (!acceptor->closed)
		cuttle_stop_listening(acceptor->listeners, acceptor->count);
	acceptor->closed = true;
	close_waiting(acceptor);
	close_pipe(acceptor); /* a stop here is none of the parent's */
}

static struct cuttle_core *open_core(struct cuttle_acceptor *acceptor)
{
	struct blocking_core *core = malloc(sizeof *core);

	if (!core)
		rb_memerror();
	cuttle_core_reset(&core->core, free_core, around_fork);
	core->acceptor = acceptor;
	return &core->core;
}

static void open_pipe(struct cuttle_acceptor *acceptor)
{
	if (rb_cloexec_pipe(acceptor->stopped) < 0)
		rb_sys_fail("Cuttle::Acceptor");
	for (int side = 0; side < 2; side++)
		fcntl(acceptor->stopped[side], F_SETFL, O_NONBLOCK);
}

/* call-seq: Acceptor.new(listeners, env:, …)
 *
 * Takes the arguments of Poller.new; shared, scoreboard, max_queue, queue_timeout and app_timeout have no effect. At
 * most 64 listeners. */
static VALUE acceptor_initialize(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_acceptor *acceptor;
	VALUE listeners, options;

	rb_scan_args(argc, argv, "1:", &listeners, &options);
	Check_Type(listeners, T_ARRAY);
	TypedData_Get_Struct(self, struct cuttle_acceptor, &acceptor_type, acceptor);
	if (acceptor->source.core)
		rb_raise(rb_eArgError, "already initialized");
	if (RARRAY_LEN(listeners) > CUTTLE_MOST_LISTENERS)
		rb_raise(rb_eArgError, "more than %d listeners", CUTTLE_MOST_LISTENERS);
	for (long index = 0; index < RARRAY_LEN(listeners); index++)
		acceptor->listeners[acceptor->count++] =
			cuttle_listener_of(cuttle_listener_descriptor(RARRAY_AREF(listeners, index)));
	open_pipe(acceptor);
	acceptor->source.core = open_core(acceptor);
	cuttle_source_configure(&acceptor->source, listeners, options);
	return self;
}

/* Returns false if no connection waits or there is no room for it. */
static bool accept_any(struct cuttle_acceptor *acceptor, struct cuttle_arrival *arrival)
{
	arrival->fd = -1;
	for (int index = 0; arrival->fd < 0 && index < acceptor->count; index++) {
		arrival->fd = cuttle_accept(acceptor->listeners[index].fd, &arrival->peer);
		arrival->listener = index;
		if (arrival->fd < 0 && cuttle_accept_exhausted(errno)) {
			if (cuttle_accept_complains(acceptor->source.core, cuttle_now()))
				cuttle_source_complain();
			acceptor->suffers = true;
			return false;
		}
	}
	acceptor->suffers = false;
	return arrival->fd >= 0;
}

static bool has_room(const struct cuttle_acceptor *acceptor)
{
	const struct cuttle_core *core = acceptor->source.core;

	return !core->limits.max_connections || core->open < core->limits.max_connections;
}

int cuttle_acceptor_listeners(const struct cuttle_acceptor *acceptor, struct pollfd *descriptors, int count)
{
	for (int index = 0; index < acceptor->count; index++)
		descriptors[count++] = (struct pollfd){.fd = acceptor->listeners[index].fd, .events = POLLIN};
	return count;
}

/* Returns false if there is no memory. */
static bool make_room(struct cuttle_acceptor *acceptor)
{
	int room = acceptor->waiting_room ? 2 * acceptor->waiting_room : 64;
	struct cuttle_arrival *grown = realloc(acceptor->waiting, (size_t)room * sizeof *grown);

	if (!grown)
		return false;
	acceptor->waiting = grown;
	acceptor->waiting_room = room;
	return true;
}

/* Accepts all waiting connections, so that clients that keep connecting don't delay the end of a stop. */
static void accept_waiting(struct cuttle_acceptor *acceptor)
{
	struct cuttle_arrival found;

	while (accept_any(acceptor, &found)) {
		if (acceptor->waiting_count == acceptor->waiting_room && !make_room(acceptor)) {
			close(found.fd);
			return;
		}
		acceptor->waiting[acceptor->waiting_count++] = found;
	}
}

/* Ends listening after a stop, once. */
static void shut(struct cuttle_acceptor *acceptor)
{
	if (!acceptor->closed && !atomic_load(&acceptor->source.core->leave_backlog))
		accept_waiting(acceptor);
	if (!acceptor->closed)
		cuttle_stop_listening(acceptor->listeners, acceptor->count);
	acceptor->closed = true;
	cuttle_source_close_listeners(&acceptor->source);
}

/* Waits until a connection waits or stop was called. If there is no room for a connection it waits a fixed time, since
 * poll would report the listeners without end. */
static void await_connection(struct cuttle_acceptor *acceptor)
{
	struct pollfd descriptors[CUTTLE_MOST_LISTENERS + 1];
	bool room = !acceptor->suffers && has_room(acceptor);
	int count = 1;

	descriptors[0] = (struct pollfd){.fd = acceptor->stopped[0], .events = POLLIN};
	if (room)
		count = cuttle_acceptor_listeners(acceptor, descriptors, 1);
	cuttle_poll(descriptors, (nfds_t)count, room ? CUTTLE_FOREVER : RECOVERY);
}

/* Returns NULL if none waits. */
static const struct cuttle_arrival *next_waiting(struct cuttle_acceptor *acceptor)
{
	return acceptor->waiting_next < acceptor->waiting_count ? &acceptor->waiting[acceptor->waiting_next++] : NULL;
}

static VALUE open_connection(struct cuttle_acceptor *acceptor, VALUE connection, const struct cuttle_arrival *arrival)
{
	struct cuttle_connection *accepted = cuttle_connection_open(acceptor->source.core, arrival, cuttle_now());

	if (!accepted)
		rb_memerror();
	cuttle_connection_adopt(connection, accepted);
	return connection;
}

/* call-seq: accept -> Connection or nil
 *
 * Waits for a connection. After stop it closes the listeners, returns the connections that waited, unless the stop
 * leaves the backlog, and then nil. */
static VALUE acceptor_accept(VALUE self)
{
	struct cuttle_acceptor *acceptor = acceptor_of(self);
	VALUE connection = cuttle_connection_prepare(acceptor);
	const struct cuttle_arrival *waiting;
	struct cuttle_arrival arrival;

	for (;;) {
		if (acceptor->closed || atomic_load(&acceptor->source.core->stopping)) {
			shut(acceptor);
			waiting = next_waiting(acceptor);
			return waiting ? open_connection(acceptor, connection, waiting) : Qnil;
		}
		if (has_room(acceptor) && accept_any(acceptor, &arrival))
			return open_connection(acceptor, connection, &arrival);
		await_connection(acceptor);
	}
}

/* call-seq: waiting? -> true or false, whether a connection waits to be accepted */
static VALUE acceptor_waiting_p(VALUE self)
{
	struct cuttle_acceptor *acceptor = acceptor_of(self);
	struct pollfd descriptors[CUTTLE_MOST_LISTENERS];

	if (acceptor->waiting_next < acceptor->waiting_count)
		return Qtrue;
	return RBOOL(!acceptor->closed &&
		     poll(descriptors, (nfds_t)cuttle_acceptor_listeners(acceptor, descriptors, 0), 0) > 0);
}

/* call-seq: stop(leave_backlog: false)
 *
 * Accepts the connections in the backlog and then no more, and lets each open connection end after its request.
 * leave_backlog: other processes continue to accept from the listeners, and get the backlog. It only sets flags and
 * writes to a descriptor, so a trap handler may call it. */
static VALUE acceptor_stop(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_acceptor *acceptor = acceptor_of(self);

	cuttle_source_stop(&acceptor->source, argc, argv);
	if (acceptor->stopped[1] >= 0)
		(void)!write(acceptor->stopped[1], "", 1);
	return Qnil;
}

/* call-seq: stopping? -> true or false */
static VALUE acceptor_stopping_p(VALUE self)
{
	return RBOOL(atomic_load(&acceptor_of(self)->source.core->stopping));
}

/* call-seq: stats -> Hash
 *
 * connections (open now), accepted, requests, dropped and unproxied (so far), spooled (octets now). refused and stuck
 * are 0. */
static VALUE acceptor_stats(VALUE self)
{
	struct cuttle_core *core = acceptor_of(self)->source.core;

	return cuttle_source_stats(&(struct cuttle_counts){.connections = core->open,
							   .accepted = core->accepted,
							   .requests = core->requests,
							   .dropped = core->dropped,
							   .unproxied = core->unproxied,
							   .spooled = cuttle_spool_used(core->spool)});
}

void Init_cuttle_acceptor(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Acceptor", rb_cObject);

	rb_define_alloc_func(class, acceptor_allocate);
	rb_define_method(class, "initialize", acceptor_initialize, -1);
	rb_define_method(class, "accept", acceptor_accept, 0);
	rb_define_method(class, "waiting?", acceptor_waiting_p, 0);
	rb_define_method(class, "stop", acceptor_stop, -1);
	rb_define_method(class, "stopping?", acceptor_stopping_p, 0);
	rb_define_method(class, "stats", acceptor_stats, 0);
}
