/* A connection without Ruby: transport, input, deadlines and the current exchange, as one state machine.
 *
 *            octets          head, body          next()             finish()
 *   IDLE ----------> HEAD ----------> READY ----------> TAKEN ----------------> DRAIN
 *    ^  \             |  \   BODY  /                                          |  |
 *    |   \            |   broken, late: an error response ----------> DRAIN   |  |
 *    |    `- late: CLOSED                                                     |  |
 *    `--------------------- persists: all octets are out <--------------------'  |
 *                           else: LINGER (peer may still send) or CLOSED <-------'
 *
 * HEAD and BODY become PARSING while a Ruby parser reads what has arrived. In BODY, a connection whose octets arrive
 * faster than the disk takes them is *spooling*: it reads nothing until the spooler (spool.h) reports it. READY goes to
 * DRAIN with a 503 if no thread takes the request. The loop may answer a TAKEN connection for the app, which is then
 * stuck; the connection still ends by finish().
 *
 * The thread that holds the source's protection runs the connection: the loop's lock for a Poller, the GVL for an
 * Acceptor. A TAKEN connection reads nothing. The thread that took it adds to its output; other threads may send what
 * is queued. A PARSING connection belongs to the thread that parses. */
#ifndef CUTTLE_CONNECTION_H
#define CUTTLE_CONNECTION_H

#include "backend.h"
#include "exchange.h"
#include "hijacked.h"
#include "list.h"
#include "peer.h"
#include "proxy_header.h"
#include "references.h"
#include "relay.h"
#include "scoreboard.h"
#include "transport.h"

#include <stdatomic.h>
#include <stdbool.h>

enum cuttle_state {
	CUTTLE_IDLE,    /* between requests */
	CUTTLE_HEAD,    /* a head has begun to arrive */
	CUTTLE_BODY,    /* the head is complete, its body is not */
	CUTTLE_PARSING, /* a Ruby parser has it; like TAKEN, nobody else touches it */
	CUTTLE_READY,   /* a complete request waits for a thread */
	CUTTLE_TAKEN,   /* a thread is answering it */
	CUTTLE_DRAIN,   /* the response is complete, but not yet sent in full */
	CUTTLE_LINGER,  /* our side is closed; input is discarded so that the peer can read our last octets */
	CUTTLE_CLOSED,
};

/* Each kind has a constant time, so each is a queue in order of expiry. */
enum cuttle_deadline {
	CUTTLE_UNTIL_HEAD,     /* for a complete head; further octets don't extend it */
	CUTTLE_UNTIL_IDLE,     /* for the next request to begin */
	CUTTLE_UNTIL_LOOK,     /* for the next measurement of a body or a response in transfer */
	CUTTLE_UNTIL_LINGERED, /* for the peer to read our last octets */
	CUTTLE_UNTIL_ASKED,    /* after stop: for the first request on a new connection */
	CUTTLE_UNTIL_DRAINED,  /* after stop: for one more request on a kept connection */
	CUTTLE_UNTIL_TAKEN,    /* for a thread to take a complete request */
	CUTTLE_UNTIL_BEGUN,    /* for the app to begin its response */
	CUTTLE_DEADLINES,
};

/* What a connection waits for after a step. */
enum cuttle_step {
	CUTTLE_STEP_WAIT,     /* for its descriptor */
	CUTTLE_STEP_AGAIN,    /* for its next turn: there is more to read or send at once */
	CUTTLE_STEP_COMPLETE, /* for a thread: it is READY */
	CUTTLE_STEP_UNPARSED, /* for a Ruby parser */
	CUTTLE_STEP_CLOSE,    /* to be closed */
};

