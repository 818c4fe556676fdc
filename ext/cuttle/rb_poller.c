/* Cuttle::Poller: hands complete requests to whichever thread asks. The Ruby side of loop.h. */
#include "io_thread.h"
#include "rb_exchange.h"

#include <ruby/io.h>
#include <ruby/thread.h>
#include <stdlib.h>


struct poller {
	struct cuttle_source source;
	bool listeners_closed;
	atomic_bool called;  /* wake was called: next returns false */
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
	for (struct cuttle_link *link = loop->core.connections.next; link != &loop->core.connections; link = link->next)
		cuttle_connection_mark(CUTTLE_CONTAINER(link, struct cuttle_connection, all));
	for (struct cuttle_link *link = loop->watches.next; link != &loop->watches; link = link->next)
		rb_gc_mark((VALUE)CUTTLE_CONTAINER(link, struct cuttle_watch, all)->token);
	pthread_mutex_unlock(&loop->lock);
}

static void poller_compact(void *data)
{
	struct poller *poller = data;

	cuttle_source_compact(&poller->source);
}

/* Connections that an exchange object holds go with that; the others with their poller. */
static void close_orphans(struct cuttle_loop *loop)
{
	struct cuttle_link *link = loop->core.connections.next, *next;

	for (; link != &loop->core.connections; link = next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		next = link->next;
		if (!connection->exchange || !connection->exchange->holder)
			cuttle_loop_close(loop, connection);
	}
	cuttle_loop_unwatch_all(loop);
}

