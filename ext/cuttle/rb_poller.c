/* Cuttle::Poller: hands complete requests to whichever thread asks. The Ruby side of loop.h. */
#include "rb_cuttle.h"
#include "io_thread.h"

#include <ruby/io.h>
#include <ruby/thread.h>
#include <stdlib.h>

struct poller {
	struct cuttle_source source; /* first: see cuttle_source_of */
	bool listeners_closed;
	uint32_t round; /* ready connections to hand out before the next look for others, */
	uint32_t batch; /* of as many that the last look found */
};

static void poller_mark(void *data)
{
	struct poller *poller = data;
	struct cuttle_loop *loop = poller->source.loop;

	cuttle_source_mark(&poller->source);
	if (!loop)
		return;
	pthread_mutex_lock(&loop->lock);
	for (struct cuttle_link *link = loop->core.connections.next; link != &loop->core.connections; link = link->next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		if (connection->object)
			rb_gc_mark((VALUE)connection->object);
	}
	for (struct cuttle_link *link = loop->watches.next; link != &loop->watches; link = link->next)
		rb_gc_mark((VALUE)CUTTLE_CONTAINER(link, struct cuttle_watch, all)->token);
	pthread_mutex_unlock(&loop->lock);
}

/* Connections that no thread has seen die with their poller; the others with their objects. */
static void close_orphans(struct cuttle_loop *loop)
{
	struct cuttle_link *link = loop->core.connections.next, *next;

	for (; link != &loop->core.connections; link = next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		next = link->next;
		if (!connection->object)
			cuttle_loop_close(loop, connection);
	}
	while (!cuttle_list_empty(&loop->watches))
		cuttle_loop_unwatch(loop, CUTTLE_CONTAINER(loop->watches.next, struct cuttle_watch, all)->fd);
}

static void poller_free(void *data)
{
	struct poller *poller = data;
	struct cuttle_loop *loop = poller->source.loop;

	if (loop && !loop->forked) {
		cuttle_io_thread_stop(loop);
		pthread_mutex_lock(&loop->lock);
		close_orphans(loop);
		pthread_mutex_unlock(&loop->lock);
		cuttle_core_disown(&loop->core);
	}
	xfree(poller);
}

static size_t poller_size(const void *data)
{
	const struct poller *poller = data;

	return sizeof *poller + (poller->source.loop ? sizeof *poller->source.loop : 0);
}