/* What an operator may set. Times are in nanoseconds. 0 means "no limit" unless stated otherwise. */
struct cuttle_limits {
	uint64_t header_timeout, body_timeout, idle_timeout, write_timeout;
	uint64_t drain_grace;  /* 0: none */
	uint64_t min_rate;     /* octets per second of a body or a response */
	uint64_t max_body;     /* octets */
	uint64_t write_ahead;  /* octets that a response may be ahead of its client; 0: none */
	uint64_t max_requests; /* on one connection */
	uint64_t max_connections;
	uint64_t max_spool;     /* octets in the temporary files of all connections */
	uint64_t max_queue;     /* complete requests waiting for a thread */
	uint64_t queue_timeout; /* for a thread to take a complete request */
	uint64_t app_timeout;   /* for the app to begin its response */
	bool keep_alive;        /* connections may persist */
	bool drop_half_closed;  /* a peer that shut down its sending side counts as gone */
	bool underscores;       /* fields with an underscore in their name are kept */
	bool early_hints;       /* apps may send them; see rack.early_hints in rb_env.c */
	bool server_timing;     /* responses say where the time of their requests went */
};

/* What all connections of one source share. */
struct cuttle_core {
	struct cuttle_loop *loop; /* which this core is part of; NULL on the blocking side */
	void *source;             /* the Ruby side's structure (rb_source.h), NULL: none */
	struct cuttle_limits limits;
	struct cuttle_trust *trust; /* peers that may say who their clients are; NULL: nobody */
	bool *proxied; /* for each listener: a trusted peer's connection begins with a PROXY header; NULL: at none */
	struct cuttle_security **securities; /* for each listener, NULL for a plain one; NULL: all are plain */
	int security_count;
	uint64_t timeouts[CUTTLE_DEADLINES]; /* nanoseconds; 0: never */
	bool foreign_parser;                 /* a Ruby object parses the octets */
	bool forked;                         /* the copy in a child that the app forked: it owns nothing here */
	atomic_bool stopping;
	atomic_bool leave_backlog; /* at the stop, because other processes go on to accept from the listeners */
	struct cuttle_pool pool;
	struct cuttle_exchange_pool exchanges;
	struct cuttle_link connections, deadlines[CUTTLE_DEADLINES];
	struct cuttle_link referring; /* references of connections to Ruby objects */
	uint32_t open;                /* number of open connections */
	uint64_t shortage;            /* when accept last failed for lack of descriptors or memory, 0: never */
	uint64_t accepted;            /* connections */
	uint64_t requests;            /* complete requests, but for those given to other workers */
	uint64_t dropped;             /* complete requests whose peers had gone before a thread took them */
	struct cuttle_spool *spool;   /* writes temporary files */
	uint64_t refused;   /* complete requests answered with 503 because too many waited, or they waited too long */
	uint64_t stuck;     /* complete requests answered with 503 because the app did not answer */
	uint64_t unproxied; /* connections of trusted peers closed because they had no PROXY header */
	uint64_t unproxied_told;              /* those of them that cuttle_core_tells_unproxied has reported */
	uint64_t unproxied_at;                /* when it last did; 0: never */
	uint32_t waiting;                     /* number of READY connections */
	uint32_t stuck_now;                   /* connections answered for an app that still has their requests */
	uint32_t untold;                      /* those of them that cuttle_loop_tell_stuck has not reported yet */
	struct cuttle_scoreboard *scoreboard; /* shows other workers how many are open; NULL: no one asks */
	struct cuttle_place *place;           /* our own in it */
	struct cuttle_scoreboard *ledgers;    /* the one that has the ledger; NULL: none */
	struct cuttle_ledger *ledger;         /* where the times of requests are counted; NULL: nowhere */
	struct cuttle_hijacked *hijacked;     /* where sockets are noted that the app takes over; NULL: nowhere */
	/* Ruby objects that refer to it: its source, and holders of its connections and exchanges. A ractor may collect
	 * another one's objects. */
	_Atomic unsigned owners;
	void (*destroy)(struct cuttle_core *core); /* called when the last owner has gone */
	void (*fork)(struct cuttle_core *core, enum cuttle_fork when);
	struct cuttle_link living; /* in the list of cores that a fork must bring to rest */
};

/* Whether the core was stopped or is about to be: connections then end as soon as they may. */
static inline bool cuttle_core_ending(const struct cuttle_core *core)
{
	return atomic_load_explicit(&core->stopping, memory_order_relaxed) ||
	       (core->scoreboard && atomic_load_explicit(&core->scoreboard->shared->ending, memory_order_relaxed));
}

