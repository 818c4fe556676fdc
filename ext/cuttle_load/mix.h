/*
 * The requests of a run: octets ready to be sent, and which one comes next.
 *
 * Law: request number n is a function of the seed and n alone, so a mix is the same whichever thread sends it and
 * however many there are. Read only while a run lasts; every thread reads. No Ruby.
 */
#ifndef CUTTLE_LOAD_MIX_H
#define CUTTLE_LOAD_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request {
	const char *octets;
	size_t length;
	double weight; /* share of the requests up to this one, itself included: ascending to 1 */
	int expected; /* status, or 0: anything below 400 */
	bool head; /* HEAD: its response has no body */
};

struct mix {
	const struct request *requests;
	size_t count;
	uint64_t seed;
	bool in_order; /* one after the other instead of by weight */
};

const struct request *mix_draw(const struct mix *mix, uint64_t number);

static inline const struct request *mix_pick(const struct mix *mix, uint64_t number)
{
	return mix->count == 1 ? mix->requests : mix_draw(mix, number);
}

#endif
