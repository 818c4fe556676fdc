/*
 * The figures that a thread measures.
 *
 * Law: one thread writes, without locks or shared cache lines. It publishes one window per second, and never changes a
 * published window. Other threads read published windows; they read the rest only after the thread has ended. No Ruby.
 */
#ifndef CUTTLE_LOAD_STATS_H
#define CUTTLE_LOAD_STATS_H

#include "clock.h"
#include "histogram.h"
#include <stdatomic.h>

/* clang-format off */
enum failure {
	FAILURE_CONNECT, FAILURE_RESET, FAILURE_EARLY_CLOSE, FAILURE_TIMEOUT, FAILURE_MALFORMED, FAILURE_LENGTH,
	FAILURE_STATUS_4XX, FAILURE_STATUS_5XX, FAILURE_STATUS_OTHER, FAILURE_CHECK, FAILURE_REDIRECT,
	FAILURE_DROPPED, FAILURE_LOCAL, FAILURES,
	NO_FAILURE = FAILURES
};
/* clang-format on */

/* One second of a thread. Slots are pairs of index and count. */
struct window {
	struct window *_Atomic next;
	int64_t begin, end; /* ns since measuring began */
	bool draining;      /* after the end of the time: only overdue requests are sent, and responses arrive */
	uint64_t sent, responses, octets;
	uint64_t abandoned; /* requests that timed out before a connection could send them */
	uint64_t failures[FAILURES];
	uint64_t count, clipped;
	int64_t min, max, sum;
	double squares;
	size_t slot_count;
	uint64_t slots[];
};

/* A time without any response although responses were awaited. */
struct gap {
	int64_t begin, end; /* ns since measuring began */
};

/* The results of the requests with one name, over the run. */
struct entry {
	uint64_t responses;
	uint64_t failures[FAILURES];
	struct histogram response;
};

#define GAP_THRESHOLD (50 * MILLISECOND)
#define GAPS 64
#define SAMPLE 64    /* octets kept of a malformed answer */
#define STATUSES 600 /* the parser refuses a higher status */

/* Counters that other threads may read while this thread runs. */
struct live {
	_Atomic uint64_t sent, responses, failures, connections, in_flight;
	atomic_bool ended;
};

struct stats {
	struct live live;
	struct histogram response;                                    /* of the window */
	struct histogram service, lag, connect, first_byte, transfer; /* of the run */
	struct window current; /* its counters; the histogram parts are set when it is published */
	struct window *first;
	struct window *last;
	struct entry *entries; /* by name; NULL: all requests have one name */
	size_t entry_count;
	uint64_t statuses[STATUSES]; /* responses by status */
	uint64_t opened;             /* connections opened */
	uint64_t unfinished;         /* requests without an answer when the run was stopped */
	uint64_t overdue;            /* requests whose time had come then, and that were not sent yet */
	int64_t longest_wait;        /* of those requests until then, in ns from the intended time */
	uint64_t retried;            /* requests sent once more, because a reused connection was closed */
	uint64_t late_responses;     /* responses that arrived after the last request had been sent */
	int64_t last_response;       /* when it arrived, ns since measuring began */
	int64_t cpu, wall;           /* ns while measuring; cpu excludes waiting */
	int64_t waited;              /* ns while measuring that the thread could run and had no core; -1: unknown */
	bool full;                   /* an arrival had to wait because all connections were in use */
	int connect_error;           /* the first errno of FAILURE_CONNECT */
	int local_error;             /* the first errno of FAILURE_LOCAL */
	int64_t gap_begin;           /* time of the last response, or at which the thread began to await one */
	struct gap gaps[GAPS];
	size_t gap_count;
	size_t sample_length; /* of the first malformed answer */
	char sample[SAMPLE];
	char tls_error[160]; /* the first one, or empty */
};

/* entries: how many names the requests have. Returns NULL if out of memory. */
struct stats *stats_new(size_t entries);
void stats_free(struct stats *stats);

/* Publishes the current window, which ends at +end+, and begins the next one. Returns false if out of memory; the
 * window is then lost. */
bool stats_publish(struct stats *stats, int64_t end);

/* Ends a gap, because a response arrived at +now+ (ns since the start of the measurement). */
void stats_gap(struct stats *stats, int64_t now);

static inline void stats_count(_Atomic uint64_t *counter, uint64_t by)
{
	/* There is one writer, so this needs no read-modify-write instruction. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

#endif
