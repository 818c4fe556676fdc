/* Inputs with the verdict that they must get: the units' expectations, and what the fuzzer begins to mutate from. */
#ifndef CUTTLE_FUZZ_CASES_H
#define CUTTLE_FUZZ_CASES_H

#include <stddef.h>

struct head_case {
	const char *octets;
	size_t length;
	int verdict; /* as cuttle_parse_head returns it */
};

struct chunk_case {
	const char *octets;
	size_t length;
	int verdict; /* as cuttle_parse_chunks returns it in the end */
	const char *data;
};

extern const struct head_case head_cases[];
extern const size_t head_case_count;
extern const struct chunk_case chunk_cases[];
extern const size_t chunk_case_count;

/* What mutations put in. */
extern const struct word {
	const char *octets;
	size_t length;
} words[];
extern const size_t word_count;

#endif
