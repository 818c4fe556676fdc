/*
 * A worker's event loop, and the arrivals of an open loop; see worker.h.
 *
 * Law: it waits in one place (waiter_wait), until the next event or the next task.
 */
#include "worker.h"
#include "random.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 256

/* How long before an arrival polling begins: usually longer than the core of a virtual machine takes to wake. */
#define NEAR (100 * MICROSECOND)

/* --- delays --- */

void delay(struct delay_queue *queue, struct connection *connection, int64_t due)
{
	connection->due = due;
	connection->next = NULL;
	connection->queued = true;
	if (queue->first)
		queue->last->next = connection;
	else
		queue->first = connection;
	queue->last = connection;
}

static bool is_due(const struct delay_queue *queue, int64_t now)
{
	return queue->first && queue->first->due <= now;
}

/* --- requests left --- */

bool worker_claim(struct worker *worker)
{
	struct plan *plan = worker->plan;

	if (worker->over || worker->exhausted)
		return false;
	if (!plan->limited || worker->now < plan->measure)
		return true;
	if (atomic_fetch_sub_explicit(&plan->left, 1, memory_order_relaxed) > 0)
		return true;
	worker->exhausted = true;
	return false;
}

/* --- arrivals --- */

static void begin_schedule(struct worker *worker)
{
	struct plan *plan = worker->plan;
	uint64_t seed = random_at(plan->seed, plan->warmup && !worker->warm ? 1 : 2);

	schedule_start(&worker->schedule, worker->warm ? &plan->shape : &plan->warm_shape, seed, worker->index,
		       plan->parts);
}

/* Sets the time of the next arrival: first those of the warm-up, then the measured ones. */
static void next_arrival(struct worker *worker)
{
	struct plan *plan = worker->plan;
	int64_t offset;

	if (!worker->warm) {
		offset = schedule_next(&worker->schedule);
		if (offset < plan->warmup) {
			worker->next = plan->begin + offset;
			return;
		}
		worker->warm = true;
		begin_schedule(worker);
	}
	offset = schedule_next(&worker->schedule);
	worker->next = offset == NEVER || plan->measure + offset >= plan->end ? NEVER : plan->measure + offset;
}

/* Counts an arrival as one of the limited requests if its intended time is within the measurement. */
static bool claim_arrival(struct worker *worker)
{
	struct plan *plan = worker->plan;

	if (!plan->limited || worker->next < plan->measure)
		return true;
	if (atomic_fetch_sub_explicit(&plan->left, 1, memory_order_relaxed) > 0)
		return true;
	worker->exhausted = true;
	worker->next = NEVER;
	return false;
}

static bool can_send(const struct worker *worker)
{
	return worker->idle || worker->closed;
}

/* Handles an arrival that has waited for a connection longer than the timeout: it counts as a timeout. */
static bool gave_up(struct worker *worker)
{
	if (worker->now - worker->next < worker->plan->timeout)
		return false;
	if (claim_arrival(worker)) {
		record_abandoned(worker, worker_draw(worker), worker->next);
		next_arrival(worker);
	}
	return true;
}

static void send_on(struct worker *worker, struct connection **list, int64_t intended)
{
	struct connection *connection = *list;

	*list = connection->next;
	if (connection->state == OPEN)
		connection_send(worker, connection, intended);
	else
		connection_open(worker, connection, intended, false);
}

/* Sends the requests that are due. Each takes time, so the next one is later by that. Those that become due meanwhile
 * are left to the next call, because events must be handled too. */
static void dispatch(struct worker *worker)
{
	int64_t begun = worker->now;

	while (worker->next <= begun) {
		int64_t intended = worker->next;

		if (gave_up(worker))
			continue;
		if (!can_send(worker)) {
			record_full(worker, intended);
			return;
		}
		if (!claim_arrival(worker))
			return;
		next_arrival(worker);
		send_on(worker, worker->idle ? &worker->idle : &worker->closed, intended);
		if (worker->next <= begun)
			worker->now = clock_now();
	}
}

