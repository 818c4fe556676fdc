/*
 * A run's plan, which all threads follow. Ruby makes it before the threads start. While they run it is read-only,
 * except for the number of requests left and the order to stop.
 */
#ifndef CUTTLE_LOAD_PLAN_H
#define CUTTLE_LOAD_PLAN_H

#include "mix.h"
#include "schedule.h"
#include "session.h"
#include <stdatomic.h>
#include <sys/socket.h>

struct tls;

struct plan {
	struct sockaddr_storage address;
	socklen_t address_length;
	struct tls *tls; /* NULL: plain connections */

	struct mix mix;
	struct session_rules sessions;
	struct shape shape, warm_shape; /* of arrivals; unused in a closed loop */
	bool open;                      /* open loop: requests have intended times */
	bool keep_alive;
	size_t threads, connections; /* connections of all threads; in an open loop, the maximum */
	size_t pipeline;
	size_t part, parts; /* number of this generator's first thread; threads of all generators of the run */
	uint64_t seed;

	int64_t warmup, duration; /* ns; duration NEVER: until all requests are sent */
	int64_t timeout, think;
	int64_t slow_octets, slow_tick; /* a slow reader takes slow_octets each slow_tick ns; 0: reads at once */

	int64_t begin, measure, end; /* when to send, to measure, to stop sending; monotonic clock, set at the start */
	_Atomic int64_t left;        /* requests that may still be sent, if limited */
	bool limited;                /* left applies */
	atomic_bool stop;
};

#endif
