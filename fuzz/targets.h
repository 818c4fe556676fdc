/* The fuzz targets in C. rakelib/fuzz.rake lists them; to add one, write NAME.c with fuzz_NAME and add its line there.
 *
 * fuzz_NAME takes any octets at all and ends the program where they break a property; entry.c is what a fuzzer calls.
 * */
#ifndef CUTTLE_FUZZ_TARGETS_H
#define CUTTLE_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

void fuzz_head(const char *octets, size_t length);
void fuzz_chunks(const char *octets, size_t length);
void fuzz_response_head(const char *octets, size_t length);
void fuzz_proxy_header(const char *octets, size_t length);
void fuzz_forwarded(const char *octets, size_t length);

/* The same two with a verdict, for the units.
 *
 * Parses a head, whole and cut into pieces that seed chooses (not 0). Returns what cuttle_parse_head does. */
int check_head(const char *octets, size_t length, uint32_t seed);

/* Decodes a chunked body likewise, and as the reference does. Returns what cuttle_parse_chunks does in the end. The
 * body goes to data, which has room for length octets; their number to data_length. */
int check_chunks(const char *octets, size_t length, uint32_t seed, char *data, size_t *data_length);

#endif
