/* A connection without Ruby: transport, input, deadlines and the exchange under way, as one state machine.
 *
 *            octets          head, body          next()             finish()
 *   IDLE ----------> HEAD ----------> READY ----------> TAKEN ----------------> DRAIN
 *    ^  \             |  \   BODY  /                                          |  |
 *    |   \            |   broken, late: an error response ----------> DRAIN   |  |
 *    |    `- late: CLOSED                                                     |  |
 *    `--------------------- persists: all octets are out <--------------------'  |
 *                           else: LINGER (peer may still send) or CLOSED <-------'
 *
 * HEAD and BODY are PARSING while a Ruby parser looks at what has come. A connection in BODY whose octets come faster
 * than the disk takes them is *spooling*: it reads nothing until the spooler (spool.h) has reported it. READY goes to
 * DRAIN with a 503 where no thread takes it. A TAKEN connection may be answered for the app (it is stuck then), and
 * still ends by finish().
 *
 * Who runs it: the thread that holds the source's protection, which is the loop's lock for a Poller's connections and
 * the GVL for an Acceptor's. A TAKEN connection reads nothing; the thread that took it adds to its output, and what is
 * queued may be sent by others. A connection in PARSING belongs to the thread that parses. */
#ifndef CUTTLE_CONNECTION_H
#define CUTTLE_CONNECTION_H

#include "backend.h"
#include "exchange.h"
#include "list.h"
#include "scoreboard.h"
#include "transport.h"

#include <stdatomic.h>
#include <stdbool.h>

enum cuttle_state {
	CUTTLE_IDLE,    /* between requests */
	CUTTLE_HEAD,    /* a head has begun */
	CUTTLE_BODY,    /* the head is complete, its body is not */
	CUTTLE_PARSING, /* a Ruby parser has it: as TAKEN, nobody else touches it */
	CUTTLE_READY,   /* a complete request waits for a thread */
	CUTTLE_TAKEN,   /* a thread answers it */
	CUTTLE_DRAIN,   /* the response is complete, but not all of it sent */
	CUTTLE_LINGER,  /* our side is closed; input is thrown away, so that the peer can read our last words */
	CUTTLE_CLOSED,
};

enum cuttle_deadline { /* constant times each, so each is a queue in order of expiry */
	CUTTLE_UNTIL_HEAD,     /* a head is complete: no octet renews it */
	CUTTLE_UNTIL_IDLE,     /* the next request begins */
	CUTTLE_UNTIL_LOOK,     /* a body or a response under way is measured again */
	CUTTLE_UNTIL_LINGERED, /* the peer has read our last words */
	CUTTLE_UNTIL_ASKED,    /* after stop: a connection that has never asked does */
	CUTTLE_UNTIL_DRAINED,  /* after stop: a kept connection asks once more */
	CUTTLE_UNTIL_TAKEN,    /* a thread takes a complete request */
	CUTTLE_UNTIL_BEGUN,    /* the app begins its response */
	CUTTLE_DEADLINES,
};

enum cuttle_step { /* what a connection waits for after a step */
	CUTTLE_STEP_WAIT,     /* its descriptor */
	CUTTLE_STEP_AGAIN,    /* its next turn: there is more to read or send at once */
	CUTTLE_STEP_COMPLETE, /* a thread: it is READY */
	CUTTLE_STEP_UNPARSED, /* a parser that is not the native one */
	CUTTLE_STEP_CLOSE,    /* to be closed */
};

