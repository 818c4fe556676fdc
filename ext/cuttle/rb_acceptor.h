/* The blocking side: what Cuttle::Acceptor and its connections share. */
#ifndef RB_CUTTLE_ACCEPTOR_H
#define RB_CUTTLE_ACCEPTOR_H

#include "rb_source.h"

#include <poll.h>

#define CUTTLE_MOST_LISTENERS 64
#define CUTTLE_FIRST_GRACE ((int64_t)CUTTLE_SECOND) /* least time that a connection has for its first request */

struct cuttle_acceptor {
	struct cuttle_source source;
	struct cuttle_listener listeners[CUTTLE_MOST_LISTENERS];
	int count;
	int stopped[2]; /* a pipe: readable for good once stop was called; -1 in a forked child */
	bool closed;
	struct cuttle_arrival *waiting; /* what the stop has accepted, in order, and nobody has taken; NULL: nothing */
	int waiting_room, waiting_count, waiting_next;
	bool suffers; /* accept failed for lack of descriptors or memory and has not succeeded since */
};

/* Appends the listeners to the descriptors for poll(2). Returns the new count. */
int cuttle_acceptor_listeners(const struct cuttle_acceptor *acceptor, struct pollfd *descriptors, int count);

/* Makes an object without a connection. It is made before accepting, so that nothing can fail in between. */
VALUE cuttle_connection_prepare(struct cuttle_acceptor *acceptor);
/* Gives the object its connection. */
void cuttle_connection_adopt(VALUE self, struct cuttle_connection *connection);

#endif
