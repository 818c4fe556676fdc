/*
 * A run's plan: what every thread does. Made by Ruby before the threads start, read only while they run, except the
 * requests left to send and the order to stop.
 */
#ifndef CUTTLE_LOAD_PLAN_H
#define CUTTLE_LOAD_PLAN_H

#include "mix.h"
#include "schedule.h"
#include <stdatomic.h>
#include <sys/socket.h>

struct tls;

struct plan {
	struct sockaddr_storage address;
	socklen_t address_length;
	struct tls *tls; /* NULL for plain connections */

	struct mix mix;
	struct shape shape, warm_shape; /* of arrivals; not used in a closed loop */
	bool open; /* an open loop: requests have intended times */
	bool keep_alive;
	size_t threads, connections; /* connections: of all threads; in an open loop the most there may be */
	size_t pipeline;
	size_t part, parts; /* this generator's first thread, and the threads of all generators of the run */
	uint64_t seed;

	int64_t warmup, duration; /* ns; duration NEVER: until the requests are sent */
	int64_t timeout, think;
	int64_t slow_octets, slow_tick; /* a slow reader takes slow_octets every slow_tick ns; 0: reads at once */

	int64_t begin, measure, end; /* set at the start, on the monotonic clock: sending, measuring, no more sending */
	_Atomic int64_t left; /* requests that may still be sent; with -n */
	bool limited; /* left counts */
	atomic_bool stop;
};

#endif