/* What an operator may set; times in nanoseconds. 0 means "no limit", unless it says otherwise. */
struct cuttle_limits {
	uint64_t header_timeout, body_timeout, idle_timeout, write_timeout;
	uint64_t drain_grace;  /* 0: none */
	uint64_t min_rate;     /* octets a second of a body or a response */
	uint64_t max_body;     /* octets */
	uint64_t write_ahead;  /* octets that a response may be ahead of its client; 0: none */
	uint64_t max_requests; /* of one connection */
	uint64_t max_connections;
	uint64_t max_spool;    /* octets in temporary files, of all connections together */
	uint64_t max_queue;    /* complete requests that wait for a thread */
	uint64_t queue_timeout; /* for a thread to take a complete request */
	uint64_t app_timeout;  /* for the app to begin its response */
	bool keep_alive;       /* connections may persist */
	bool drop_half_closed; /* a peer that ended its side is gone */
	bool underscores;      /* fields whose names have an underscore are kept */
};

/* What the connections of one source share. */
struct cuttle_core {
	struct cuttle_limits limits;
	uint64_t timeouts[CUTTLE_DEADLINES]; /* nanoseconds; 0: never */
	bool foreign_parser;                 /* octets are parsed by a Ruby object */
	bool forked;                         /* this is the copy in a child of the app's: nothing here is ours */
	atomic_bool stopping;
	struct cuttle_pool pool;
	struct cuttle_exchange_pool exchanges;
	struct cuttle_link connections, deadlines[CUTTLE_DEADLINES];
	uint32_t open;     /* connections */
	uint64_t shortage; /* when accept failed last for the lack of descriptors or memory, 0: never */
	uint64_t accepted; /* connections */
	uint64_t requests; /* complete ones */
	uint64_t dropped;  /* complete ones whose peers had gone before a thread took them */
	struct cuttle_spool *spool; /* of temporary files */
	uint64_t refused;  /* complete ones that were answered with 503 because too many waited, or they too long */
	uint64_t stuck;    /* complete ones that were answered with 503 because the app did not */
	uint32_t waiting;  /* connections that are READY */
	uint32_t stuck_now; /* connections that were answered for an app which still has their requests, */
	uint32_t untold;    /* and of those, the ones that cuttle_loop_tell_stuck has not told of */
	struct cuttle_scoreboard *scoreboard; /* where other workers see how many are open, NULL: nobody asks */
	unsigned owners;   /* Ruby objects that refer to it: its source, and what holds its connections and exchanges */
	void (*destroy)(struct cuttle_core *core); /* when the last one went */
	void (*fork)(struct cuttle_core *core, enum cuttle_fork when);
	struct cuttle_link living; /* in the list of cores that a fork must find in order */
};

struct cuttle_connection {
	struct cuttle_core *core;
	struct cuttle_transport transport;
	struct cuttle_inbox *inbox;       /* NULL while nothing is buffered */
	struct cuttle_exchange *exchange; /* NULL between requests */
	struct cuttle_link all;   /* core->connections */
	struct cuttle_link work;  /* one of a loop's lists */
	struct cuttle_link timer; /* core->deadlines */
	uint64_t deadline;        /* 0: none */
	uint64_t accepted;        /* nanoseconds on the monotonic clock */
	uint64_t served;          /* requests that were complete */
	uintptr_t address, parser; /* Ruby objects, 0: none yet; the source marks them */
	uintptr_t thread, fiber;   /* Ruby objects: who has a TAKEN one's request; only with an app_timeout */
	uint8_t state, deadline_kind;
	uint8_t parsed_state;     /* what PARSING was before */
	uint8_t step;             /* on the blocking side: what it waits for */
	uint8_t read_wants, write_wants; /* directions that reading and writing wait for (backend.h) */
	bool readable; /* reported, or a read was cut short by the buffer */
	bool hangup;   /* the peer closed: a short read doesn't mean that there is no more */
	bool suspect;  /* the peer may have gone before its request is taken: to be looked at */
	bool eof;      /* the peer's last octet was read */
	bool broken;   /* the descriptor failed, or the peer reads too slowly */
	bool late;     /* its deadline passed while it was PARSING */
	bool refused;  /* an error was answered: what else comes is thrown away */
	bool spooling; /* too much of its body waits for the disk: it reads nothing */
	bool told;     /* it is stuck, and not untold any more */
	atomic_bool stuck; /* TAKEN, and answered for the app: only its end is left to the thread that has it */
};