static const rb_data_type_t poller_type = {
	.wrap_struct_name = "Cuttle::Poller",
	.function = {.dmark = poller_mark, .dfree = poller_free, .dsize = poller_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE poller_allocate(VALUE class)
{
	struct poller *poller;
	VALUE self = TypedData_Make_Struct(class, struct poller, &poller_type, poller);

	poller->source.listeners = poller->source.env = poller->source.parser = Qnil;
	poller->source.server_name = poller->source.sent_port = Qnil;
	poller->source.local_name = poller->source.local_port = Qnil;
	return self;
}

static struct poller *poller_of(VALUE self)
{
	struct poller *poller;

	TypedData_Get_Struct(self, struct poller, &poller_type, poller);
	if (!poller->source.loop)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Poller");
	return poller;
}

struct cuttle_source *cuttle_poller_source(VALUE object)
{
	return &poller_of(object)->source;
}

static struct cuttle_loop *open_loop(VALUE listeners)
{
	const char *name = getenv("CUTTLE_BACKEND");
	const struct cuttle_backend_type *type = cuttle_backend_named(name);
	long count = RARRAY_LEN(listeners);
	VALUE buffer;
	int *descriptors = ALLOCV_N(int, buffer, count + 1);
	struct cuttle_loop *loop;

	if (!type)
		rb_raise(rb_eArgError, "CUTTLE_BACKEND=%s: this system has no such back end", name);
	for (long index = 0; index < count; index++)
		descriptors[index] = cuttle_listener_descriptor(RARRAY_AREF(listeners, index));
	loop = cuttle_loop_open(type, descriptors, (int)count);
	ALLOCV_END(buffer);
	if (!loop)
		rb_sys_fail("Cuttle::Poller");
	return loop;
}

static void enter(struct cuttle_core *core, struct cuttle_scoreboard *scoreboard)
{
	core->scoreboard = scoreboard;
	if (scoreboard)
		scoreboard->owners++;
}

/* call-seq: Poller.new(listeners, env:, parser: nil, keep_alive: true, request_timeout: 30, idle_timeout: 65,
 *                      write_timeout: 30, shared: false, scoreboard: nil)
 *
 * A poller over listening sockets (non-blocking ones), to be made in the process that uses it. Times are seconds.
 * env::    the Hash that each request's env begins as
 * parser:: a Ruby parser's class instead of the native one
 * shared:: several threads run the app: while each is in it, a native thread goes on reading, draining and timing out; and
 *          while one of them computes there, the others stand by (loop.h)
 * scoreboard:: the Cuttle::Scoreboard of the workers that accept from the same listeners, in which this one has a place
 * CUTTLE_BACKEND in the environment names another back end than the best one (epoll, poll). */
static VALUE poller_initialize(int argc, VALUE *argv, VALUE self)
{
	struct poller *poller;
	VALUE listeners, options;

	rb_scan_args(argc, argv, "1:", &listeners, &options);
	Check_Type(listeners, T_ARRAY);
	TypedData_Get_Struct(self, struct poller, &poller_type, poller);
	if (poller->source.loop)
		rb_raise(rb_eArgError, "already initialized");
	poller->source.loop = open_loop(listeners);
	poller->source.core = &poller->source.loop->core;
	poller->source.loop->shared = RTEST(cuttle_source_option(options, "shared"));
	cuttle_source_configure(self, &poller->source, listeners, options);
	enter(poller->source.core, cuttle_scoreboard_for(cuttle_source_option(options, "scoreboard")));
	return self;
}

/* How many connections to accept: one for each free thread, so that other workers get what this one can't serve at
 * once; but where more requests wait than threads are free, as many as were handed out since the last look, so that
 * neither the connections that are here starve, nor those at the door. */
static int welcome(const struct poller *poller)
{
	const struct cuttle_loop *loop = poller->source.loop;
	uint32_t free = loop->parked_count + (loop->waiter ? 1 : 0) + 1;

	return (int)(poller->batch > free ? poller->batch : free);
}

/* Looks for work, without waiting. Under the lock. */
static void look(struct poller *poller, bool full, uint64_t now)
{
	struct cuttle_loop *loop = poller->source.loop;
	int limit = full ? 0 : welcome(poller);

	cuttle_io_thread_relieve(loop);
	if (full != loop->full)
		(full ? cuttle_loop_remove_listeners : cuttle_loop_restore_listeners)(loop);
	loop->full = full;
	cuttle_scoreboard_free(loop->core.scoreboard, !full && !loop->shut);
	cuttle_loop_turn(loop, limit, now);
	cuttle_loop_expire(loop, now);
	poller->round = 0;
	for (struct cuttle_link *link = loop->ready.next; link != &loop->ready; link = link->next)
		poller->round++;
	poller->batch = poller->round;
}

static struct cuttle_connection *shift(struct cuttle_link *list)
{
	struct cuttle_link *link = cuttle_list_shift(list);

	return link ? CUTTLE_CONTAINER(link, struct cuttle_connection, work) : NULL;
}

/* The next connection with a complete request, by order of readiness. Under the lock. */
static struct cuttle_connection *take(struct poller *poller, bool full, uint64_t now)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_connection *connection;

	if (poller->round == 0 || full)
		look(poller, full, now);
	connection = full ? NULL : shift(&loop->ready);
	if (!connection)
		return NULL;
	if (poller->round > 0)
		poller->round--;
	cuttle_connection_take(connection, now);
	loop->busy++;
	cuttle_loop_remember_taker(loop);
	if (!loop->waiter && loop->parked_count == 0)
		cuttle_scoreboard_free(loop->core.scoreboard, false);
	return connection;
}

/* Lets Ruby parsers look at what has come in. */
static void parse_unparsed(VALUE self, struct cuttle_loop *loop)
{
	struct cuttle_connection *connection;

	pthread_mutex_lock(&loop->lock);
	while ((connection = shift(&loop->unparsed))) {
		enum cuttle_step step;

		cuttle_connection_clear_deadline(connection); /* nothing may happen to it meanwhile */
		pthread_mutex_unlock(&loop->lock);
		step = cuttle_ruby_parse(cuttle_connection_wrap(self, connection));
		pthread_mutex_lock(&loop->lock);
		cuttle_loop_route(loop, connection, step);
	}
	pthread_mutex_unlock(&loop->lock);
}

struct sitting {
	struct cuttle_loop *loop;
	struct cuttle_seat seat;
	uint64_t until;
};

static void *sit(void *data)
{
	struct sitting *sitting = data;

	pthread_mutex_lock(&sitting->loop->lock);
	cuttle_loop_sit(sitting->loop, &sitting->seat, sitting->until);
	pthread_mutex_unlock(&sitting->loop->lock);
	return NULL;
}

static void interrupt(void *data)
{
	struct sitting *sitting = data;

	pthread_mutex_lock(&sitting->loop->lock);
	cuttle_loop_interrupt(sitting->loop, &sitting->seat);
	pthread_mutex_unlock(&sitting->loop->lock);
}

/* Waits for work without the GVL; may raise what Ruby has for this thread. */
static void wait_for_work(struct cuttle_loop *loop, uint64_t until)
{
	struct sitting sitting = {.loop = loop, .until = until};

	pthread_cond_init(&sitting.seat.called, NULL);
	cuttle_list_reset(&sitting.seat.link);
	rb_nogvl(sit, &sitting, interrupt, &sitting, RB_NOGVL_INTR_FAIL);
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_stand_up(loop, &sitting.seat);
	if (sitting.seat.interrupted)
		cuttle_loop_pass_on(loop); /* this thread may not come back */
	pthread_mutex_unlock(&loop->lock);
	pthread_cond_destroy(&sitting.seat.called);
	rb_thread_check_ints();
}

/* After stop: the listeners close before anyone is sent away, so that nobody comes back to them. */
static void shut(struct poller *poller)
{
	struct cuttle_loop *loop = poller->source.loop;

	if (poller->listeners_closed)
		return; /* another thread is at it */
	poller->listeners_closed = true;
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_leave_listeners(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
	cuttle_source_close_listeners(&poller->source);
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_shut(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
}

/* A fired watch's token; Qundef where none has fired. Under the lock. */
static VALUE fired_token(struct cuttle_loop *loop)
{
	struct cuttle_link *link = cuttle_list_shift(&loop->fired);

	return link ? (VALUE)CUTTLE_CONTAINER(link, struct cuttle_watch, work)->token : Qundef;
}

static VALUE attempt(VALUE self, struct poller *poller, bool full, bool *over, bool *woken)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_connection *connection;
	VALUE token = Qundef;
	bool unparsed;

	if (atomic_load_explicit(&loop->core.stopping, memory_order_relaxed) && !loop->shut)
		shut(poller);
	pthread_mutex_lock(&loop->lock);
	connection = take(poller, full, cuttle_now());
	if (!connection)
		token = fired_token(loop);
	unparsed = !cuttle_list_empty(&loop->unparsed);
	*over = !connection && cuttle_loop_over(loop);
	*woken = !connection && loop->woken;
	if (*woken)
		loop->woken = false;
	if (connection || token != Qundef || *over || *woken)
		cuttle_loop_pass_on(loop);
	if (connection)
		cuttle_io_thread_alert(loop);
	pthread_mutex_unlock(&loop->lock);

	if (unparsed)
		parse_unparsed(self, loop);
	if (!connection)
		return token;
	token = cuttle_connection_wrap(self, connection);
	cuttle_handle_begin(cuttle_handle_of(token));
	return token;
}

/* This thread waits no longer: another one does. */
static void leave(struct cuttle_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_pass_on(loop);
	pthread_mutex_unlock(&loop->lock);
}

/* Whether the calling thread, which comes for work, may leave it to those who are in the app. */
static bool may_leave_work(struct cuttle_loop *loop)
{
	bool may;

	if (!loop->shared)
		return false;
	pthread_mutex_lock(&loop->lock);
	may = !loop->waiter_in_kernel && cuttle_loop_has_work(loop) && cuttle_loop_may_stand_by(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
	return may;
}

/* Requests that have begun go before new ones: while some are in the app, and compute, this thread takes no other. */
static void let_others_go_first(struct poller *poller, uint64_t until)
{
	struct cuttle_loop *loop = poller->source.loop;

	if (loop->busy == 0)
		return;
	if (may_leave_work(loop))
		wait_for_work(loop, until);
	else
		cuttle_source_give_way(&poller->source);
}

/* call-seq: next(timeout = nil, full = false) -> connection, token, false or nil
 *
 * The next connection that holds a complete request, in order of readiness; or the token of a watched descriptor
 * that is ready (see watch). Waits while there is none: false when timeout (seconds) passes or wake was called, nil when the
 * poller was stopped and every connection has ended. Any number of threads may ask. An engine that is full takes no
 * connection, and none is accepted. */
static VALUE poller_next(int argc, VALUE *argv, VALUE self)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	uint64_t until = 0;

	rb_check_arity(argc, 0, 2);
	if (argc > 0 && !NIL_P(argv[0])) {
		double seconds = NUM2DBL(argv[0]);

		until = cuttle_now() + (uint64_t)((seconds > 0 ? seconds : 0) * (double)CUTTLE_SECOND);
	}
	if (loop->shared && !loop->io_thread)
		cuttle_io_thread_start(loop); /* without it, only draining waits for a free thread */
	let_others_go_first(poller, until);
	for (;;) {
		bool over, woken;
		VALUE found = attempt(self, poller, argc == 2 && RTEST(argv[1]), &over, &woken);

		if (found != Qundef)
			return found;
		if (over)
			return Qnil;
		if ((woken && !atomic_load(&loop->core.stopping)) || (until && cuttle_now() >= until)) {
			leave(loop);
			return Qfalse;
		}
		wait_for_work(loop, until);
	}
}

/* call-seq: stop
 *
 * Takes no new connections, ends idle ones, and lets next return nil when the others have ended. Only sets a flag and
 * writes to a descriptor, so a trap handler may call it. */
static VALUE poller_stop(VALUE self)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;

	atomic_store(&loop->core.stopping, true);
	cuttle_loop_wake(loop);
	return Qnil;
}

/* call-seq: wake
 *
 * Makes a thread that waits in next return false. For any thread, and for trap handlers. */
static VALUE poller_wake(VALUE self)
{
	cuttle_loop_wake(poller_of(self)->source.loop);
	return Qnil;
}

/* call-seq: watch(fileno, events, token)
 *
 * Lets next return token once when the descriptor is ready for events (IO::READABLE, IO::WRITABLE, or both). Another
 * watch of the same descriptor takes this one's place. Raises SystemCallError for a descriptor that can't be waited for. */
static VALUE poller_watch(VALUE self, VALUE fileno, VALUE events, VALUE token)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	int wanted = NUM2INT(events), failed;

	pthread_mutex_lock(&loop->lock);
	failed = cuttle_loop_watch(loop, NUM2INT(fileno),
				   ((wanted & RUBY_IO_READABLE) ? CUTTLE_READ : 0) |
					   ((wanted & RUBY_IO_WRITABLE) ? CUTTLE_WRITE : 0),
				   token);
	pthread_mutex_unlock(&loop->lock);
	if (failed)
		rb_sys_fail("Cuttle::Poller#watch");
	RB_OBJ_WRITTEN(self, Qundef, token);
	return token;
}

