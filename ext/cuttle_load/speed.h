/* The present speed of a core. */
#ifndef CUTTLE_LOAD_SPEED_H
#define CUTTLE_LOAD_SPEED_H

#include <stdint.h>

/* Computes on that core, in the calling thread, for the given nanoseconds of CPU time. Returns steps per second of CPU
 * time, or -1 if the thread may not run there. Restores the thread's affinity. */
double core_speed(int core, int64_t nanoseconds);

#endif