static void poller_free(void *data)
{
	struct poller *poller = data;
	struct cuttle_loop *loop = poller->source.loop;

	if (loop) {
		if (!loop->core.forked)
			cuttle_io_thread_stop(loop);
		if (loop->core.spool)
			cuttle_spool_end(loop->core.spool);
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
	.function = {.dmark = poller_mark, .dfree = poller_free, .dsize = poller_size, .dcompact = poller_compact},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE poller_allocate(VALUE class)
{
	struct poller *poller;
	VALUE self = TypedData_Make_Struct(class, struct poller, &poller_type, poller);

	cuttle_source_reset(&poller->source, self);
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

/* call-seq: Poller.new(listeners, env: {}, parser: nil, shared: false, scoreboard: nil, **limits)
 *
 * A poller over listening sockets (non-blocking ones), to be made in the process that uses it.
 * env::        the Hash that each request's env begins as
 * parser::     a Ruby parser's class instead of the native one
 * shared::     several threads run the app: while each is in it, a native thread goes on reading, draining and timing
 *              out; and while one of them computes there, the others stand by (followers.h)
 * scoreboard:: the Cuttle::Scoreboard of the workers that accept from the same listeners, in which this one has a place
 * spool_directory:: where large bodies and responses wait; nil: TMPDIR, or /tmp
 * limits::     keep_alive, header_timeout, body_timeout, idle_timeout, write_timeout, drain_grace (seconds), min_rate
 *              (octets a second), max_body, write_ahead (octets), max_requests, max_connections, max_spool (octets),
 *              half_close ("answer" or "drop"), underscore_headers, max_queue (requests), queue_timeout, app_timeout
 *              (seconds); docs/security.md and docs/deployment.md say what they mean. One that isn't given is none.
 * CUTTLE_BACKEND in the environment names another back end than the best one (epoll, poll). Raises ArgumentError. */
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
	poller->source.loop->followers.shared = RTEST(cuttle_source_option(options, "shared"));
	cuttle_source_configure(&poller->source, listeners, options);
	poller->source.loop->sheds = poller->source.core->limits.max_queue || poller->source.core->limits.queue_timeout;
	enter(poller->source.core, cuttle_scoreboard_for(cuttle_source_option(options, "scoreboard")));
	return self;
}

/* How many connections to accept: one for each free thread, so that other workers get what this one can't serve at
 * once; but where more requests wait than threads are free, as many as were handed out since the last look, so that
 * neither the connections that are here starve, nor those at the door. */
static int welcome(const struct poller *poller)
{
	const struct cuttle_loop *loop = poller->source.loop;
	uint32_t free = cuttle_followers_free(&loop->followers) + 1;

	return (int)(poller->batch > free ? poller->batch : free);
}

/* Looks for work, without waiting. Under the lock. */
static void look(struct poller *poller, bool full, uint64_t now)
{
	struct cuttle_loop *loop = poller->source.loop;
	int limit = full ? 0 : welcome(poller);
	int64_t nearest;

	cuttle_io_thread_relieve(loop);
	if (full != loop->full && !loop->sheds)
		(full ? cuttle_loop_remove_listeners : cuttle_loop_restore_listeners)(loop);
	loop->full = full;
	cuttle_scoreboard_free(loop->core.scoreboard, !full && !loop->shut);
	cuttle_loop_turn(loop, limit, now);
	nearest = cuttle_loop_expire(loop, now);
	if (nearest >= 0 && loop->followers.leader_in_kernel)
		cuttle_followers_hurry(loop, now + (uint64_t)nearest);
	cuttle_loop_shed(loop,
			 loop->vacancies >= 0 ? (uint64_t)loop->vacancies : cuttle_followers_free(&loop->followers) + 1,
			 now);
	poller->round = poller->batch = loop->core.waiting;
}

static struct cuttle_connection *shift(struct cuttle_link *list)
{
	struct cuttle_link *link = cuttle_list_shift(list);

	return link ? CUTTLE_CONTAINER(link, struct cuttle_connection, work) : NULL;
}

/* A READY connection, in order of readiness; NULL without one. One that had to wait may have been left by its peer, or
 * have waited too long since the last look. */
static bool has_gone(struct cuttle_connection *connection, uint64_t now)
{
	bool look = connection->suspect || now - connection->exchange->times[CUTTLE_COMPLETE_AT] >= CUTTLE_LONG_WAIT;

	connection->suspect = false;
	return look && cuttle_connection_gone(connection);
}

static struct cuttle_connection *shift_ready(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_connection *connection;

	while ((connection = shift(&loop->ready))) {
		if (has_gone(connection, now))
			cuttle_loop_drop(loop, connection);
		else if (connection->deadline && now >= connection->deadline)
			cuttle_loop_refuse(loop, connection, now);
		else
			break;
	}
	return connection;
}

/* The next exchange with a complete request; NULL without one. Under the lock. */
static struct cuttle_exchange *take(struct poller *poller, bool full, uint64_t now)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_connection *connection = poller->round > 0 && !full ? shift_ready(loop, now) : NULL;

	if (!connection) { /* also where those that the last look found have gone, or were refused */
		look(poller, full, now);
		connection = full ? NULL : shift_ready(loop, now);
	}
	if (!connection) {
		poller->round = 0; /* those that were left of it have been dropped */
		return NULL;
	}
	if (poller->round > 0)
		poller->round--;
	cuttle_connection_take(connection, now);
	if (connection->deadline)
		cuttle_followers_hurry(loop, connection->deadline);
	loop->busy++;
	if (loop->vacancies > 0)
		loop->vacancies--;
	cuttle_followers_note_taker(&loop->followers);
	if (cuttle_followers_free(&loop->followers) == 0)
		cuttle_scoreboard_free(loop->core.scoreboard, false);
	return connection->exchange;
}

/* Lets Ruby parsers look at what has come in. A connection that is with one is in no list. */
static void parse_unparsed(struct poller *poller)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_connection *connection;

	pthread_mutex_lock(&loop->lock);
	while ((connection = shift(&loop->unparsed))) {
		enum cuttle_step step;
		int raised;

		cuttle_connection_begin_parsing(connection);
		pthread_mutex_unlock(&loop->lock);
		step = cuttle_foreign_parse(&poller->source, poller->source.self, connection, &raised);
		cuttle_loop_route(loop, connection, step);
		if (raised) {
			cuttle_followers_pass_on(loop);
			pthread_mutex_unlock(&loop->lock);
			rb_jump_tag(raised);
		}
	}
	pthread_mutex_unlock(&loop->lock);
}

struct waiting {
	struct cuttle_loop *loop;
	struct cuttle_follower follower;
	uint64_t until;
};

static void *wait_without_gvl(void *data)
{
	struct waiting *waiting = data;

	pthread_mutex_lock(&waiting->loop->lock);
	cuttle_followers_wait(waiting->loop, &waiting->follower, waiting->until);
	pthread_mutex_unlock(&waiting->loop->lock);
	return NULL;
}

static void interrupt(void *data)
{
	struct waiting *waiting = data;

	pthread_mutex_lock(&waiting->loop->lock);
	cuttle_followers_interrupt(waiting->loop, &waiting->follower);
	pthread_mutex_unlock(&waiting->loop->lock);
}

/* This thread waits no longer: another one does. */
static void leave(struct cuttle_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	cuttle_followers_pass_on(loop);
	pthread_mutex_unlock(&loop->lock);
}

/* Calls what may raise. A thread that does not come back leaves the waiting, and the work that it was called for, to
 * another one. */
static void call_ruby(struct cuttle_loop *loop, VALUE (*function)(VALUE), VALUE data)
{
	int raised;

	rb_protect(function, data, &raised);
	if (raised) {
		leave(loop);
		rb_jump_tag(raised);
	}
}

