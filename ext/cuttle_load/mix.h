/*
 * The requests of a run: their octets, and which one comes next.
 *
 * Law: request number n depends only on the seed and n, so a mix is the same for any number of threads. A mix in order
 * is sent in its order by all threads together if a schedule orders their requests; otherwise each thread sends all of
 * it, in its order. Every thread reads a mix, and none changes it during a run. No Ruby.
 */
#ifndef CUTTLE_LOAD_MIX_H
#define CUTTLE_LOAD_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct script;

/* Octets that belong to another structure. */
struct piece {
	const char *octets;
	size_t length;
};

struct request {
	struct piece whole;
	double weight;               /* cumulative share of the requests, this one included: ascending to 1 */
	int expected;                /* status; 0: any below 400 */
	bool head;                   /* a HEAD request: its response has no body */
	const struct script *script; /* of a plan with sessions; NULL: none */
	size_t entry; /* number of its name, below mix->entries; requests with one name share their figures */
};

struct mix {
	const struct request *requests;
	size_t count, entries;
	uint64_t seed;
	bool in_order; /* in turn instead of by weight */
	size_t turn;   /* in order: so many consecutive numbers, one of each thread, mean the same request; 1 or more */
};

const struct request *mix_draw(const struct mix *mix, uint64_t number);

static inline const struct request *mix_pick(const struct mix *mix, uint64_t number)
{
	return mix->count == 1 ? mix->requests : mix_draw(mix, number);
}

#endif
