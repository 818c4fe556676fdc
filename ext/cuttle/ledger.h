/* Where the time of requests goes: for each phase a histogram, in memory that other processes read.
 *
 *   accept   read              queue           app                            write
 *   |--------|-----------------|---------------|------------------------------|----------|
 *   in the   first octet       complete        a thread takes it              head made  last octet is
 *   backlog                                    cpu + gvl + gc + wait                     with the system
 *
 * A ledger has one writer at a time: the thread that holds the loop's lock, or the GVL on the blocking side. Readers
 * take no lock. They see each number whole, but numbers that belong together may be apart by a request.
 *
 * Buckets are log-linear: the first ends at 2^10 ns, then each power of two has 16, up to 2^42 ns (73 minutes). A
 * bucket's upper bound belongs to it. Nothing here knows Ruby. */
#ifndef CUTTLE_LEDGER_H
#define CUTTLE_LEDGER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cuttle_phase {
	CUTTLE_PHASE_ACCEPT,
	CUTTLE_PHASE_READ,
	CUTTLE_PHASE_QUEUE,
	CUTTLE_PHASE_APP,
	CUTTLE_PHASE_CPU,
	CUTTLE_PHASE_GVL,
	CUTTLE_PHASE_GC,
	CUTTLE_PHASE_WAIT,
	CUTTLE_PHASE_WRITE,
	CUTTLE_PHASE_TOTAL,
	CUTTLE_PHASES,
};

#define CUTTLE_LEDGER_LEAST 10 /* the first bucket ends at this power of two, in nanoseconds */
#define CUTTLE_LEDGER_MOST 42  /* the last but one ends at this one; the last has no end */
#define CUTTLE_LEDGER_PARTS 16 /* buckets of a power of two */
#define CUTTLE_LEDGER_BUCKETS (2 + (CUTTLE_LEDGER_MOST - CUTTLE_LEDGER_LEAST) * CUTTLE_LEDGER_PARTS)

/* The histograms of one writer. */
struct cuttle_ledger {
	alignas(64) _Atomic uint64_t sums[CUTTLE_PHASES]; /* nanoseconds */
	_Atomic uint64_t counts[CUTTLE_PHASES][CUTTLE_LEDGER_BUCKETS];
};

/* One request's phases so far, in nanoseconds. */
struct cuttle_phases {
	uint64_t at[CUTTLE_PHASES];
	uint32_t known; /* which of them are, by bit */
};

/* What a thread spends while it runs the app, in nanoseconds. */
struct cuttle_spent {
	uint64_t cpu; /* time on a CPU, also in a garbage collection */
	uint64_t gvl; /* time that it waited for the GVL */
	uint64_t gc;  /* time in garbage collections of its own */
};

/* What a request's thread spends on it. */
struct cuttle_effort {
	const void *clocks;        /* the thread's, which began to run the app; NULL: no one's */
	struct cuttle_spent began; /* what they showed then */
	struct cuttle_spent spent; /* until the app returned */
	uint8_t reads;             /* which of them are read: bits CUTTLE_PHASE_CPU, GVL and GC */
	uint8_t known;             /* the same bits, once the app has returned */
};

static inline bool cuttle_phase_known(uint32_t set, enum cuttle_phase phase)
{
	return set >> phase & 1;
}

static inline void cuttle_phase_set(struct cuttle_phases *phases, enum cuttle_phase phase, uint64_t nanoseconds)
{
	phases->at[phase] = nanoseconds;
	phases->known |= UINT32_C(1) << phase;
}

/* The time between two readings of a clock by different threads, the second of which may be earlier: then 0. */
static inline uint64_t cuttle_between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* The name of a phase. */
const char *cuttle_phase_name(enum cuttle_phase phase);

/* Splits the app's time, which the phases have, into its parts: the clocks that were read, and the rest as waiting. */
void cuttle_phases_divide(struct cuttle_phases *phases, const struct cuttle_effort *effort);

/* Renders the value of a Server-Timing field (W3C Server Timing, 3) with the phases that are known when a head is made.
 * Returns its length; 0 if none is known. */
#define CUTTLE_TIMING_ROOM 256
size_t cuttle_phases_render(const struct cuttle_phases *phases, char text[CUTTLE_TIMING_ROOM]);

/* Returns the bucket of a time in nanoseconds. */
static inline unsigned cuttle_ledger_bucket(uint64_t nanoseconds)
{
	unsigned power;

	if (nanoseconds <= UINT64_C(1) << CUTTLE_LEDGER_LEAST)
		return 0;
	if (nanoseconds > UINT64_C(1) << CUTTLE_LEDGER_MOST)
		return CUTTLE_LEDGER_BUCKETS - 1;
	nanoseconds--; /* so that a bound belongs to the bucket that it ends */
	power = 63 - (unsigned)__builtin_clzll(nanoseconds);
	return 1 + (power - CUTTLE_LEDGER_LEAST) * CUTTLE_LEDGER_PARTS +
	       ((unsigned)(nanoseconds >> (power - 4)) & (CUTTLE_LEDGER_PARTS - 1));
}

/* Returns the upper bound of a bucket in nanoseconds; UINT64_MAX: it has none. */
uint64_t cuttle_ledger_bound(unsigned bucket);

/* Counts a request. The calling thread is the ledger's writer. */
void cuttle_ledger_add(struct cuttle_ledger *ledger, const struct cuttle_phases *phases);

/* Adds a phase's counts to those in counts. Returns its sum in nanoseconds. Any process may call it. */
uint64_t cuttle_ledger_read(struct cuttle_ledger *ledger, enum cuttle_phase phase,
			    uint64_t counts[CUTTLE_LEDGER_BUCKETS]);

#endif
