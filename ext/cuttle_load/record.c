/*
 * What a worker records. Only requests with an intended time after the start of the measurement count; a warm-up
 * appears only in the live counters. See worker.h and stats.h.
 */
#include "worker.h"

static bool counts(const struct worker *worker, int64_t intended)
{
	return intended >= worker->plan->measure;
}

static int64_t since_measure(const struct worker *worker)
{
	return worker->now - worker->plan->measure;
}

static enum failure status_failure(int status)
{
	if (status >= 500)
		return FAILURE_STATUS_5XX;
	return status >= 400 ? FAILURE_STATUS_4XX : FAILURE_STATUS_OTHER;
}

enum failure judge_status(const struct request *request, int status)
{
	if (request->expected ? status == request->expected : status < 400)
		return NO_FAILURE;
	return status_failure(status);
}

/* Counts a failure of +request+; NULL: of no request. */
static void count_failure(struct worker *worker, const struct request *request, enum failure failure)
{
	struct stats *stats = worker->stats;

	stats->current.failures[failure]++;
	stats_count(&stats->live.failures, 1);
	if (stats->entries && request)
		stats->entries[request->entry].failures[failure]++;
}

/* Records a response time in the window, and under the request's name. */
static void record_time(struct stats *stats, const struct request *request, int64_t time)
{
	histogram_record(&stats->response, time);
	if (stats->entries)
		histogram_record(&stats->entries[request->entry].response, time);
}

static void count_response(struct stats *stats, const struct request *request, int status)
{
	stats->current.responses++;
	stats->statuses[status]++;
	if (stats->entries)
		stats->entries[request->entry].responses++;
}

/* Records a complete response. verdict: NO_FAILURE, or what is wrong with it. */
void record_response(struct worker *worker, const struct connection *connection, const struct flight *flight,
		     enum failure verdict)
{
	struct stats *stats = worker->stats;

	stats_count(&stats->live.responses, 1);
	if (!counts(worker, flight->intended))
		return;
	count_response(stats, flight->request, connection->response.head.status);
	record_time(stats, flight->request, worker->now - flight->intended);
	histogram_record(&stats->service, worker->now - flight->sent);
	histogram_record(&stats->first_byte, connection->first_byte - flight->sent);
	histogram_record(&stats->transfer, worker->now - connection->first_byte);
	if (verdict != NO_FAILURE)
		count_failure(worker, flight->request, verdict);
	stats->last_response = since_measure(worker);
	stats_gap(stats, stats->last_response);
	if (worker->over)
		stats->late_responses++;
}

/* Records a timeout with the time waited so far, because the request took at least that long. */
static void record_timeout(struct worker *worker, const struct request *request, int64_t intended)
{
	count_failure(worker, request, FAILURE_TIMEOUT);
	record_time(worker->stats, request, worker->now - intended);
}

/* Records a request that timed out before a connection could send it. */
void record_abandoned(struct worker *worker, const struct request *request, int64_t intended)
{
	if (!counts(worker, intended))
		return;
	worker->stats->current.abandoned++;
	record_timeout(worker, request, intended);
}

void record_failure(struct worker *worker, const struct flight *flight, enum failure failure)
{
	if (!counts(worker, flight->intended))
		return;
	if (failure == FAILURE_TIMEOUT)
		record_timeout(worker, flight->request, flight->intended);
	else
		count_failure(worker, flight->request, failure);
}

/* Records a failure on a connection without a request. */
void record_stray(struct worker *worker, enum failure failure)
{
	if (worker->measuring)
		count_failure(worker, NULL, failure);
}

/* Records that an arrival had to wait because all connections were in use. */
void record_full(struct worker *worker, int64_t intended)
{
	if (counts(worker, intended))
		worker->stats->full = true;
}

