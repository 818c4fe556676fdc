/* Waiting for single descriptors without the GVL. */
#ifndef RB_CUTTLE_WAIT_H
#define RB_CUTTLE_WAIT_H

#include <poll.h>
#include <stdint.h>

/* poll(2) for nanoseconds at most, without the GVL; may raise what Ruby has for this thread. Returns how many
 * descriptors are ready, 0 when the time is over or a signal came. */
int cuttle_poll(struct pollfd *descriptors, nfds_t count, uint64_t nanoseconds);

#endif
