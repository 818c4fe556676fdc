/* Waits for single descriptors without the GVL. */
#ifndef RB_CUTTLE_WAIT_H
#define RB_CUTTLE_WAIT_H

#include <poll.h>
#include <stdint.h>

/* Calls poll(2) for at most the given nanoseconds without the GVL. May raise a pending interrupt of this thread.
 * Returns how many descriptors are ready, 0 if the time is up, -1 if it ended before (by a signal). */
int cuttle_poll(struct pollfd *descriptors, nfds_t count, uint64_t nanoseconds);

#endif