struct cuttle_connection {
	struct cuttle_core *core;
	struct cuttle_transport transport;
	struct cuttle_inbox *inbox;           /* NULL while nothing is buffered */
	struct cuttle_exchange *exchange;     /* NULL between requests */
	struct cuttle_link all;               /* core->connections */
	struct cuttle_link work;              /* one of a loop's lists */
	struct cuttle_link timer;             /* core->deadlines */
	uint64_t deadline;                    /* 0: none */
	uint64_t accepted;                    /* nanoseconds on the monotonic clock */
	uint64_t served;                      /* complete requests so far */
	uint64_t backlog;                     /* nanoseconds that it waited to be accepted, if timed is set */
	struct cuttle_references *references; /* to Ruby objects; NULL: none. An idle one has facts at most */
	struct cuttle_security *security;     /* which begins after the PROXY header that is due; NULL: none does */
	struct cuttle_peer client;            /* the peer, or the client that a PROXY header named */
	uint8_t state, deadline_kind;
	uint8_t parsed_state;            /* the state before PARSING */
	uint8_t step;                    /* on the blocking side: what it waits for */
	uint8_t read_wants, write_wants; /* directions that reading and writing wait for (backend.h) */
	bool readable;                   /* the descriptor was reported, or the buffer cut a read short */
	bool hangup;                     /* the peer closed: a short read doesn't mean that the input is used up */
	bool suspect;                    /* the peer may have gone: check before its request is taken */
	bool eof;                        /* the peer's last octet was read */
	bool broken;                     /* the descriptor failed, or the peer reads too slowly */
	bool late;                       /* its deadline passed before or during PARSING */
	bool refused;                    /* an error was answered: further input is discarded */
	bool spooling;                   /* too much of its body waits for the disk: it reads nothing */
	bool told;                       /* its stuck request has been reported */
	bool trusted;      /* the peer, or the client that it named, may say in its requests who its client is */
	bool proxy_due;    /* it has to begin with a PROXY header, which is not complete */
	bool secure;       /* a PROXY header said that the client speaks TLS with the proxy, or the transport is */
	bool secured;      /* the transport is */
	bool parting;      /* all octets are out, but for the transport's farewell */
	bool timed;        /* the system says how long it waited to be accepted */
	bool watched;      /* by the loop's back end */
	atomic_bool stuck; /* TAKEN and answered for the app: its thread can only end it */
};

/* Prepares a core with one owner. fork is called around each fork of the process. In the child it is called after the
 * connections' descriptors were closed, and must be async-signal-safe. */
void cuttle_core_reset(struct cuttle_core *core, void (*destroy)(struct cuttle_core *core),
		       void (*fork)(struct cuttle_core *core, enum cuttle_fork when));
/* Sets the core's limits. Call it before the first connection. */
void cuttle_core_limit(struct cuttle_core *core, const struct cuttle_limits *limits);
/* Returns how many forks lie between this process and the one that loaded this library. State recorded under another
 * number belongs to another process. */
unsigned cuttle_core_generation(void);
/* Removes one owner. */
void cuttle_core_disown(struct cuttle_core *core);
/* Whether it is time to report that connections were closed for want of a PROXY header. */
bool cuttle_core_owes_unproxied(const struct cuttle_core *core, uint64_t now);
/* The same. If true, they count as reported. */
bool cuttle_core_tells_unproxied(struct cuttle_core *core, uint64_t now);
/* Sums up what cores with places in the scoreboard have counted in this process. add does that for one of them. */
void cuttle_core_total(const struct cuttle_scoreboard *scoreboard, struct cuttle_counts *counts,
		       void (*add)(struct cuttle_core *core, struct cuttle_counts *counts));

/* An accepted connection: its descriptor, the index of its listener, and its peer. */
struct cuttle_arrival {
	int fd, listener;
	struct cuttle_peer peer;
};

/* Opens a connection that owns the arrival's descriptor. If out of memory, closes the descriptor and returns NULL. */
struct cuttle_connection *cuttle_connection_open(struct cuttle_core *core, const struct cuttle_arrival *arrival,
						 uint64_t now);