/* Prepares a core with one owner. fork is called around each fork of the process; in the child, after the connections'
 * descriptors were closed, it may only call what is async-signal-safe. */
void cuttle_core_reset(struct cuttle_core *core, void (*destroy)(struct cuttle_core *core),
		       void (*fork)(struct cuttle_core *core, enum cuttle_fork when));
/* Takes its limits over. Before the first connection. */
void cuttle_core_limit(struct cuttle_core *core, const struct cuttle_limits *limits);
/* How many forks lie between this process and the one that loaded this: what another count was noted for is not ours. */
unsigned cuttle_core_generation(void);
/* One owner less; with the GVL, as objects come and go. */
void cuttle_core_disown(struct cuttle_core *core);

/* A connection on an accepted descriptor, which it owns; NULL without memory (the descriptor is closed then). */
struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, int fd, uint64_t now);

/* Does what can be done without waiting, in any state but READY and PARSING: reads, parses, sends. */
enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now);

/* Its deadline passed. */
enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now);

/* A READY connection is taken by a thread. */
void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now);

/* A READY connection is answered with 503 and Retry-After, and no thread will take it. It goes on afterwards where it
 * was to persist and may_persist. */
enum cuttle_step cuttle_connection_decline(struct cuttle_connection *connection, bool may_persist, uint64_t now);

/* The app begins its response to a TAKEN connection's request. Returns false where it is too late: the request was
 * stuck, and has its answer. */
bool cuttle_connection_begin_response(struct cuttle_connection *connection);

/* A connection that was TAKEN is so no longer. */
void cuttle_connection_let_go(struct cuttle_connection *connection);

/* Whether the peer of a READY connection has gone for good, so that nobody would read a response. */
bool cuttle_connection_gone(const struct cuttle_connection *connection);

/* The response is complete in the outbox or on the wire: goes on to drain, to the next request or to the end. */
enum cuttle_step cuttle_connection_finish(struct cuttle_connection *connection, uint64_t now);

/* Octets of the response are queued: their progress is measured from now on. */
void cuttle_connection_measure_output(struct cuttle_connection *connection, uint64_t now);

/* Hands a connection over to a Ruby parser. What that found: that it needs more octets; a complete head of size octets
 * (inbox->head); consumed octets of a chunked body with the data that they held; or an error with the status to
 * answer. Each of them takes the connection back. */
void cuttle_connection_begin_parsing(struct cuttle_connection *connection);
enum cuttle_step cuttle_connection_unsatisfied(struct cuttle_connection *connection, uint64_t now);
enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now);
enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now);
enum cuttle_step cuttle_connection_refuse(struct cuttle_connection *connection, int status, uint64_t now);

/* Closes the descriptor and gives everything back but the structure itself. */
void cuttle_connection_close(struct cuttle_connection *connection);

/* Gives up the descriptor without closing it, and everything else as cuttle_connection_close does. Returns it, or -1
 * where the transport has none to give. */
int cuttle_connection_release(struct cuttle_connection *connection);

static inline void cuttle_connection_clear_deadline(struct cuttle_connection *connection)
{
	if (connection->deadline) {
		cuttle_list_remove(&connection->timer);
		connection->deadline = 0;
	}
}

/* In place of the one that it has. */
static inline void cuttle_connection_set_deadline(struct cuttle_connection *connection, enum cuttle_deadline kind,
						  uint64_t now)
{
	cuttle_connection_clear_deadline(connection);
	if (!connection->core->timeouts[kind])
		return;
	connection->deadline = now + connection->core->timeouts[kind];
	connection->deadline_kind = (uint8_t)kind;
	cuttle_list_append(&connection->core->deadlines[kind], &connection->timer);
}

#endif
