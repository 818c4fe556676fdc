/* Cuttle::Exchange: one request and its response, as Ruby sees them.
 *
 * It belongs to the thread (or fiber) that got it from next or next_request until its response is finished. Then it is
 * over: it answers questions about the past, and everything else raises. */
#ifndef RB_CUTTLE_EXCHANGE_H
#define RB_CUTTLE_EXCHANGE_H

#include "rb_source.h"

/* What only some exchanges need. */
struct cuttle_extras {
	VALUE input;                              /* the request body's IO, nil without one */
	VALUE text;                               /* a response's head that has not been sent; nil: none */
	VALUE address;                            /* the client's, nil without a record */
	struct cuttle_spool *spool;               /* the spool that is charged for the input's file; NULL: none */
	uint64_t charged;                         /* octets */
	uint64_t bytes_sent, times[CUTTLE_TIMES]; /* the record: what the exchange reports once it is over */
	bool recorded;                            /* someone asked for the record */
};

/* Each request costs one of these. With at most 48 octets it fits the second smallest slot of Ruby's heap (80 octets).
 * A third object per request among the slots of 160 made the collector run nearly twice as often. What only a live
 * exchange needs is in struct cuttle_exchange. */
struct cuttle_held {
	struct cuttle_exchange *live; /* NULL: over, or not begun. A live one makes this object an owner of the core */
	VALUE self;                   /* the object around this; not marked */
	VALUE owner;                  /* keeps source and connection alive: a Poller or a Connection */
	VALUE env;                    /* nil until it is asked for */
	struct cuttle_extras *extras; /* NULL: none needed so far */
	unsigned generation;          /* of the process that handed it out (core.c) */
	int16_t status;               /* of the final response; 0 before it begins */
	bool head_request;
	bool given_away; /* the app has its socket */
};

static_assert(sizeof(struct cuttle_held) <= 48, "an exchange's object needs a larger slot");

extern VALUE cuttle_exchange_class;

/* Makes an object without an exchange. It is made before a request is taken, so that nothing can fail in between. */
VALUE cuttle_exchange_prepare(void);
/* Gives the object a TAKEN connection's exchange. */
void cuttle_exchange_hold(VALUE self, struct cuttle_source *source, VALUE owner, struct cuttle_exchange *exchange);

struct cuttle_held *cuttle_held_of(VALUE exchange);
/* Returns the extras, which it makes if there are none. May run the collector; raises NoMemoryError. */
struct cuttle_extras *cuttle_held_extras(struct cuttle_held *held);
/* The same for a live exchange. Raises IOError if it is over or was answered because it was stuck. */
struct cuttle_held *cuttle_held_live(VALUE exchange);
/* Begins the app's response, or its use of the socket. Nobody answers for the app after this. Raises IOError if the
 * request was answered already. */
void cuttle_held_begin(struct cuttle_held *held);
/* Whether a live exchange was answered because it was stuck in the app. Its contents stay until cuttle_held_leave. */
bool cuttle_held_stuck(const struct cuttle_held *held);

/* Whether the response has begun, and its head has not been sent. */
static inline bool cuttle_held_unsent(const struct cuttle_held *held)
{
	return held->extras && !NIL_P(held->extras->text);
}

/* Ends the response. The connection goes on to the next request, or closes if the response is incomplete. */
void cuttle_held_leave(struct cuttle_held *held, bool complete);
/* Sends a whole response, which cuttle_held_begin has claimed, and ends it. parts and objects are as for
 * cuttle_exchange_send. */
void cuttle_held_send_all(struct cuttle_held *held, struct iovec *parts, const uintptr_t *objects, int count);
/* Closes the request's input once the exchange is over. */
void cuttle_held_dispose(struct cuttle_held *held);
/* Ends the exchange and gives its socket away: returns the descriptor, which is the caller's then; -1 without
 * descriptors or memory. websocket: whether a WebSocket is spoken there from now on. */
int cuttle_held_release(struct cuttle_held *held, bool websocket);

/* The core of a live exchange. */
static inline struct cuttle_core *cuttle_held_core(const struct cuttle_held *held)
{
	return held->live->connection->core;
}

/* Takes the loop's lock, if there is a loop. The exchange must be live, also when the lock is given back. */
static inline void cuttle_held_lock(const struct cuttle_held *held)
{
	struct cuttle_loop *loop = cuttle_held_core(held)->loop;

	if (loop)
		pthread_mutex_lock(&loop->lock);
}

static inline void cuttle_held_unlock(const struct cuttle_held *held)
{
	struct cuttle_loop *loop = cuttle_held_core(held)->loop;

	if (loop)
		pthread_mutex_unlock(&loop->lock);
}

/* Makes the Hash that the env of each of the source's requests starts from: env, which the server gives, after the
 * entries that every request has. The source's limits must be known. */
VALUE cuttle_env_model(const struct cuttle_source *source, VALUE env);
/* Makes the Rack env of a live exchange's request. */
VALUE cuttle_env(struct cuttle_held *held);
/* Whether the app asked for calls after the response (rack.response_finished, rack.after_reply). */
bool cuttle_env_has_callbacks(const struct cuttle_held *held);

/* Returns the IP address of a live exchange's client, a frozen String: that of the peer, or the one that a trusted
 * proxy names. 127.0.0.1 on a Unix socket. */
VALUE cuttle_client_address(struct cuttle_held *held);
/* Whether a trusted proxy says that the client speaks TLS with it. */
bool cuttle_client_secure(const struct cuttle_exchange *exchange);
/* Whether the app must not see a field of this name: only a proxy may say who its client is, if any is trusted, and
 * never in a name with an underscore. */
bool cuttle_client_hides(const struct cuttle_exchange *exchange, const char *name, size_t length);

/* How long the app waits for a client that reads nothing, in nanoseconds. */
static inline uint64_t cuttle_held_patience(const struct cuttle_held *held)
{
	uint64_t timeout = cuttle_held_core(held)->limits.write_timeout;

	return timeout ? timeout : CUTTLE_FOREVER;
}

/* Waits without the GVL (or in the fiber scheduler) until the exchange's descriptor is ready for output, at most the
 * given nanoseconds. Returns false on timeout. The exchange may be over afterwards. */
bool cuttle_wait_writable(const struct cuttle_held *held, uint64_t nanoseconds);
/* Waits like cuttle_wait_writable until the client reads or, if too much is in memory, until octets have moved from
 * memory to the disk. */
bool cuttle_wait_for_outbox(struct cuttle_held *held, uint64_t nanoseconds);

#endif