/* Counts the arrivals that are due and not sent when the run is stopped. */
static void leave_overdue(struct worker *worker)
{
	while (worker->next <= worker->now && claim_arrival(worker)) {
		record_overdue(worker, worker->next);
		next_arrival(worker);
	}
}

/* --- deadlines --- */

static int64_t scan_interval(const struct plan *plan)
{
	int64_t interval = plan->timeout / 100;

	if (interval > 100 * MILLISECOND)
		return 100 * MILLISECOND;
	return interval < MILLISECOND ? MILLISECOND : interval;
}

static void scan_timeouts(struct worker *worker)
{
	size_t at;

	if (worker->now < worker->scan_at)
		return;
	worker->scan_at = worker->now + scan_interval(worker->plan);
	for (at = 0; at < worker->connection_count; at++) {
		struct connection *connection = &worker->connections[at];

		if (connection->count &&
		    worker->now - connection->flights[connection->first].intended >= worker->plan->timeout)
			connection_expire(worker, connection);
	}
}

static int64_t earlier(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static int64_t due(const struct delay_queue *queue)
{
	return queue->first ? queue->first->due : NEVER;
}

static int64_t next_deadline(const struct worker *worker)
{
	const struct plan *plan = worker->plan;
	int64_t deadline = earlier(worker->scan_at, due(&worker->thinking));

	deadline = earlier(deadline, due(&worker->retrying));
	deadline = earlier(deadline, due(&worker->pausing));
	deadline = earlier(deadline, due(&worker->redialing));
	if (!worker->measuring)
		deadline = earlier(deadline, plan->measure);
	else if (!worker->over)
		deadline = earlier(deadline, earlier(plan->end, worker->window_end));
	if (can_send(worker))
		deadline = earlier(deadline, worker->next);
	return deadline;
}

/* --- the loop --- */

static bool done(const struct worker *worker)
{
	const struct plan *plan = worker->plan;

	if (atomic_load_explicit(&plan->stop, memory_order_relaxed))
		return true;
	if (worker->in_flight || (plan->open && worker->next != NEVER))
		return false;
	return worker->over || worker->exhausted;
}

/* Closes the idle connections whose end is among the events, so that no request is sent on them, and takes these events
 * away. Only in an open loop can another connection's event send a request on an idle one. */
static void drop_ended(struct worker *worker, struct epoll_event *events, int count)
{
	int at;

	for (at = 0; at < count; at++) {
		struct connection *connection = events[at].data.ptr;

		if (!(events[at].events & EPOLLRDHUP) || !connection || connection->state != OPEN || connection->count)
			continue;
		connection_event(worker, connection, events[at].events);
		events[at].data.ptr = NULL;
	}
}

static void handle(struct worker *worker, struct epoll_event *events, int count)
{
	int at;

	if (worker->plan->open)
		drop_ended(worker, events, count);
	for (at = 0; at < count; at++) {
		if (!events[at].data.ptr)
			continue; /* a wake-up or the timer */
		connection_event(worker, events[at].data.ptr, events[at].events);
		if (worker->next <= worker->now)
			dispatch(worker);
	}
}

/* Resumes what is due. That takes time, so the next connection's request has a later time, and arrivals may be due. */
static void resume_due(struct worker *worker, struct delay_queue *queue)
{
	int64_t begun = worker->now;

	while (is_due(queue, begun)) {
		struct connection *connection = queue->first;

		queue->first = connection->next;
		connection->queued = false;
		connection_resume(worker, connection);
		if (is_due(queue, begun))
			worker->now = clock_now();
		if (worker->next <= worker->now)
			dispatch(worker);
	}
}

static void do_what_is_due(struct worker *worker)
{
	record_windows(worker);
	resume_due(worker, &worker->retrying);
	resume_due(worker, &worker->thinking);
	resume_due(worker, &worker->pausing);
	resume_due(worker, &worker->redialing);
	scan_timeouts(worker);
	dispatch(worker);
	atomic_store_explicit(&worker->stats->live.in_flight, worker->in_flight, memory_order_relaxed);
}

static void begin(struct worker *worker)
{
	struct plan *plan = worker->plan;
	bool fresh = plan->keep_alive;

	while (worker->now < plan->begin && !atomic_load_explicit(&plan->stop, memory_order_relaxed)) {
		struct epoll_event event;

		waiter_wait(&worker->waiter, &event, 1, worker->now, plan->begin);
		worker->now = clock_now();
	}
	record_windows(worker);
	worker->scan_at = worker->now + scan_interval(plan);
	if (plan->open) {
		worker->waiter.near = NEAR;
		worker->warm = plan->warmup == 0;
		begin_schedule(worker);
		next_arrival(worker);
		return;
	}
	while (worker->closed && worker_claim(worker)) {
		struct connection *connection = worker->closed;

		worker->closed = connection->next;
		worker->now = clock_now();
		connection_open(worker, connection, worker->now, fresh);
	}
	worker->closed = NULL;
}

void *worker_run(void *argument)
{
	struct worker *worker = argument;
	struct epoll_event events[EVENTS];

	waiter_settle();
	worker->account = waited_open();
	worker->now = clock_now();
	begin(worker);
	do_what_is_due(worker);
	while (!done(worker)) {
		int count = waiter_wait(&worker->waiter, events, EVENTS, worker->now, next_deadline(worker));

		worker->now = clock_now();
		handle(worker, events, count);
		do_what_is_due(worker);
	}
	leave_overdue(worker);
	record_end(worker);
	if (worker->account >= 0)
		close(worker->account);
	return NULL;
}

/* --- making and freeing --- */

static void lay_out(struct worker *worker)
{
	size_t at;

	for (at = worker->connection_count; at-- > 0;) {
		struct connection *connection = &worker->connections[at];

		connection->descriptor = -1;
		connection->flights = worker->flights + at * worker->plan->pipeline;
		if (worker->sessions) {
			connection->session = &worker->sessions[at];
			connection->response.kept = &connection->session->kept;
		}
		connection->next = worker->closed;
		worker->closed = connection;
	}
}

/* Allocates what only plans with sessions need. */
static bool make_sessions(struct worker *worker)
{
	if (!worker->plan->sessions.used)
		return true;
	worker->sessions = sessions_new(&worker->plan->sessions, worker->connection_count);
	worker->matcher = calloc(1, sizeof(*worker->matcher));
	return worker->sessions && worker->matcher;
}

struct worker *worker_new(struct plan *plan, size_t index, size_t connections)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->plan = plan;
	worker->index = plan->part + index;
	worker->number = worker->index;
	worker->next = worker->window_end = NEVER;
	worker->connection_count = connections;
	worker->waiter = (struct waiter){.epoll = -1, .wake = -1, .timer = -1};
	worker->stats = stats_new(plan->mix.entries);
	worker->connections = calloc(connections, sizeof(*worker->connections));
	worker->flights = calloc(connections * plan->pipeline, sizeof(*worker->flights));
	if (!worker->stats || !worker->connections || !worker->flights || !make_sessions(worker) ||
	    !waiter_open(&worker->waiter)) {
		worker_free(worker);
		return NULL;
	}
	lay_out(worker);
	return worker;
}

void worker_free(struct worker *worker)
{
	size_t at;

	if (!worker)
		return;
	for (at = 0; worker->connections && at < worker->connection_count; at++)
		if (worker->connections[at].state != CLOSED)
			connection_close(worker, &worker->connections[at]);
	waiter_close(&worker->waiter);
	stats_free(worker->stats);
	sessions_free(worker->sessions, worker->connection_count);
	free(worker->matcher);
	free(worker->connections);
	free(worker->flights);
	free(worker);
}