void record_sent(struct worker *worker, int64_t intended)
{
	struct stats *stats = worker->stats;

	stats_count(&stats->live.sent, 1);
	if (!counts(worker, intended))
		return;
	stats->current.sent++;
	if (worker->plan->open)
		histogram_record(&stats->lag, worker->now - intended);
}

/* Records that a request was sent once more on a new connection. */
void record_retried(struct worker *worker, int64_t intended)
{
	if (counts(worker, intended))
		worker->stats->retried++;
}

void record_connect(struct worker *worker, const struct connection *connection)
{
	if (!worker->measuring)
		return;
	worker->stats->opened++;
	histogram_record(&worker->stats->connect, worker->now - connection->opened);
}

/* Returns the CPU time without the part spent on waiting. */
static int64_t working(const struct worker *worker)
{
	return clock_thread_cpu() - worker->waiter.looked;
}

static void begin_measuring(struct worker *worker)
{
	worker->measuring = true;
	worker->window_end = worker->plan->measure + SECOND;
	worker->cpu_begin = working(worker);
	worker->wall_begin = worker->now;
	worker->waited_begin = waited_so_far(worker->account);
	worker->stats->gap_begin = since_measure(worker);
	worker->stats->current.octets = 0; /* all else of the warm-up was not recorded */
}

/* Records what the thread used, and what it lacked, since the start of the measurement. */
static void keep_account(struct worker *worker)
{
	struct stats *stats = worker->stats;
	int64_t waited = waited_so_far(worker->account);

	stats->cpu = working(worker) - worker->cpu_begin;
	stats->wall = worker->now - worker->wall_begin;
	if (waited >= 0 && worker->waited_begin >= 0)
		stats->waited = waited - worker->waited_begin;
}

static void end_sending(struct worker *worker)
{
	struct plan *plan = worker->plan;

	stats_publish(worker->stats, plan->end - plan->measure);
	worker->stats->current.draining = true;
	worker->over = true;
	worker->window_end = NEVER;
	keep_account(worker);
}

/* Publishes the windows that have ended. */
void record_windows(struct worker *worker)
{
	struct plan *plan = worker->plan;

	if (!worker->measuring && worker->now >= plan->measure)
		begin_measuring(worker);
	while (worker->measuring && worker->now >= worker->window_end && worker->window_end < plan->end) {
		stats_publish(worker->stats, worker->window_end - plan->measure);
		worker->window_end += SECOND;
	}
	if (worker->measuring && !worker->over && worker->now >= plan->end)
		end_sending(worker);
}

static void keep_wait(struct worker *worker, uint64_t *counter, int64_t intended)
{
	struct stats *stats = worker->stats;

	if (!counts(worker, intended))
		return;
	(*counter)++;
	if (worker->now - intended > stats->longest_wait)
		stats->longest_wait = worker->now - intended;
}

/* Counts a request that was not sent when the run was stopped, although its time had come. */
void record_overdue(struct worker *worker, int64_t intended)
{
	keep_wait(worker, &worker->stats->overdue, intended);
}

/* Counts the flights that are left when the run is stopped. They have no response time: the time that they waited so
 * far would be too short a one in a healthy run. */
static void count_unfinished(struct worker *worker)
{
	size_t at, place;

	for (at = 0; worker->in_flight && at < worker->connection_count; at++) {
		const struct connection *connection = &worker->connections[at];

		for (place = 0; place < connection->count; place++)
			keep_wait(worker, &worker->stats->unfinished, flight_at(worker, connection, place)->intended);
	}
}

/* Publishes the last window: the responses after the end, or the fraction of a second until the run ended or was
 * stopped. */
void record_end(struct worker *worker)
{
	struct stats *stats = worker->stats;

	if (worker->measuring && !worker->over)
		keep_account(worker);
	if (worker->measuring && worker->in_flight)
		stats_gap(stats, since_measure(worker));
	count_unfinished(worker);
	if (worker->measuring)
		stats_publish(stats, since_measure(worker));
	atomic_store_explicit(&stats->live.ended, true, memory_order_release);
}
