/* Tunnels: hijacked connections whose transport is secured, so that their descriptors don't carry the app's octets. The
 * app gets one end of a pair of sockets. A native thread, which all tunnels of the process share, moves octets between
 * the other end and the transport. It never takes the GVL.
 *
 *   app <--> its end | our end <-- the pump: encrypts, decrypts --> transport <--> client
 *
 * The end of one side reaches the other in order: a client's farewell is the end of the app's input, and an app that
 * closes its end says farewell to the client once everything is sent. */
#ifndef CUTTLE_TUNNEL_H
#define CUTTLE_TUNNEL_H

#include "spool.h"
#include "transport.h"

/* Takes a transport over and returns the app's end, which is non-blocking. Returns -1 with errno, and leaves the
 * transport as it is, if there are no descriptors, no memory or no thread. May be called under a loop's lock. */
int cuttle_tunnel_open(struct cuttle_transport *transport);

/* Ends the tunnels of a process that exits. What apps have written is sent first, for at most the given nanoseconds. */
void cuttle_tunnels_close(uint64_t nanoseconds);

/* Called around a fork, after the cores have come to rest. The child closes its copies of all descriptors. */
void cuttle_tunnels_fork(enum cuttle_fork when);

#endif
