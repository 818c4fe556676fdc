/* One request with its response, apart from the connection that carries it: head, body, output and times.
 *
 * An exchange begins with the request's first octet and ends when the response's last octet is with the system. It
 * belongs to its connection, and everything in it is guarded as the connection is (connection.h). A Ruby object
 * holds it while the application answers; what the application keeps beyond that holds nothing.
 *
 * On HTTP/1 a connection has one exchange at a time. An HTTP/2 stream would be another one. */
#ifndef CUTTLE_EXCHANGE_H
#define CUTTLE_EXCHANGE_H

#include "body.h"
#include "inbox.h"
#include "ledger.h"
#include "meter.h"
#include "outbox.h"

struct cuttle_connection;

/* When a request passed; nanoseconds on the monotonic clock, 0: not yet. */
enum cuttle_time {
	CUTTLE_ACCEPTED,
	CUTTLE_FIRST_OCTET,
	CUTTLE_COMPLETE_AT,
	CUTTLE_TAKEN_AT,
	CUTTLE_RETURNED,
	CUTTLE_LAST_OCTET,
	CUTTLE_TIMES,
};

/* How a response's body goes out. */
struct cuttle_framing {
	uint64_t left; /* octets that it still owes its Content-Length */
	struct cuttle_chunk_state encoding;
	bool chunked;  /* in chunks */
	bool measured; /* with a known length */
	bool encoded;  /* the app has put it in chunks itself, which are checked on their way */
	bool encoding_complete;
	bool bodiless;  /* there is none, whatever the app gives */
	bool unbounded; /* until the connection's end */
};

struct cuttle_exchange {
	struct cuttle_connection *connection;
	struct cuttle_exchange *next; /* in the pool */
	struct cuttle_body *body;     /* NULL without one */
	struct cuttle_outbox out;
	struct cuttle_meter meter; /* of the body as it arrives, then of the response as it leaves */
	uint64_t body_left;        /* octets of a body of known length still to come; of a chunked one 1 */
	uint64_t bytes_sent;       /* of the response, with its head */
	uint64_t times[CUTTLE_TIMES];
	struct cuttle_effort effort;
	struct cuttle_framing framing;
	void *holder;       /* the Ruby side's structure, NULL: none, or no more */
	uint64_t relayed;   /* when another worker gave it to this one; 0: none did */
	uint32_t head_size; /* octets of the head, 0 until it is complete */
	bool keep_alive;    /* the connection goes on after this response */
	bool continued;     /* a 100 was sent */
};

#define CUTTLE_CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

/* Exchanges kept for the next requests. */
struct cuttle_exchange_pool {
	struct cuttle_exchange *first;
	unsigned count;
};

/* A new exchange of a connection; NULL without memory. */
struct cuttle_exchange *cuttle_exchange_begin(struct cuttle_exchange_pool *pool, struct cuttle_connection *connection);

/* Gives back everything that the exchange has. */
void cuttle_exchange_end(struct cuttle_exchange_pool *pool, struct cuttle_exchange *exchange);

void cuttle_exchange_pool_free(struct cuttle_exchange_pool *pool);

/* Sends parts now as far as the peer takes them, and queues the rest: copies, or objects that are lent (outbox.h; NULL:
 * none). Returns 0, or -1 when the connection is broken or the rest could not be kept. */
int cuttle_exchange_send(struct cuttle_exchange *exchange, struct iovec *parts, const uintptr_t *objects, int count);

/* Sends from the queue what the peer takes now. Returns how that went; a broken connection is marked so. */
enum cuttle_flush cuttle_exchange_flush(struct cuttle_exchange *exchange);

/* The phases of a request that a thread has taken: how long each took, or has taken until now. Those that nobody
 * measures are not known. */
void cuttle_exchange_phases(const struct cuttle_exchange *exchange, struct cuttle_phases *phases, uint64_t now);

/* The request's head, once it is complete. */
const struct cuttle_head *cuttle_exchange_head(const struct cuttle_exchange *exchange);

/* The octets that a slice of the head names. */
const char *cuttle_exchange_at(const struct cuttle_exchange *exchange, struct cuttle_slice slice);

#endif