/* call-seq: unwatch(fileno) -> Integer, the events that were seen (IO::READABLE | IO::WRITABLE); 0 when it is not watched */
static VALUE poller_unwatch(VALUE self, VALUE fileno)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;
	uint32_t seen;

	pthread_mutex_lock(&loop->lock);
	seen = cuttle_loop_unwatch(loop, NUM2INT(fileno));
	pthread_mutex_unlock(&loop->lock);
	return INT2FIX(((seen & CUTTLE_READ) ? RUBY_IO_READABLE : 0) | ((seen & CUTTLE_WRITE) ? RUBY_IO_WRITABLE : 0));
}

/* call-seq: starved? -> true or false
 *
 * Whether no thread is left to take the next request. */
static VALUE poller_starved_p(VALUE self)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;

	return RBOOL(!loop->waiter && loop->parked_count == 0);
}

/* call-seq: stats -> Hash
 *
 * connections (open), accepted and requests (since the start), busy (requests in the app), ready (complete requests
 * that wait for a thread). */
static VALUE poller_stats(VALUE self)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;
	VALUE stats = rb_hash_new();
	uint32_t ready = 0;

	pthread_mutex_lock(&loop->lock);
	for (struct cuttle_link *link = loop->ready.next; link != &loop->ready; link = link->next)
		ready++;
	pthread_mutex_unlock(&loop->lock);
	rb_hash_aset(stats, ID2SYM(rb_intern("connections")), UINT2NUM(loop->core.open));
	rb_hash_aset(stats, ID2SYM(rb_intern("accepted")), ULL2NUM(loop->core.accepted));
	rb_hash_aset(stats, ID2SYM(rb_intern("requests")), ULL2NUM(loop->core.requests));
	rb_hash_aset(stats, ID2SYM(rb_intern("busy")), UINT2NUM(loop->busy));
	rb_hash_aset(stats, ID2SYM(rb_intern("ready")), UINT2NUM(ready));
	return stats;
}

/* call-seq: backend -> String, the name of the system call that waits */
static VALUE poller_backend(VALUE self)
{
	return rb_str_new_cstr(poller_of(self)->source.loop->type->name);
}

void Init_cuttle_poller(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Poller", rb_cObject);

	rb_define_alloc_func(class, poller_allocate);
	rb_define_method(class, "initialize", poller_initialize, -1);
	rb_define_method(class, "next", poller_next, -1);
	rb_define_method(class, "stop", poller_stop, 0);
	rb_define_method(class, "wake", poller_wake, 0);
	rb_define_method(class, "watch", poller_watch, 3);
	rb_define_method(class, "unwatch", poller_unwatch, 1);
	rb_define_method(class, "starved?", poller_starved_p, 0);
	rb_define_method(class, "stats", poller_stats, 0);
	rb_define_method(class, "backend", poller_backend, 0);
}