static VALUE check_interrupts(VALUE nothing)
{
	rb_thread_check_ints();
	return nothing;
}

static VALUE complain(VALUE nothing)
{
	cuttle_source_complain();
	return nothing;
}

struct spool_complaint {
	const struct cuttle_source *source;
	int error;
};

static VALUE complain_of_spool(VALUE data)
{
	const struct spool_complaint *complaint = (const struct spool_complaint *)data;

	cuttle_source_complain_of_spool(complaint->source, complaint->error);
	return Qnil;
}

/* Waits for work without the GVL; may raise what Ruby has for this thread. */
static void wait_for_work(struct cuttle_loop *loop, uint64_t until)
{
	struct waiting waiting = {.loop = loop, .until = until};

	pthread_cond_init(&waiting.follower.called, NULL);
	cuttle_list_reset(&waiting.follower.link);
	rb_nogvl(wait_without_gvl, &waiting, interrupt, &waiting, RB_NOGVL_INTR_FAIL);
	pthread_mutex_lock(&loop->lock);
	cuttle_followers_leave(loop, &waiting.follower);
	if (waiting.follower.interrupted)
		cuttle_followers_pass_on(loop); /* a trap handler may take its time */
	pthread_mutex_unlock(&loop->lock);
	pthread_cond_destroy(&waiting.follower.called);
	call_ruby(loop, check_interrupts, Qnil); /* also what came on the way to the GVL, which interrupts no wait */
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

/* What one attempt to find work came to. */
struct attempt {
	struct cuttle_exchange *exchange; /* TAKEN */
	uintptr_t token;                  /* of a watched descriptor, 0: none */
	bool over, woken, unparsed, complain;
	int spool; /* what cuttle_spool_complaint said */
};

/* Looks once. Under the lock, so without Ruby. room: requests that the engine can take, -1: as many as it has threads. */
static struct attempt look_once(struct poller *poller, int64_t room)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct attempt found = {0};

	loop->vacancies = room;
	found.exchange = take(poller, room == 0, cuttle_now());
	if (!found.exchange)
		found.token = cuttle_loop_fired(loop);
	found.unparsed = !cuttle_list_empty(&loop->unparsed);
	found.over = !found.exchange && cuttle_loop_over(loop);
	found.woken = !found.exchange && atomic_load(&loop->followers.woken);
	found.complain = loop->complain && !found.exchange;
	if (found.complain)
		loop->complain = false;
	if (!found.exchange)
		found.spool = cuttle_spool_complaint(loop->core.spool);
	if (found.woken)
		atomic_store(&loop->followers.woken, false);
	if (found.exchange || found.token || found.over || found.woken)
		cuttle_followers_pass_on(loop);
	if (found.exchange)
		cuttle_io_thread_alert(loop);
	return found;
}

/* Whose backtrace tells where a request is stuck. */
static void remember_thread(VALUE self, struct cuttle_connection *connection)
{
	VALUE thread = rb_thread_current();

	connection->thread = thread;
	RB_OBJ_WRITTEN(self, Qundef, thread);
}

/* Looks once, and does what Ruby is needed for. exchange is an object for an exchange that is found; with one in its
 * hands this thread runs no other Ruby code, which might end it. */
static struct attempt attempt(VALUE self, struct poller *poller, int64_t room, VALUE exchange)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct attempt found;

	if (atomic_load_explicit(&loop->core.stopping, memory_order_relaxed) && !loop->shut)
		shut(poller);
	pthread_mutex_lock(&loop->lock);
	found = look_once(poller, room);
	pthread_mutex_unlock(&loop->lock);

	if (found.exchange) {
		cuttle_exchange_hold(exchange, &poller->source, self, found.exchange);
		if (loop->core.limits.app_timeout)
			remember_thread(self, found.exchange->connection);
	} else if (found.unparsed) {
		parse_unparsed(poller);
	}
	if (found.complain)
		call_ruby(loop, complain, Qnil);
	if (found.spool)
		call_ruby(loop, complain_of_spool, (VALUE)&(struct spool_complaint){&poller->source, found.spool});
	return found;
}

