/*
 * A worker: one thread of the generator, with its event loop, its connections and its figures.
 *
 * Law: a worker writes only two fields that others share, plan->left and plan->stop. While it runs it allocates only
 * one window per second, and its sessions' copies of bodies. worker.c has the loop and the arrivals, opening.c the
 * opening of connections, connection.c what happens on them, closing.c their end, record.c what is recorded.
 */
#ifndef CUTTLE_LOAD_WORKER_H
#define CUTTLE_LOAD_WORKER_H

#include "plan.h"
#include "response.h"
#include "stats.h"
#include "tls.h"
#include "wait.h"
#include "waited.h"
#include <pthread.h>

#define READ_SIZE 65536
#define RETRY_DELAY (100 * MILLISECOND) /* before a closed loop retries a refused connection */

/* A request in flight. Times are on the monotonic clock. */
struct flight {
	const struct request *request;
	const struct piece *piece; /* what is sent: the request's own, or composed by a session */
	int64_t intended, sent;
};

enum connection_state { CLOSED, CONNECTING, HANDSHAKING, OPEN };

/*
 *	CLOSED -> CONNECTING [-> HANDSHAKING] -> OPEN -> CLOSED
 *
 * Flights are a ring. +first+ is the flight whose response comes next, +count+ the number of flights, and +unsent+ the
 * number of flights that are not yet written completely. +offset+ octets of the earliest of those are written.
 */
struct connection {
	int descriptor;
	uint8_t state;
	bool fresh;  /* opened before its first request, whose time begins when the connection is established */
	bool served; /* has had a complete response that did not end with the connection */
	bool broken; /* can't be written any more, but is still read */
	bool queued; /* in a delay queue */
	struct tls_session *tls;
	struct session *session; /* NULL: the plan has none */
	struct flight *flights;
	size_t first, count, unsent, offset;
	size_t budget; /* octets that a slow reader may read before its next pause */
	int64_t opened, first_byte, due;
	struct connection *next; /* in at most one list or queue */
	struct response response;
};

/* Connections that wait for the same duration, in order of expiry. */
struct delay_queue {
	struct connection *first, *last;
};

struct worker {
	struct plan *plan;
	struct stats *stats;
	struct waiter waiter;
	pthread_t thread;
	size_t index; /* among all parts of the run */

	int64_t now;
	int64_t next; /* when to send the next arrival; NEVER: there is none */
	int64_t window_end, scan_at, cpu_begin, wall_begin, waited_begin;
	int account;                     /* for waited_so_far */
	uint64_t number;                 /* of the next request */
	bool warm;                       /* the warm-up's schedule is over */
	bool measuring, over, exhausted; /* over: sends no more; exhausted: all requests are taken */
	size_t in_flight;
	struct schedule schedule;

	struct connection *connections, *idle, *closed; /* idle: most recently used first */
	struct flight *flights;
	struct session *sessions;
	struct matcher *matcher;
	size_t connection_count;
	struct delay_queue thinking, retrying, pausing, redialing;
	int64_t crowded_until; /* the backlog of the Unix socket is taken for full until then */
	struct response_memo memo;
	char buffer[READ_SIZE];
};

/* Returns the flight that is +place+ places behind the first one. */
static inline struct flight *flight_at(const struct worker *worker, const struct connection *connection, size_t place)
{
	size_t at = connection->first + place;

	return &connection->flights[at >= worker->plan->pipeline ? at - worker->plan->pipeline : at];
}

/* worker.c */
struct worker *worker_new(struct plan *plan, size_t index, size_t connections); /* NULL: errno says why */
void worker_free(struct worker *worker);
void *worker_run(void *worker);
bool worker_claim(struct worker *worker); /* whether one more request may be sent */
void delay(struct delay_queue *queue, struct connection *connection, int64_t due);

/* Takes the next request of the mix. An arrival without a connection takes its request too. */
static inline const struct request *worker_draw(struct worker *worker)
{
	const struct request *request = mix_pick(&worker->plan->mix, worker->number);

	worker->number += worker->plan->parts;
	return request;
}

/* opening.c */
void connection_open(struct worker *worker, struct connection *connection, int64_t intended, bool fresh);
void connection_dial(struct worker *worker, struct connection *connection);
void connection_reopen(struct worker *worker, struct connection *connection);
void connection_redial(struct worker *worker, struct connection *connection); /* continues a dial that was put off */
void connection_connecting(struct worker *worker, struct connection *connection);

/* connection.c */
void connection_push(struct worker *worker, struct connection *connection, int64_t intended);
void connection_pop(struct worker *worker, struct connection *connection);
void connection_flush_or_hear(struct worker *worker, struct connection *connection);
void connection_send(struct worker *worker, struct connection *connection, int64_t intended);
void connection_event(struct worker *worker, struct connection *connection, uint32_t events);
void connection_resume(struct worker *worker, struct connection *connection);
void connection_fill(struct worker *worker, struct connection *connection);

/* closing.c */
void connection_close(struct worker *worker, struct connection *connection);
void connection_fail_flights(struct worker *worker, struct connection *connection, enum failure failure);
void connection_fail(struct worker *worker, struct connection *connection, enum failure failure);
void connection_drop(struct worker *worker, struct connection *connection);
void connection_expire(struct worker *worker, struct connection *connection);
bool connection_send_again(struct worker *worker, struct connection *connection);
void connection_rest(struct worker *worker, struct connection *connection, bool backing_off);

/* record.c */
enum failure judge_status(const struct request *request, int status); /* NO_FAILURE if it is right */
void record_response(struct worker *worker, const struct connection *connection, const struct flight *flight,
		     enum failure verdict);
void record_failure(struct worker *worker, const struct flight *flight, enum failure failure);
void record_stray(struct worker *worker, enum failure failure);
void record_abandoned(struct worker *worker, const struct request *request, int64_t intended);
void record_full(struct worker *worker, int64_t intended);
void record_sent(struct worker *worker, int64_t intended);
void record_overdue(struct worker *worker, int64_t intended);
void record_retried(struct worker *worker, int64_t intended);
void record_connect(struct worker *worker, const struct connection *connection);
void record_windows(struct worker *worker);
void record_end(struct worker *worker);

#endif
