/* What could not be sent at once: a queue of octets in memory, octets that the app lends (lent.h), octets on their way
 * to a temporary file (spool.h) and pieces of files, drained when the peer reads. */
#ifndef CUTTLE_OUTBOX_H
#define CUTTLE_OUTBOX_H

#include "lent.h"
#include "spool.h"

#define CUTTLE_OUTBOX_MEMORY (1 << 20)  /* octets kept in memory; what is beyond is spooled */
#define CUTTLE_OUTBOX_MOST (2 << 20)    /* octets in memory, where the disk does not follow, before a stream waits */
#define CUTTLE_OUTBOX_TURN (2 << 20)    /* octets of a file sent before others get their turn */

struct cuttle_piece;

struct cuttle_outbox {
	struct cuttle_piece *first, *last;
	uint64_t queued;  /* octets */
	uint64_t memory;  /* of these, in pieces of memory of its own */
	uint64_t spooled; /* of these, in the stream */
	struct cuttle_spool *spool;
	struct cuttle_stream *stream; /* NULL while nothing is spooled */
	int signal;       /* a descriptor that gets an octet whenever octets have left memory, -1: none */
};

enum cuttle_flush {
	CUTTLE_FLUSHED,           /* all is with the system */
	CUTTLE_FLUSH_BLOCKED,     /* the peer must read first */
	CUTTLE_FLUSH_WANTS_READ,  /* the transport must read first */
	CUTTLE_FLUSH_TURN,        /* more could be sent: others first */
	CUTTLE_FLUSH_BROKEN,      /* errno */
};

/* An empty outbox. */
void cuttle_outbox_begin(struct cuttle_outbox *outbox, struct cuttle_spool *spool);

/* Queues what is left of parts after their first skip octets. objects (NULL: none) has an object for each part that
 * may be lent, and 0 for the others. Those that are not lent are copied: to memory, or behind 1 MB to the spooler;
 * where that has no room, or its disk fails, they stay in memory. Returns 0, or -1 with errno. */
int cuttle_outbox_append(struct cuttle_outbox *outbox, const struct iovec *parts, const uintptr_t *objects, int count,
			 size_t skip);

/* Queues a piece of a file, which the outbox closes when it is done with it, also on failure. */
int cuttle_outbox_append_file(struct cuttle_outbox *outbox, int file, uint64_t offset, uint64_t length);

/* Sends what it can; *sent grows by the octets that left. */
enum cuttle_flush cuttle_outbox_flush(struct cuttle_outbox *outbox, struct cuttle_transport *transport,
				      uint64_t *sent);

void cuttle_outbox_clear(struct cuttle_outbox *outbox);

/* Whether more octets are in memory than should be, as the disk does not follow; with still: than three quarters of
 * that. */
bool cuttle_outbox_crowded(const struct cuttle_outbox *outbox, bool still);
/* An octet goes to this descriptor (non-blocking) whenever octets have left memory, and now to the one before; -1: to
 * none. */
void cuttle_outbox_signal(struct cuttle_outbox *outbox, int descriptor);

static inline bool cuttle_outbox_empty(const struct cuttle_outbox *outbox)
{
	return !outbox->first;
}

#endif
