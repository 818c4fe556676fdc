/* What every fuzz target needs: inputs cut into pieces, blocks of just their size, and a way to say what was not kept.
 *
 * A target gives each piece of its input in a heap block of just its size, so that AddressSanitizer sees an octet read
 * beyond what there is, and a pointer kept from one call to the next. A violated property is printed with its input,
 * and ends the program. */
#ifndef CUTTLE_FUZZ_CHECK_H
#define CUTTLE_FUZZ_CHECK_H

#include <parser.h>

struct input {
	const char *octets;
	size_t length;
};

/* How an input is cut: pieces of one size, or of random ones up to it. */
struct cuts {
	size_t first; /* size of the first piece, 0: as the others */
	size_t size;
	uint32_t random; /* 0: all of one size */
};

/* Ends the program, with the property's name and the input, where the property is not kept. */
void check_demand(bool kept, const char *property, struct input input);

/* A block that holds just these octets; the caller frees it. */
char *check_copy(const char *octets, size_t length);

/* Where the piece that begins at ends. */
size_t check_next_cut(struct cuts *cuts, size_t at, size_t length);

/* Whether the slice lies within size octets. */
bool check_inside(struct cuttle_slice slice, size_t size);

/* The next of a series of numbers below limit; state is its own, and not 0. */
uint32_t check_random(uint32_t *state, uint32_t limit);

/* A number that depends on all the octets and is not 0. */
uint32_t check_hash(const char *octets, size_t length);

/* Octets as one may paste them into a C or Ruby string. */
void check_print(const char *octets, size_t length);

#endif
