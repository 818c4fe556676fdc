/* What is true of the parser for every input, whatever it says of it. A violation is printed with its input, and ends
 * the program.
 *
 * Each time the input lies at the end of a heap block of just its size, and every further piece of it in a new block,
 * so that AddressSanitizer sees an octet read beyond what there is, and a pointer kept from one call to the next. */
#ifndef CUTTLE_FUZZ_CHECK_H
#define CUTTLE_FUZZ_CHECK_H

#include <parser.h>

/* Parses a head, whole and cut into pieces that seed chooses. Returns what cuttle_parse_head does. */
int check_head(const char *octets, size_t length, uint32_t seed);

/* Decodes a chunked body likewise. Returns what cuttle_parse_chunks does in the end. The body goes to data, which
 * has room for length of them; their number to data_length. */
int check_chunks(const char *octets, size_t length, uint32_t seed, char *data, size_t *data_length);

/* The next of a series of numbers below limit; state is its own, and not 0. */
uint32_t check_random(uint32_t *state, uint32_t limit);

/* Octets as one may paste them into a C or Ruby string. */
void check_print(const char *octets, size_t length);

#endif
