/* Cuttle::Exchange: one request and its response, as Ruby sees them.
 *
 * It belongs to the thread (or fiber) that got it from next or next_request, until its response is finished. From
 * then on it is over: it answers questions about the past, and everything else raises. */
#ifndef RB_CUTTLE_EXCHANGE_H
#define RB_CUTTLE_EXCHANGE_H

#include "rb_source.h"

struct cuttle_held {
	struct cuttle_exchange *live; /* NULL: it is over, or there is none yet */
	struct cuttle_core *core;     /* NULL without a live exchange, which owns it */
	struct cuttle_loop *loop;     /* NULL on the blocking side */
	struct cuttle_source *source; /* of a live exchange; at Ruby's end it may be gone before this is */
	VALUE self;      /* the object around this; not marked */
	VALUE owner;     /* what keeps source and connection: a Poller, or a Connection */
	VALUE env;       /* nil before it was asked for */
	VALUE input;     /* the request body's IO, nil without one */
	VALUE address;   /* the peer's, nil before env was asked for */
	VALUE text;      /* a response's head that has not left, nil without one */
	struct cuttle_spool *spool; /* where the input's file is charged, NULL: nowhere */
	uint64_t charged; /* octets */
	uint64_t left;   /* octets that the response still owes its Content-Length */
	uint64_t bytes_sent, times[CUTTLE_TIMES]; /* once it is over */
	struct cuttle_chunk_state encoding;
	unsigned generation; /* of the process that it was handed out in (core.c) */
	int status;      /* of the final response, 0 before it has begun */
	bool head_request;
	bool chunked;    /* the response's body goes out in chunks */
	bool measured;   /* the response's body has a known length */
	bool encoded;    /* the app has put its body in chunks itself, which are checked on their way */
	bool encoding_complete;
	bool bodiless;   /* the response has no body, whatever the app gives */
};

extern VALUE cuttle_exchange_class;

/* An object without an exchange, made before one is taken, so that nothing can fail in between. */
VALUE cuttle_exchange_prepare(void);
/* Gives it a TAKEN connection's. */
void cuttle_exchange_hold(VALUE self, struct cuttle_source *source, VALUE owner, struct cuttle_exchange *exchange);

struct cuttle_held *cuttle_held_of(VALUE exchange);
/* The same, with a live exchange; raises IOError where it is over, or was answered because it was stuck. */
struct cuttle_held *cuttle_held_live(VALUE exchange);
/* The app begins its response, or takes the socket: from here on nobody answers for it. Raises IOError where somebody
 * has. */
void cuttle_held_begin(struct cuttle_held *held);
/* Whether a live exchange was answered because it was stuck in the app. What is in it stays until cuttle_held_leave. */
bool cuttle_held_stuck(const struct cuttle_held *held);

/* The response is over: to the next request, or (incomplete) the end of the connection. */
void cuttle_held_leave(struct cuttle_held *held, bool complete);
/* Closes the request's input once the exchange is over. */
void cuttle_held_dispose(struct cuttle_held *held);

/* The loop's lock, where there is a loop. */
static inline void cuttle_held_lock(const struct cuttle_held *held)
{
	if (held->loop)
		pthread_mutex_lock(&held->loop->lock);
}

static inline void cuttle_held_unlock(const struct cuttle_held *held)
{
	if (held->loop)
		pthread_mutex_unlock(&held->loop->lock);
}

/* What a source's requests begin as: env, which a server gives, behind the entries that each request has. */
VALUE cuttle_env_model(VALUE env);
/* The Rack env of a live exchange's request. */
VALUE cuttle_env(struct cuttle_held *held);
/* Whether the app asked for calls after the response (rack.response_finished, rack.after_reply). */
bool cuttle_env_has_callbacks(const struct cuttle_held *held);
/* The peer's IP address, a frozen String. */
VALUE cuttle_env_remote_address(struct cuttle_held *held);

/* Waits without the GVL (or in the fiber scheduler's care) until the exchange's descriptor is ready for output, at most
 * nanoseconds. Returns false when the time is over. The exchange may be over afterwards. */
bool cuttle_wait_writable(const struct cuttle_held *held, uint64_t nanoseconds);
/* Waits as that does, until the client reads or, where too much is in memory, octets have left it for the disk. */
bool cuttle_wait_for_outbox(struct cuttle_held *held, uint64_t nanoseconds);

#endif
