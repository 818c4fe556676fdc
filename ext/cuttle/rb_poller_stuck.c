/* Requests that are stuck in the app: reporting them, and whether only such requests are left. */
#include "rb_poller.h"

#include <ruby/thread.h>
#include <stdio.h>

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

/* The report of a stuck request, copied under the lock. */
struct stuck_request {
	VALUE thread, fiber;
	uint64_t nanoseconds;
	size_t length;
	char line[256];
};

/* Returns what the connection refers to, or nil. */
static VALUE object_of(const struct cuttle_connection *connection, enum cuttle_reference which)
{
	uintptr_t object = cuttle_connection_reference(connection, which);

	return object ? (VALUE)object : Qnil;
}

/* Returns false if there is none. */
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
		request->thread = object_of(connection, CUTTLE_TO_THREAD);
		request->fiber = object_of(connection, CUTTLE_TO_FIBER);
	}
	pthread_mutex_unlock(&loop->lock);
	return connection != NULL;
}

/* call-seq: stuck -> [thread, fiber, seconds, request]
 *
 * Waits until a request has been in the app for longer than app_timeout and was answered on its behalf. Returns the
 * Thread and the Fiber (or nil) that have the request, how long they have had it, and its method and path. Each request
 * is returned once, as soon as the caller has the GVL, unless the app has finished it by then. Raises a pending
 * interrupt of the calling thread. */
VALUE cuttle_poller_stuck(VALUE self)
{
	struct cuttle_loop *loop = cuttle_poller_of(self)->source.loop;
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
 * After stop: whether only requests are left that are stuck in the app and have been answered. If their threads are the
 * only ones, nobody calls next, so this does what next does at the end: it closes the listeners and refuses requests
 * that have waited a second for a thread. */
VALUE cuttle_poller_stranded_p(VALUE self)
{
	struct cuttle_poller *poller = cuttle_poller_of(self);
	struct cuttle_loop *loop = poller->source.loop;
	uint64_t now = cuttle_now();
	bool stranded;

	if (!atomic_load(&loop->core.stopping) || !loop->core.stuck_now)
		return Qfalse;
	if (!loop->shut)
		cuttle_poller_shut(poller);
	pthread_mutex_lock(&loop->lock);
	if (loop->busy == loop->core.stuck_now && cuttle_loop_spare(loop) == 0)
		cuttle_loop_refuse_since(loop, now - CUTTLE_SECOND, now);
	stranded = loop->shut && loop->core.stuck_now > 0 && loop->core.open == loop->core.stuck_now;
	pthread_mutex_unlock(&loop->lock);
	return RBOOL(stranded);
}
