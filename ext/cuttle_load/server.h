/*
 * Servers to test the generator with: one thread each on 127.0.0.1, whose every fault is known.
 *
 * Law: a server answers each request (whatever ends with an empty line) with the same octets: at once, or after delays
 * that are given, or in one of the ways in which servers fail. No HTTP is understood beyond that. With delays it keeps
 * what really happened, for timers are late on a busy machine. What a client in a closed loop without pipelining waits is
 * at least what its request was held, and at most what lies between the answer before and the request after it. No Ruby.
 */
#ifndef CUTTLE_LOAD_SERVER_H
#define CUTTLE_LOAD_SERVER_H

#include "histogram.h"
#include "wait.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum manner {
	MANNER_ANSWER, /* sends the answer */
	MANNER_CLOSE, /* closes after it sent the answer, which may be empty */
	MANNER_RESET, /* resets the connection */
	MANNER_SILENCE /* never answers */
};

struct server_options {
	enum manner manner;
	const char *answer;
	size_t answer_length;
	const int64_t *delays; /* ns, one after the other; NULL: none */
	size_t delay_count;
	int64_t freeze_at, freeze; /* stands still for freeze ns, freeze_at ns after the first request; 0: never */
};

/* Of each request that was delayed, in ns. Requests come when the kernel has them, which is before they are read. */
struct server_times {
	struct histogram held; /* from when it came until its answer was about to be sent */
	struct histogram cycle; /* from the answer before until the next one came on that connection, or its end */
};

struct server;

struct server *server_start(const struct server_options *options); /* copies them; NULL: errno says why */
int server_port(const struct server *server);
uint64_t server_requests(const struct server *server);
void server_copy_times(struct server *server, struct server_times *times); /* up to now */
void server_stop(struct server *server); /* and frees it */

#endif