/* Whether the calling thread, which comes for work, may leave it to those who are in the app. */
static bool may_leave_work(struct cuttle_loop *loop)
{
	bool may;

	if (!loop->followers.shared)
		return false;
	pthread_mutex_lock(&loop->lock);
	may = !loop->followers.leader_in_kernel && cuttle_loop_has_work(loop) && cuttle_followers_may_stand_by(loop, cuttle_now());
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

static int64_t room_of(VALUE room)
{
	int64_t number = NIL_P(room) ? -1 : NUM2LL(room);

	return number < -1 ? 0 : number;
}

static uint64_t deadline_of(VALUE timeout)
{
	return NIL_P(timeout) ? 0 : cuttle_now() + cuttle_nanoseconds(NUM2DBL(timeout));
}

/* call-seq: next(timeout = nil, room = nil) -> Exchange, token, false or nil
 *
 * The next exchange whose request is complete, in order of readiness; or the token of a watched descriptor that is
 * ready (see watch). Waits while there is none: false when timeout (seconds) passes or wake was called, nil when the
 * poller was stopped and every connection has ended. Any number of threads may ask. room: requests that the engine can
 * take, where not its threads bound them; at 0 it takes none, and no connection is accepted (but to be refused). Raises
 * what Ruby has for the calling thread. */
static VALUE poller_next(int argc, VALUE *argv, VALUE self)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	uint64_t until = deadline_of(argc > 0 ? argv[0] : Qnil);
	int64_t room = room_of(argc > 1 ? argv[1] : Qnil);
	VALUE exchange;

	rb_check_arity(argc, 0, 2);
	if (loop->core.forked)
		return Qnil;
	if (!loop->io_thread && cuttle_io_thread_wanted(loop))
		cuttle_io_thread_start(loop); /* without it, draining and refusing wait for a free thread */
	let_others_go_first(poller, until);
	exchange = cuttle_exchange_prepare();
	for (;;) {
		struct attempt found = attempt(self, poller, room, exchange);

		if (found.exchange)
			return exchange;
		if (found.token)
			return (VALUE)found.token;
		if (found.over)
			return Qnil;
		if ((found.woken && atomic_exchange(&poller->called, false)) || (until && cuttle_now() >= until)) {
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
	cuttle_followers_wake(loop);
	return Qnil;
}

/* call-seq: wake
 *
 * Makes a thread that waits in next return false, after stop too. For any thread, and for trap handlers. */
static VALUE poller_wake(VALUE self)
{
	struct poller *poller = poller_of(self);

	atomic_store(&poller->called, true);
	cuttle_followers_wake(poller->source.loop);
	return Qnil;
}

/* call-seq: forked? -> true or false, whether this process is a child of the one that made the poller, whose it is */
static VALUE poller_forked_p(VALUE self)
{
	return RBOOL(poller_of(self)->source.core->forked);
}

/* call-seq: watch(fileno, events, token)
 *
 * Lets next return token once when the descriptor is ready for events (IO::READABLE, IO::WRITABLE, or both). Another
 * watch of the same descriptor takes this one's place. Raises SystemCallError for a descriptor that can't be waited for. */
static VALUE poller_watch(VALUE self, VALUE fileno, VALUE events, VALUE token)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	int wanted = NUM2INT(events), fd = NUM2INT(fileno), failed;

	pthread_mutex_lock(&loop->lock);
	failed = cuttle_loop_watch(loop, fd,
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
	int fd = NUM2INT(fileno);
	uint32_t seen;

	pthread_mutex_lock(&loop->lock);
	seen = cuttle_loop_unwatch(loop, fd);
	pthread_mutex_unlock(&loop->lock);
	return INT2FIX(((seen & CUTTLE_READ) ? RUBY_IO_READABLE : 0) | ((seen & CUTTLE_WRITE) ? RUBY_IO_WRITABLE : 0));
}

/* call-seq: starved? -> true or false
 *
 * Whether no thread is left to take the next request. */
static VALUE poller_starved_p(VALUE self)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;
	bool starved;

	pthread_mutex_lock(&loop->lock);
	starved = cuttle_followers_free(&loop->followers) == 0;
	pthread_mutex_unlock(&loop->lock);
	return RBOOL(starved);
}

/* call-seq: stats -> Hash
 *
 * Since the start: accepted (connections), requests, dropped (requests whose clients had gone), refused (503, for the
 * queue was too long) and stuck (503, for the app did not answer). Now: connections (open), busy (requests in the app),
 * ready (complete requests that wait for a thread), spooled (octets that are in temporary files or on their way there).
 * stood_by: see followers.h. */
static VALUE poller_stats(VALUE self)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	VALUE stats = cuttle_source_stats(&poller->source);

	rb_hash_aset(stats, ID2SYM(rb_intern("busy")), UINT2NUM(loop->busy));
	rb_hash_aset(stats, ID2SYM(rb_intern("ready")), UINT2NUM(loop->core.waiting));
	rb_hash_aset(stats, ID2SYM(rb_intern("stood_by")), ULL2NUM(loop->followers.stood_by));
	return stats;
}

