/* Cuttle::Poller: gives complete requests to any thread that asks. This is the Ruby side of loop.h. rb_poller_next.c
 * has next, rb_poller_stuck.c handles requests that are stuck in the app, and rb_poller_growth.c reports when another
 * thread would help. */
#include "rb_poller.h"
#include "io_thread.h"

#include <ruby/io.h>
#include <ruby/thread.h>
#include <ruby/version.h>
#include <stdlib.h>

static void poller_mark(void *data)
{
	struct cuttle_poller *poller = data;
	struct cuttle_loop *loop = poller->source.loop;

	cuttle_source_mark(&poller->source);
	if (!loop)
		return;
	pthread_mutex_lock(&loop->lock);
	for (struct cuttle_link *link = loop->core.referring.next; link != &loop->core.referring; link = link->next)
		cuttle_references_mark(CUTTLE_CONTAINER(link, struct cuttle_references, link));
	for (struct cuttle_link *link = loop->watches.next; link != &loop->watches; link = link->next)
		rb_gc_mark((VALUE)CUTTLE_CONTAINER(link, struct cuttle_watch, all)->token);
	pthread_mutex_unlock(&loop->lock);
}

static void poller_compact(void *data)
{
	struct cuttle_poller *poller = data;

	cuttle_source_compact(&poller->source);
}

/* Closes the connections that no exchange object holds. A held connection ends with its exchange object. */
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
	struct cuttle_poller *poller = data;
	struct cuttle_loop *loop = poller->source.loop;

	if (loop) {
		if (!loop->core.forked)
			cuttle_io_thread_stop(loop);
		if (loop->core.spool)
			cuttle_spool_end(loop->core.spool);
		pthread_mutex_lock(&loop->lock);
		cuttle_followers_return(loop);
		close_orphans(loop);
		pthread_mutex_unlock(&loop->lock);
		cuttle_core_disown(&loop->core);
	}
	cuttle_source_free(&poller->source);
	xfree(poller);
}

static size_t poller_size(const void *data)
{
	const struct cuttle_poller *poller = data;

	return sizeof *poller + (poller->source.loop ? sizeof *poller->source.loop : 0) +
	       cuttle_source_size(&poller->source);
}

