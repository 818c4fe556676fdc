/* Poller#next: looks for work with the GVL and waits for it without. loop_take.c decides what it finds. */
#include "rb_poller.h"
#include "io_thread.h"
#include "rb_exchange.h"
#include "rb_ledger.h"

#include <ruby/thread.h>

/* Gives what has arrived to Ruby parsers. A connection is in no list while a parser has it. */
static void parse_unparsed(struct cuttle_poller *poller)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_connection *connection;

	pthread_mutex_lock(&loop->lock);
	while ((connection = cuttle_loop_shift(&loop->unparsed))) {
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

/* This thread stops waiting, so another one must wait. */
static void leave(struct cuttle_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	cuttle_followers_pass_on(loop);
	pthread_mutex_unlock(&loop->lock);
}

/* Calls a function that may raise. If it does, another thread must wait and do the work that this one was called
 * for. */
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

static VALUE complain_of_unproxied(VALUE nothing)
{
	cuttle_source_complain_of_unproxied();
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

/* Waits for work without the GVL. May raise a pending interrupt of this thread. */
static void wait_for_work(struct cuttle_loop *loop, uint64_t until)
{
	struct waiting waiting = {.loop = loop, .until = until};

	cuttle_cond_init(&waiting.follower.called);
	cuttle_list_reset(&waiting.follower.link);
	rb_nogvl(wait_without_gvl, &waiting, interrupt, &waiting, RB_NOGVL_INTR_FAIL);
	pthread_mutex_lock(&loop->lock);
	cuttle_followers_leave(loop, &waiting.follower);
	if (waiting.follower.interrupted)
		cuttle_followers_pass_on(loop); /* a trap handler may take long */
	pthread_mutex_unlock(&loop->lock);
	pthread_cond_destroy(&waiting.follower.called);
	call_ruby(loop, check_interrupts, Qnil); /* also for interrupts on the way to the GVL, which end no wait */
}

static VALUE close_masked(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, data))
{
	cuttle_source_close_listeners((struct cuttle_source *)data);
	return Qnil;
}

/* Closing a socket can raise an interrupt that other threads sent to this one (Thread#kill, Timeout), so it is raised
 * only after the last socket is closed. */
static VALUE close_listeners(VALUE data)
{
	VALUE mask = rb_hash_new();

	rb_hash_aset(mask, rb_cObject, ID2SYM(rb_intern("never")));
	return rb_block_call(rb_cThread, rb_intern("handle_interrupt"), 1, &mask, close_masked, data);
}

void cuttle_poller_shut(struct cuttle_poller *poller)
{
	struct cuttle_loop *loop = poller->source.loop;
	VALUE source = (VALUE)&poller->source;
	int raised, again = 0;

	if (poller->listeners_closed)
		return; /* another thread is doing it */
	poller->listeners_closed = true;
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_leave_listeners(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
	rb_protect(close_listeners, source, &raised);
	if (raised) /* perhaps before it closed one */
		rb_protect(close_listeners, source, &again);
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_shut(loop, cuttle_now());
	if (raised)
		cuttle_followers_pass_on(loop);
	pthread_mutex_unlock(&loop->lock);
	if (raised)
		rb_jump_tag(again ? again : raised);
}

/* How requests of this loop share the thread that runs them. A thread that takes as many as the engine has room for
 * runs them in fibers. */
static enum cuttle_sharing sharing(const struct cuttle_loop *loop, int64_t room)
{
	if (loop->followers.steady)
		return CUTTLE_RACTORS;
	return room >= 0 ? CUTTLE_FIBERS : CUTTLE_ALONE;
}

/* Looks for work once, and does the part that needs Ruby. object receives an exchange that is found. A thread that
 * holds an exchange runs no other Ruby code here, since that might end it. Returns whether it found one. */
static bool attempt(VALUE self, struct cuttle_poller *poller, int64_t room, VALUE object, struct cuttle_found *found,
		    struct cuttle_clocks *clocks)
{
	struct cuttle_loop *loop = poller->source.loop;
	struct cuttle_exchange *exchange;

	if (atomic_load_explicit(&loop->core.stopping, memory_order_relaxed) && !loop->shut)
		cuttle_poller_shut(poller);
	pthread_mutex_lock(&loop->lock);
	exchange = cuttle_loop_take(loop, room, found, cuttle_now());
	pthread_mutex_unlock(&loop->lock);

	if (exchange) {
		cuttle_exchange_hold(object, &poller->source, self, exchange);
		if (clocks)
			cuttle_effort_begin(exchange, clocks, sharing(loop, room));
		if (loop->core.limits.app_timeout) /* the thread's backtrace shows where a request is stuck */
			cuttle_source_refer(self, exchange->connection, CUTTLE_TO_THREAD, rb_thread_current());
		return true;
	}
	if (found->unparsed)
		parse_unparsed(poller);
	if (found->complain)
		call_ruby(loop, complain, Qnil);
	if (found->unproxied)
		call_ruby(loop, complain_of_unproxied, Qnil);
	if (found->spool)
		call_ruby(loop, complain_of_spool, (VALUE) & (struct spool_complaint){&poller->source, found->spool});
	return false;
}

/* Lets requests that have begun go before new ones: while some are in the app and compute, this thread takes no
 * other. */
static void let_others_go_first(struct cuttle_poller *poller, uint64_t until)
{
	struct cuttle_loop *loop = poller->source.loop;

	if (loop->busy == 0)
		return;
	if (cuttle_loop_may_leave_work(loop))
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
 * Returns the next exchange with a complete request, in order of readiness, or the token of a watched descriptor that
 * is ready (see watch). Waits while there is none. Returns false when timeout (seconds) passes or wake was called, and
 * nil when the poller was stopped and every connection has ended. Any number of threads may call it. room: how many
 * requests the engine can take, if its threads don't limit that. At 0 it takes none and accepts no connection, except
 * to refuse it. Raises a pending interrupt of the calling thread. */
VALUE cuttle_poller_next(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_poller *poller = cuttle_poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	uint64_t until = deadline_of(argc > 0 ? argv[0] : Qnil);
	int64_t room = room_of(argc > 1 ? argv[1] : Qnil);
	struct cuttle_clocks *clocks;
	VALUE exchange;

	rb_check_arity(argc, 0, 2);
	if (loop->core.forked)
		return Qnil;
	if (!loop->io_thread && cuttle_io_thread_wanted(loop))
		cuttle_io_thread_start(loop); /* if that fails, draining and refusing wait for a free thread */
	let_others_go_first(poller, until);
	exchange = cuttle_exchange_prepare();
	clocks = loop->core.ledger ? cuttle_clocks_here() : NULL;
	for (;;) {
		struct cuttle_found found;

		if (attempt(self, poller, room, exchange, &found, clocks))
			return exchange;
		if (found.token)
			return (VALUE)found.token;
		if (found.over)
			return Qnil;
		if ((found.woken && atomic_exchange(&poller->called, false)) || (until && cuttle_now() >= until)) {
			leave(loop);
			return Qfalse;
		}
		if (cuttle_poller_begin_collection(poller))
			call_ruby(loop, cuttle_poller_collect, (VALUE)poller);
		else
			wait_for_work(loop, until);
	}
}