/* Opens a connection that another process gave away, with the octets of its request. Takes the descriptor as
 * cuttle_connection_open does. */
struct cuttle_connection *cuttle_connection_unpack(struct cuttle_core *core, int fd, const struct cuttle_parcel *parcel,
						   const char *octets, uint64_t now);
/* Goes on after that: parses the request. Returns what the connection waits for. */
enum cuttle_step cuttle_connection_settle(struct cuttle_connection *connection, const struct cuttle_parcel *parcel,
					  uint64_t now);

/* Whether a READY connection can go to another process: all that belongs to it is in the parcel. Fills the parcel, and
 * parts with where the octets are that go with it. */
bool cuttle_connection_pack(const struct cuttle_connection *connection, struct cuttle_parcel *parcel,
			    struct iovec parts[CUTTLE_PARCEL_PARTS]);

/* Does what it can without waiting: reads, parses, sends. Allowed in any state but READY and PARSING. */
enum cuttle_step cuttle_connection_step(struct cuttle_connection *connection, uint64_t now);

/* Handles a deadline that has passed. Octets that came but were not read yet are read first, and count as in time. */
enum cuttle_step cuttle_connection_expire(struct cuttle_connection *connection, uint64_t now);

/* Makes a READY connection TAKEN by the calling thread. */
void cuttle_connection_take(struct cuttle_connection *connection, uint64_t now);

/* Answers a READY connection with 503 and Retry-After instead of giving it to a thread. Afterwards it persists if the
 * request allows it and may_persist is set. */
enum cuttle_step cuttle_connection_decline(struct cuttle_connection *connection, bool may_persist, uint64_t now);

/* Begins the app's response to a TAKEN connection's request. Returns false if it is too late: the request was stuck and
 * has been answered. */
bool cuttle_connection_begin_response(struct cuttle_connection *connection);

/* Clears what a connection kept while it was TAKEN, and forgets who had it. */
void cuttle_connection_let_go(struct cuttle_connection *connection);

/* Whether the peer of a READY connection has gone for good, so that nobody would read a response. */
bool cuttle_connection_gone(const struct cuttle_connection *connection);

/* Ends a response that is complete, in the outbox or on the wire. The connection drains, goes on to the next request,
 * or closes. */
enum cuttle_step cuttle_connection_finish(struct cuttle_connection *connection, uint64_t now);

/* Starts to measure the response's progress, as octets are queued. */
void cuttle_connection_measure_output(struct cuttle_connection *connection, uint64_t now);

/* Hands a connection to a Ruby parser. One of the other functions takes it back with the parser's result: it needs more
 * octets; it has a complete head of size octets (in inbox->head); it consumed octets of a chunked body and decoded
 * data; or it failed with the status to answer. */
void cuttle_connection_begin_parsing(struct cuttle_connection *connection);
enum cuttle_step cuttle_connection_unsatisfied(struct cuttle_connection *connection, uint64_t now);
enum cuttle_step cuttle_connection_head_parsed(struct cuttle_connection *connection, uint32_t size, uint64_t now);
enum cuttle_step cuttle_connection_body_parsed(struct cuttle_connection *connection, uint32_t consumed,
					       const char *data, size_t length, bool done, uint64_t now);
enum cuttle_step cuttle_connection_refuse(struct cuttle_connection *connection, int status, uint64_t now);

/* Closes the descriptor and releases everything except the structure itself. */
void cuttle_connection_close(struct cuttle_connection *connection);

/* Like cuttle_connection_close, but gives the descriptor up without closing it. Returns it, or -1 if the transport has
 * none to give. */
int cuttle_connection_release(struct cuttle_connection *connection);

static inline void cuttle_connection_clear_deadline(struct cuttle_connection *connection)
{
	if (connection->deadline) {
		cuttle_list_remove(&connection->timer);
		connection->deadline = 0;
	}
}

/* Replaces the connection's deadline. */
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

/* A Ruby object that the connection refers to, 0: none. */
static inline uintptr_t cuttle_connection_reference(const struct cuttle_connection *connection,
						    enum cuttle_reference which)
{
	return connection->references ? connection->references->objects[which] : 0;
}

#endif
