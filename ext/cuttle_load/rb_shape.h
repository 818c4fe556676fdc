/* Arrival shapes from Ruby: { segments: [[seconds or nil, from, to], …], times: [seconds, …] or nil, poisson: }. */
#ifndef CUTTLE_LOAD_RB_SHAPE_H
#define CUTTLE_LOAD_RB_SHAPE_H

#include "schedule.h"
#include <ruby.h>

void shape_from_ruby(VALUE spec, struct shape *shape); /* raises; +shape+ must be zeroed */
void shape_free(struct shape *shape);

#endif
