/* Reads a pattern that Ruby compiled: { prefix:, steps: [[kind, octet, to, other], …], sets: [32 octets, …] }. */
#ifndef CUTTLE_LOAD_RB_PATTERN_H
#define CUTTLE_LOAD_RB_PATTERN_H

#include "pattern.h"
#include <ruby.h>

/* Fills +pattern+, which must be zeroed. Raises ArgumentError; pattern_free then frees what was allocated. */
void pattern_from_ruby(VALUE spec, struct pattern *pattern);
void pattern_free(struct pattern *pattern);

#endif
