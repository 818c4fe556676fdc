/*
 * Servers to test the generator with: one thread each on 127.0.0.1, whose every fault is known.
 *
 * Law: a server answers each request (whatever ends with an empty line) with the same octets: at once, or after delays
 * that are given, or in one of the ways in which servers fail. No HTTP is understood beyond that. No Ruby.
 */
#ifndef CUTTLE_LOAD_SERVER_H
#define CUTTLE_LOAD_SERVER_H

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

struct server;

struct server *server_start(const struct server_options *options); /* copies them; NULL: errno says why */
int server_port(const struct server *server);
uint64_t server_requests(const struct server *server);
void server_stop(struct server *server); /* and frees it */

#endif
