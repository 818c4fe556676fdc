/* What could not be sent at once: a queue of octets in memory and pieces of files, drained when the peer reads. */
#ifndef CUTTLE_OUTBOX_H
#define CUTTLE_OUTBOX_H

#include "transport.h"

#include <stdbool.h>

#define CUTTLE_OUTBOX_MEMORY (1 << 20)  /* octets kept in memory; the rest of a finished response is spooled */
#define CUTTLE_OUTBOX_TURN (2 << 20)    /* octets of a file sent before others get their turn */

struct cuttle_piece;

struct cuttle_outbox {
	struct cuttle_piece *first, *last;
	uint64_t queued; /* octets */
};

enum cuttle_flush {
	CUTTLE_FLUSHED,           /* all is with the system */
	CUTTLE_FLUSH_BLOCKED,     /* the peer must read first */
	CUTTLE_FLUSH_WANTS_READ,  /* the transport must read first */
	CUTTLE_FLUSH_TURN,        /* more could be sent: others first */
	CUTTLE_FLUSH_BROKEN,      /* errno */
};

/* Queues a copy of what is left of parts after their first skip octets: to memory, or behind 1 MB to a temporary
 * file. Returns 0, or -1 with errno. */
int cuttle_outbox_append(struct cuttle_outbox *outbox, const struct iovec *parts, int count, size_t skip);

/* Queues a piece of a file, which the outbox closes when it is done with it, also on failure. */
int cuttle_outbox_append_file(struct cuttle_outbox *outbox, int file, uint64_t offset, uint64_t length);

/* Sends what it can; *sent grows by the octets that left. */
enum cuttle_flush cuttle_outbox_flush(struct cuttle_outbox *outbox, struct cuttle_transport *transport,
				      uint64_t *sent);

void cuttle_outbox_clear(struct cuttle_outbox *outbox);

static inline bool cuttle_outbox_empty(const struct cuttle_outbox *outbox)
{
	return !outbox->first;
}

#endif
