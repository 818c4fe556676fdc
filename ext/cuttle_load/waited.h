/*
 * How long a thread was ready to run but waited for a core. The kernel counts that for each thread
 * (/proc/thread-self/schedstat). Linux only; elsewhere it is unknown.
 */
#ifndef CUTTLE_LOAD_WAITED_H
#define CUTTLE_LOAD_WAITED_H

#include <stdint.h>

/* Returns a descriptor for waited_so_far that counts the calling thread, or -1. */
int waited_open(void);

/* Returns the nanoseconds that the thread has waited since its start, or -1 if that is unknown. */
int64_t waited_so_far(int descriptor);

#endif
