/* Output that could not be sent at once: a queue of octets in memory, octets that the app lends (lent.h), octets that
 * are spooled to a temporary file (spool.h) and parts of files. It is sent as the peer reads. */
#ifndef CUTTLE_OUTBOX_H
#define CUTTLE_OUTBOX_H

#include "lent.h"
#include "spool.h"

#define CUTTLE_OUTBOX_MEMORY (1 << 20) /* octets kept in memory; more are spooled */
#define CUTTLE_OUTBOX_MOST (2 << 20)   /* octets in memory at which a stream waits for a slow disk */
#define CUTTLE_OUTBOX_TURN (2 << 20)   /* octets of a file sent before other connections get their turn */

struct cuttle_piece;

struct cuttle_outbox {
	struct cuttle_piece *first, *last;
	uint64_t queued;  /* octets */
	uint64_t memory;  /* of these, in memory of its own */
	uint64_t spooled; /* of these, in the stream */
	struct cuttle_spool *spool;
	struct cuttle_stream *stream; /* NULL while nothing is spooled */
	int signal;                   /* a descriptor that gets an octet whenever octets leave memory, -1: none */
};

enum cuttle_flush {
	CUTTLE_FLUSHED,          /* everything was passed to the system */
	CUTTLE_FLUSH_BLOCKED,    /* the peer must read first */
	CUTTLE_FLUSH_WANTS_READ, /* the transport must read first */
	CUTTLE_FLUSH_TURN,       /* more could be sent, but it is the turn of others */
	CUTTLE_FLUSH_BROKEN,     /* see errno */
};

/* Initializes an empty outbox. */
void cuttle_outbox_begin(struct cuttle_outbox *outbox, struct cuttle_spool *spool);

/* Queues the parts without their first skip octets. objects (NULL: none) has an object for each part that may be lent,
 * and 0 for the others. Parts that are not lent are copied to memory, or beyond 1 MB to the spooler. If the spooler has
 * no room or its disk fails, they stay in memory. Returns 0, or -1 with errno. */
int cuttle_outbox_append(struct cuttle_outbox *outbox, const struct iovec *parts, const uintptr_t *objects, int count,
			 size_t skip);

/* Queues a part of a file. The outbox closes the file when it is done, also on failure. */
int cuttle_outbox_append_file(struct cuttle_outbox *outbox, int file, uint64_t offset, uint64_t length);

/* Sends as much as the transport takes. Adds the octets that were sent to *sent. */
enum cuttle_flush cuttle_outbox_flush(struct cuttle_outbox *outbox, struct cuttle_transport *transport, uint64_t *sent);

void cuttle_outbox_clear(struct cuttle_outbox *outbox);

/* Returns whether memory has more octets than it should, because the disk is slow. still: whether it has more than
 * three quarters of that limit. */
bool cuttle_outbox_crowded(const struct cuttle_outbox *outbox, bool still);
/* From now on this descriptor (non-blocking, -1: none) gets an octet whenever octets leave memory. The descriptor
 * before it gets one now. */
void cuttle_outbox_signal(struct cuttle_outbox *outbox, int descriptor);

static inline bool cuttle_outbox_empty(const struct cuttle_outbox *outbox)
{
	return !outbox->first;
}

#endif
