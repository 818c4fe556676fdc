/*
 * Servers for testing the generator: each is one thread on 127.0.0.1 with known faults.
 *
 * Law: a server answers each request (anything that ends with an empty line) with the same octets: immediately, after
 * given delays, or by failing as servers do. It knows no more of HTTP. With delays it records the times that really
 * passed, because timers are late on a busy machine. A client in a closed loop without pipelining waits at least as
 * long as the server held its request, and at most from the answer before the request to the request after it. No Ruby.
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
	MANNER_CLOSE,  /* closes after sending the answer, which may be empty */
	MANNER_RESET,  /* resets the connection */
	MANNER_SILENCE /* never answers */
};

struct server_options {
	enum manner manner;
	const char *answer;
	size_t answer_length;
	const int64_t *delays; /* ns, used in turn; NULL: none */
	size_t delay_count;
	int64_t freeze_at, freeze; /* it freezes for freeze ns, freeze_at ns after the first request; 0: never */
};

/* Times of each delayed request, in ns. A request arrives when the kernel receives it, which is before the server reads
 * it. */
struct server_times {
	struct histogram held;  /* from its arrival until its answer was about to be sent */
	struct histogram cycle; /* from the previous answer to the next request on the connection, or to its end */
};

struct server;

struct server *server_start(const struct server_options *options); /* copies the options; NULL: errno says why */
int server_port(const struct server *server);
uint64_t server_requests(const struct server *server);
void server_copy_times(struct server *server, struct server_times *times); /* so far */
void server_stop(struct server *server);                                   /* and frees the server */

#endif
