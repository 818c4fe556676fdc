/* A round of loop_threads.c: one loop or two, with threads and clients, from the first connection to the last. */
#ifndef CUTTLE_LOOP_ROUND_H
#define CUTTLE_LOOP_ROUND_H

#include "loop_poller.h"

#define MOST_CONNECTIONS 65536 /* of a round */
#define MOST_POLLERS 2
#ifndef HANG
#define HANG 30 /* seconds without an answer */
#endif

struct round {
	struct poller pollers[MOST_POLLERS];
	int poller_count;
	int listeners[2];
	uint16_t port;                       /* of the first */
	char name[32];                       /* of the second, an abstract unix socket */
	bool lenient;                        /* timeouts are so short that an honest client may be sent away */
	bool graceful;                       /* a connection that was kept may still ask after stop */
	atomic_bool closing;                 /* clients end what they have begun, and no more */
	atomic_bool stopped;                 /* what is sent from now on may find nobody */
	atomic_uint next;                    /* connection */
	atomic_uint *taken;                  /* by connection: its requests that reached the app */
	atomic_ullong asked, answered, left; /* requests; left: whose clients went away on purpose */
};

struct client {
	struct round *round;
	pthread_t thread;
	uint32_t random;
};

/* A client's thread: connections, one after the other, until the round stops. */
void *client_run(void *client);

/* The octet at that place of the answer to a request. */
static inline char round_octet(unsigned connection, unsigned sequence, size_t at)
{
	return (char)('a' + (connection + sequence + at) % 26);
}

#endif
