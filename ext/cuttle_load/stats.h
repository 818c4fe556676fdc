/*
 * What a thread measures.
 *
 * Law: one thread writes, with no lock and no shared cache line. It publishes a window a second, whole and never
 * changed again; other threads read published windows, and the rest only after the thread has ended. No Ruby.
 */
#ifndef CUTTLE_LOAD_STATS_H
#define CUTTLE_LOAD_STATS_H

#include "clock.h"
#include "histogram.h"
#include <stdatomic.h>

enum failure {
	FAILURE_CONNECT, FAILURE_RESET, FAILURE_EARLY_CLOSE, FAILURE_TIMEOUT, FAILURE_MALFORMED, FAILURE_LENGTH,
	FAILURE_STATUS_4XX, FAILURE_STATUS_5XX, FAILURE_STATUS_OTHER, FAILURES
};

/* One second of a thread. Slots are pairs of index and count. */
struct window {
	struct window *_Atomic next;
	int64_t begin, end; /* ns since measuring began */
	bool draining; /* after the last request was sent: responses still to come */
	uint64_t sent, responses, octets;
	uint64_t failures[FAILURES];
	uint64_t count, clipped;
	int64_t min, max, sum;
	double squares;
	size_t slot_count;
	uint64_t slots[];
};

/* A time without a single response although some were awaited. */
struct gap {
	int64_t begin, end; /* ns since measuring began */
};

#define GAP_THRESHOLD (50 * MILLISECOND)
#define GAPS 64
#define SAMPLE 64 /* octets kept of an answer that isn't HTTP */

/* Counters others may look at while the thread runs. */
struct live {
	_Atomic uint64_t sent, responses, failures, connections, in_flight;
	atomic_bool ended;
};

struct stats {
	struct live live;
	struct histogram response; /* of the window */
	struct histogram service, lag, connect, first_byte, transfer; /* of the run */
	struct window current; /* its counters; histogram parts are filled in when it is published */
	struct window *first;
	struct window *last;
	uint64_t opened; /* connections */
	uint64_t unfinished; /* requests without an answer when the run was stopped */
	uint64_t late_responses; /* that came after the last request was sent */
	int64_t last_response; /* when, ns since measuring began */
	int64_t cpu, wall; /* ns, of the time measured; cpu without what went into waiting */
	int connect_error; /* the first errno */
	int64_t gap_begin; /* last response, or the time there began to be something to wait for */
	struct gap gaps[GAPS];
	size_t gap_count;
	size_t sample_length; /* of the first malformed answer */
	char sample[SAMPLE];
	char tls_error[160]; /* the first one, or empty */
};

struct stats *stats_new(void); /* NULL without memory */
void stats_free(struct stats *stats);

/* Publishes the current window, which ends at +end+, and begins another. false without memory: the window is lost. */
bool stats_publish(struct stats *stats, int64_t end);

/* Something came at +now+ (ns since measuring began): a gap ends. */
void stats_gap(struct stats *stats, int64_t now);

static inline void stats_count(_Atomic uint64_t *counter, uint64_t by)
{
	/* One writer: no read-modify-write instruction is needed. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

#endif
