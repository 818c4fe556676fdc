/* How fast a core computes just now. */
#ifndef CUTTLE_LOAD_SPEED_H
#define CUTTLE_LOAD_SPEED_H

#include <stdint.h>

/* Computes on that core, in the calling thread, until it has had so many nanoseconds of CPU time. Returns steps per
 * second of CPU time, or -1 where the thread can't go there; afterwards it runs where it may have run before. */
double core_speed(int core, int64_t nanoseconds);

#endif
