/* A connection without Ruby: descriptor, buffers, parser, body, output and deadlines, as one state machine.
 *
 *            octets          head, body          next()             finish()
 *   IDLE ----------> HEAD ----------> READY ----------> TAKEN ----------------> DRAIN
 *    ^  \             |  \   BODY  /                                          |  |
 *    |   \            |   broken, late: an error response ----------> DRAIN   |  |
 *    |    `- late: CLOSED                                                     |  |
 *    `--------------------- persists: all octets are out <--------------------'  |
 *                           else: LINGER (peer may still send) or CLOSED <-------'
 *
 * Who runs it: whoever holds the source's protection, which is the loop's lock for a Poller's connections and the
 * GVL for an Acceptor's. A TAKEN connection reads nothing; its output belongs to the thread that took it. */
#ifndef CUTTLE_CONNECTION_H
#define CUTTLE_CONNECTION_H

#include "body.h"
#include "clock.h"
#include "inbox.h"
#include "list.h"
#include "outbox.h"
#include "scoreboard.h"
#include "transport.h"

#include <stdatomic.h>
#include <stdbool.h>

enum cuttle_state {
	CUTTLE_IDLE,   /* between requests */
	CUTTLE_HEAD,   /* a head has begun */
	CUTTLE_BODY,   /* the head is complete, its body is not */
	CUTTLE_READY,  /* a complete request waits for a thread */
	CUTTLE_TAKEN,  /* a thread answers it */
	CUTTLE_DRAIN,  /* the response is complete, but not all of it sent */
	CUTTLE_LINGER, /* our side is closed; input is thrown away, so that the peer can read our last words */
	CUTTLE_CLOSED,
};

enum cuttle_deadline { /* constant times each, so each is a queue in order of expiry */
	CUTTLE_UNTIL_REQUEST, /* a request that has begun must be complete; a body renews it as it arrives */
	CUTTLE_UNTIL_IDLE,
	CUTTLE_UNTIL_WRITTEN, /* renewed as the peer reads */
	CUTTLE_UNTIL_LINGERED,
	CUTTLE_DEADLINES,
};

enum cuttle_time { /* when a request passed; nanoseconds on the monotonic clock, 0: not yet */
	CUTTLE_ACCEPTED,
	CUTTLE_FIRST_OCTET,
	CUTTLE_COMPLETE_AT,
	CUTTLE_TAKEN_AT,
	CUTTLE_RETURNED,
	CUTTLE_LAST_OCTET,
	CUTTLE_TIMES,
};

enum cuttle_step { /* what a connection waits for after a step */
	CUTTLE_STEP_WAIT,     /* its descriptor */
	CUTTLE_STEP_AGAIN,    /* its next turn: there is more to read or send at once */
	CUTTLE_STEP_COMPLETE, /* a thread: it is READY */
	CUTTLE_STEP_UNPARSED, /* a parser that is not the native one */
	CUTTLE_STEP_CLOSE,    /* to be closed */
};

/* What the connections of one source share. */
struct cuttle_core {
	uint64_t timeouts[CUTTLE_DEADLINES]; /* nanoseconds */
	bool keep_alive;                     /* connections may persist */
	bool foreign_parser;                 /* octets are parsed by a Ruby object */
	atomic_bool stopping;
	struct cuttle_pool pool;
	struct cuttle_link connections, deadlines[CUTTLE_DEADLINES];
	uint32_t open;     /* connections */
	uint64_t accepted; /* connections */
	uint64_t requests; /* complete ones */
	struct cuttle_scoreboard *scoreboard; /* where other workers see how many are open, NULL: nobody asks */
	unsigned owners;   /* Ruby objects that refer to it: its source, and its connections' */
	void (*destroy)(struct cuttle_core *core); /* when the last one went */
};

struct cuttle_connection {
	struct cuttle_core *core;
	const struct cuttle_transport *transport;
	struct cuttle_inbox *inbox; /* NULL while nothing is buffered */
	struct cuttle_body *body;
	struct cuttle_outbox out;
	struct cuttle_link all;   /* core->connections */
	struct cuttle_link work;  /* one of a loop's lists */
	struct cuttle_link timer; /* core->deadlines */
	uint64_t deadline;        /* 0: none */
	uint64_t body_left;
	uint64_t bytes_sent; /* of the present response */
	uint64_t times[CUTTLE_TIMES];
	void *object; /* the Ruby object, NULL: none yet */
	int fd;
	uint32_t head_size; /* octets of the request's head, 0 until it is complete */
	uint8_t state, deadline_kind;
	bool readable;   /* reported, or a read was cut short by the buffer */
	bool hangup;     /* the peer closed: a short read doesn't mean that there is no more */
	bool eof;        /* the peer's last octet was read */
	bool keep_alive; /* goes on after this response */
	bool broken;     /* the descriptor failed */
};

/* Prepares a core with one owner. */
void cuttle_core_reset(struct cuttle_core *core, void (*destroy)(struct cuttle_core *core));
/* One owner less; with the GVL, as objects come and go. */
void cuttle_core_disown(struct cuttle_core *core);

/* A connection on an accepted descriptor, which it owns; NULL without memory (the descriptor is closed then). */
struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, int fd, uint64_t now);

/* Does what can be done without waiting, in any state but READY and TAKEN: reads, parses, sends, times nothing out. */
enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now);

/* Its deadline passed. */
enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now);

/* A READY connection is taken by a thread. */
void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now);

/* The response is complete in the outbox or on the wire: goes on to drain, to the next request or to the end. */
enum cuttle_step cuttle_connection_finish(struct cuttle_connection *connection, uint64_t now);

/* What a foreign parser found: that it needs more octets; a complete head of size octets (inbox->head), or count octets of a chunked body
 * consumed with the data that they held, or an error with the status to answer. */
enum cuttle_step cuttle_connection_hungry(struct cuttle_connection *connection, uint64_t now);
enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now);
enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now);
enum cuttle_step cuttle_connection_fail(struct cuttle_connection *connection, int status, uint64_t now);

/* Sends parts now as far as the peer takes them, and queues copies of the rest. Returns 0, or -1 when the descriptor
 * failed or the rest could not be kept. */
int cuttle_connection_send(struct cuttle_connection *connection, struct iovec *parts, int count);

/* Closes the descriptor and gives everything back but the structure itself. */
void cuttle_connection_close(struct cuttle_connection *connection);

/* Lets go of the descriptor without closing it. Returns it. */
int cuttle_connection_release(struct cuttle_connection *connection);

void cuttle_connection_set_deadline(struct cuttle_connection *connection, enum cuttle_deadline kind, uint64_t now);
void cuttle_connection_clear_deadline(struct cuttle_connection *connection);

#endif