struct stuck_watch {
	struct cuttle_loop *loop;
	bool interrupted;
};

static void *await_stuck(void *data)
{
	struct stuck_watch *watch = data;

	pthread_mutex_lock(&watch->loop->lock);
	while (!watch->loop->core.untold && !watch->interrupted)
		pthread_cond_wait(&watch->loop->stuck, &watch->loop->lock);
	pthread_mutex_unlock(&watch->loop->lock);
	return NULL;
}

static void interrupt_watch(void *data)
{
	struct stuck_watch *watch = data;

	pthread_mutex_lock(&watch->loop->lock);
	watch->interrupted = true;
	pthread_cond_broadcast(&watch->loop->stuck);
	pthread_mutex_unlock(&watch->loop->lock);
}

/* What is told of a stuck request, copied under the lock. */
struct stuck_request {
	VALUE thread, fiber;
	uint64_t nanoseconds;
	size_t length;
	char line[256];
};

/* False without one. */
static bool find_stuck(struct cuttle_loop *loop, struct stuck_request *request)
{
	struct cuttle_connection *connection;
	const struct cuttle_head *head;
	int length;

	pthread_mutex_lock(&loop->lock);
	connection = cuttle_loop_tell_stuck(loop);
	if (connection) {
		head = cuttle_exchange_head(connection->exchange);
		length = snprintf(request->line, sizeof request->line, "%.*s %.*s", (int)head->method.length,
				  cuttle_exchange_at(connection->exchange, head->method), (int)head->path.length,
				  cuttle_exchange_at(connection->exchange, head->path));
		request->length = (size_t)length < sizeof request->line ? (size_t)length : sizeof request->line - 1;
		request->nanoseconds = cuttle_now() - connection->exchange->times[CUTTLE_TAKEN_AT];
		request->thread = connection->thread ? (VALUE)connection->thread : Qnil;
		request->fiber = connection->fiber ? (VALUE)connection->fiber : Qnil;
	}
	pthread_mutex_unlock(&loop->lock);
	return connection != NULL;
}

/* call-seq: stuck -> [thread, fiber, seconds, request]
 *
 * Waits until a request has been in the app for longer than app_timeout, and was answered for it: who has it (Thread;
 * Fiber or nil), since when, and its method and path. Each one is returned once, as soon as the caller has the GVL; one
 * that the app is done with by then is not. Raises what Ruby has for the calling thread. */
static VALUE poller_stuck(VALUE self)
{
	struct cuttle_loop *loop = poller_of(self)->source.loop;
	struct stuck_request request;

	while (!find_stuck(loop, &request)) {
		struct stuck_watch watch = {.loop = loop};

		rb_nogvl(await_stuck, &watch, interrupt_watch, &watch, RB_NOGVL_INTR_FAIL);
		rb_thread_check_ints();
	}
	return rb_ary_new_from_args(4, request.thread, request.fiber,
				    DBL2NUM((double)request.nanoseconds / (double)CUTTLE_SECOND),
				    rb_str_new(request.line, (long)request.length));
}

/* call-seq: stranded? -> true or false
 *
 * After stop: whether all that is left are requests which are stuck in the app, and have their answers. Where no thread
 * is left but theirs, what a thread does at the end is done here: the listeners close, and requests that have waited for
 * a thread for a second are refused. */
static VALUE poller_stranded_p(VALUE self)
{
	struct poller *poller = poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	uint64_t now = cuttle_now();
	bool stranded;

	if (!atomic_load(&loop->core.stopping) || !loop->core.stuck_now)
		return Qfalse;
	if (!loop->shut)
		shut(poller);
	pthread_mutex_lock(&loop->lock);
	if (loop->busy == loop->core.stuck_now && cuttle_followers_free(&loop->followers) == 0)
		cuttle_loop_refuse_since(loop, now - CUTTLE_SECOND, now);
	stranded = loop->shut && loop->core.stuck_now > 0 && loop->core.open == loop->core.stuck_now;
	pthread_mutex_unlock(&loop->lock);
	return RBOOL(stranded);
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
	rb_define_method(class, "forked?", poller_forked_p, 0);
	rb_define_method(class, "watch", poller_watch, 3);
	rb_define_method(class, "unwatch", poller_unwatch, 1);
	rb_define_method(class, "starved?", poller_starved_p, 0);
	rb_define_method(class, "stats", poller_stats, 0);
	rb_define_method(class, "stuck", poller_stuck, 0);
	rb_define_method(class, "stranded?", poller_stranded_p, 0);
	rb_define_method(class, "backend", poller_backend, 0);
}