const rb_data_type_t cuttle_poller_type = {
	.wrap_struct_name = "Cuttle::Poller",
	.function = {.dmark = poller_mark, .dfree = poller_free, .dsize = poller_size, .dcompact = poller_compact},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE poller_allocate(VALUE class)
{
	struct cuttle_poller *poller;
	VALUE self = TypedData_Make_Struct(class, struct cuttle_poller, &cuttle_poller_type, poller);

	cuttle_source_reset(&poller->source, self);
	return self;
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

/* Takes a place in a scoreboard, if there is one to take. */
static void enter(struct cuttle_core *core, VALUE options)
{
	VALUE object = cuttle_source_option(options, "scoreboard"), number = cuttle_source_option(options, "place");
	struct cuttle_scoreboard *scoreboard = NIL_P(object) ? NULL : cuttle_scoreboard_of(object);
	struct cuttle_place *place = NULL;

	if (scoreboard)
		place = NIL_P(number) ? scoreboard->own : cuttle_scoreboard_take(scoreboard, NUM2UINT(number));
	if (!place)
		return;
	core->scoreboard = scoreboard;
	core->place = place;
	scoreboard->owners++;
}

/* Before Ruby 3.3, some releases of the GVL have no event. */
#if defined(HAVE_RB_INTERNAL_THREAD_ADD_EVENT_HOOK) && RUBY_API_VERSION_CODE >= 30300

/* The calling thread still has the GVL. Ruby may hold its scheduler's lock here, so nothing may call Ruby. */
static void note_release(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
	cuttle_followers_note_release();
}

/* Has Ruby report releases of the GVL. Returns whether it can. */
static bool watch_releases(void)
{
	static atomic_bool watched;

	if (!atomic_exchange(&watched, true))
		rb_internal_thread_add_event_hook(note_release, RUBY_INTERNAL_THREAD_EVENT_SUSPENDED, NULL);
	return true;
}

#else

static bool watch_releases(void)
{
	return false;
}

#endif

VALUE cuttle_poller_stats_of(const struct cuttle_counts *counts)
{
	VALUE stats = cuttle_source_stats(counts);

	rb_hash_aset(stats, ID2SYM(rb_intern("busy")), ULL2NUM(counts->busy));
	rb_hash_aset(stats, ID2SYM(rb_intern("ready")), ULL2NUM(counts->ready));
	rb_hash_aset(stats, ID2SYM(rb_intern("stood_by")), ULL2NUM(counts->stood_by));
	rb_hash_aset(stats, ID2SYM(rb_intern("relayed")), ULL2NUM(counts->relayed));
	return stats;
}

/* call-seq: Poller.new(listeners, env: {}, parser: nil, shared: false, steady: false, scoreboard: nil, place: nil, …)
 *
 * Makes a poller over listening sockets, which become non-blocking. Make it in the process that uses it.
 * env::        the Hash that each request's env starts as
 * parser::     a Ruby parser's class to replace the native one
 * shared::     several threads run the app. While all of them are in it, a native thread keeps reading, draining and
 *              timing out. While one of them computes there, the others stand by (followers.h)
 * steady::     with shared: no thread stands by, and the ledger reads no thread's clock. Ractors need it: they share
 *              the clock of the process, and threads of a ractor may share the clock of a native thread
 * scoreboard:: the Cuttle::Scoreboard of the workers that accept from the same listeners
 * place::      the number of the poller's place in it; nil: the one that this process took
 * hijacked::   the Cuttle::Hijacked that notes the sockets which the app takes over; nil: none does
 * proxy_protocol:: whether connections of trusted peers begin with a PROXY header: true, false, or an Array of these,
 *              one for each listener
 * tls::        what secures the listeners' connections: nil, or an Array with a Cuttle::Tls or nil for each listener
 * spool_directory:: where large bodies and responses wait; nil: TMPDIR, or /tmp
 * limits::     keep_alive, header_timeout, body_timeout, idle_timeout, write_timeout, drain_grace (seconds), min_rate
 *              (octets a second), max_body, write_ahead (octets), max_requests, max_connections, max_spool (octets),
 *              half_close ("answer" or "drop"), underscore_headers, early_hints, max_queue (requests), queue_timeout,
 *              app_timeout (seconds). docs/security.md and docs/deployment.md explain them. A limit that isn't given is
 *              off.
 * The environment's CUTTLE_BACKEND (a name of Poller.backends) replaces the best back end. Raises ArgumentError. */
static VALUE poller_initialize(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_poller *poller;
	struct cuttle_loop *loop;
	VALUE listeners, options;

	rb_scan_args(argc, argv, "1:", &listeners, &options);
	Check_Type(listeners, T_ARRAY);
	TypedData_Get_Struct(self, struct cuttle_poller, &cuttle_poller_type, poller);
	if (poller->source.loop)
		rb_raise(rb_eArgError, "already initialized");
	loop = poller->source.loop = open_loop(listeners);
	poller->source.core = &loop->core;
	loop->followers.shared = RTEST(cuttle_source_option(options, "shared"));
	loop->followers.steady = RTEST(cuttle_source_option(options, "steady"));
	cuttle_source_configure(&poller->source, listeners, options);
	loop->sheds = loop->core.limits.max_queue || loop->core.limits.queue_timeout;
	loop->followers.told_of_releases = loop->followers.shared && !loop->followers.steady && watch_releases();
	loop->followers.may_be_unled = loop->followers.told_of_releases && !loop->sheds;
	enter(&loop->core, options);
	cuttle_loop_open_relay(loop);
	return self;
}

/* call-seq: stop(leave_backlog: false)
 *
 * Accepts the connections in the backlog and then no more, ends idle connections, and lets next return nil when the
 * others have ended. leave_backlog: other processes continue to accept from the listeners, and get the backlog. It only
 * sets flags and writes to a descriptor, so a trap handler may call it. */
static VALUE poller_stop(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_poller *poller = cuttle_poller_of(self);

	cuttle_source_stop(&poller->source, argc, argv);
	cuttle_followers_wake(poller->source.loop);
	return Qnil;
}

/* call-seq: wake
 *
 * Makes a thread that waits in next return false, also after stop. Any thread and any trap handler may call it. */
static VALUE poller_wake(VALUE self)
{
	struct cuttle_poller *poller = cuttle_poller_of(self);

	atomic_store(&poller->called, true);
	cuttle_followers_wake(poller->source.loop);
	return Qnil;
}

/* call-seq: forked? -> true or false, whether this process is a forked child of the process that made and owns the
 * poller */
static VALUE poller_forked_p(VALUE self)
{
	return RBOOL(cuttle_poller_of(self)->source.core->forked);
}

/* call-seq: watch(fileno, events, token)
 *
 * Makes next return token once when the descriptor is ready for events (IO::READABLE, IO::WRITABLE, or both). Watching
 * the same descriptor again replaces both. Raises SystemCallError if the descriptor can't be waited for. */
static VALUE poller_watch(VALUE self, VALUE fileno, VALUE events, VALUE token)
{
	struct cuttle_poller *poller = cuttle_poller_of(self);
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

/* call-seq: unwatch(fileno) -> Integer
 *
 * Ends a watch. Returns the events that were reported (IO::READABLE | IO::WRITABLE), 0 if the descriptor is not
 * watched. */
static VALUE poller_unwatch(VALUE self, VALUE fileno)
{
	struct cuttle_loop *loop = cuttle_poller_of(self)->source.loop;
	int fd = NUM2INT(fileno);
	uint32_t seen;

	pthread_mutex_lock(&loop->lock);
	seen = cuttle_loop_unwatch(loop, fd);
	pthread_mutex_unlock(&loop->lock);
	return INT2FIX(((seen & CUTTLE_READ) ? RUBY_IO_READABLE : 0) | ((seen & CUTTLE_WRITE) ? RUBY_IO_WRITABLE : 0));
}

/* call-seq: watches?(fileno) -> true or false
 *
 * Whether the descriptor is watched. It is no longer once it was closed without an unwatch and a connection got its
 * number: then next returns the token, and what is watched from then on is another file. */
static VALUE poller_watches_p(VALUE self, VALUE fileno)
{
	struct cuttle_loop *loop = cuttle_poller_of(self)->source.loop;
	int fd = NUM2INT(fileno);
	bool watches;

	pthread_mutex_lock(&loop->lock);
	watches = cuttle_loop_watches(loop, fd);
	pthread_mutex_unlock(&loop->lock);
	return RBOOL(watches);
}

/* call-seq: starved? -> true or false
 *
 * Whether no thread is free to take the next request. */
static VALUE poller_starved_p(VALUE self)
{
	struct cuttle_loop *loop = cuttle_poller_of(self)->source.loop;
	bool starved;

	pthread_mutex_lock(&loop->lock);
	starved = cuttle_followers_free(&loop->followers) == 0;
	pthread_mutex_unlock(&loop->lock);
	return RBOOL(starved);
}

/* call-seq: stats -> Hash
 *
 * So far: accepted (connections), requests, dropped (requests whose clients had gone), refused (503: the queue was too
 * long), stuck (503: the app did not answer), unproxied (connections closed for want of a PROXY header), stood_by (see
 * followers.h), relayed (given to other workers). Now: connections (open), busy (requests in the app), ready (complete
 * requests that wait for a thread), spooled (octets in temporary files or on their way there). */
static VALUE poller_stats(VALUE self)
{
	struct cuttle_counts counts = {0};

	cuttle_loop_count(cuttle_poller_of(self)->source.core, &counts);
	return cuttle_poller_stats_of(&counts);
}

/* call-seq: backend -> String, the name of the system call that waits */
static VALUE poller_backend(VALUE self)
{
	return rb_str_new_cstr(cuttle_poller_of(self)->source.loop->type->name);
}

/* call-seq: Poller.backends -> Array of the names of this system's back ends, the best one first */
static VALUE poller_backends(VALUE class)
{
	const struct cuttle_backend_type *const *backend;
	VALUE names = rb_ary_new();

	for (backend = cuttle_backends(); *backend; backend++)
		rb_ary_push(names, rb_str_new_cstr((*backend)->name));
	return names;
}

void Init_cuttle_poller(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Poller", rb_cObject);

	rb_define_alloc_func(class, poller_allocate);
	rb_define_method(class, "initialize", poller_initialize, -1);
	rb_define_method(class, "next", cuttle_poller_next, -1);
	rb_define_method(class, "stop", poller_stop, -1);
	rb_define_method(class, "wake", poller_wake, 0);
	rb_define_method(class, "forked?", poller_forked_p, 0);
	rb_define_method(class, "watch", poller_watch, 3);
	rb_define_method(class, "unwatch", poller_unwatch, 1);
	rb_define_method(class, "watches?", poller_watches_p, 1);
	rb_define_method(class, "starved?", poller_starved_p, 0);
	rb_define_method(class, "stats", poller_stats, 0);
	rb_define_method(class, "stuck", cuttle_poller_stuck, 0);
	rb_define_method(class, "stranded?", cuttle_poller_stranded_p, 0);
	rb_define_method(class, "await_shortage", cuttle_poller_await_shortage, -1);
	rb_define_method(class, "leave_garbage", cuttle_poller_leave_garbage, 0);
	rb_define_method(class, "backend", poller_backend, 0);
	rb_define_singleton_method(class, "backends", poller_backends, 0);
}
