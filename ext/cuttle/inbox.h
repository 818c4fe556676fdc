/* What a connection has read and not used yet: one buffer that begins with a request's head. A pool lends buffers only
 * while there is something in them, so an idle connection has none. */
#ifndef CUTTLE_INBOX_H
#define CUTTLE_INBOX_H

#include "parser.h"

#define CUTTLE_INBOX_ROOM 16384 /* octets of a pooled buffer */
#define CUTTLE_POOL_SIZE 64     /* free buffers that the pool keeps */

struct cuttle_inbox {
	struct cuttle_inbox *next; /* in the pool */
	struct cuttle_head_state state;
	struct cuttle_head head;
	struct cuttle_chunk_state chunks;
	char *foreign; /* what head's slices refer to if a Ruby parser made it; NULL: the octets at start */
	uint32_t start, length, room; /* unused octets lie in [start, length) */
	char octets[];
};

struct cuttle_pool {
	struct cuttle_inbox *first;
	unsigned count;
};

/* Returns an empty buffer, or NULL if out of memory. */
struct cuttle_inbox *cuttle_inbox_borrow(struct cuttle_pool *pool);
void cuttle_inbox_return(struct cuttle_pool *pool, struct cuttle_inbox *inbox);
void cuttle_pool_free(struct cuttle_pool *pool);

/* Makes room behind the unused octets: moves them to the front, or grows the buffer to at most limit octets. Returns
 * the buffer, which may have moved. Returns NULL if the buffer has its full size or memory ran out; the old buffer is
 * then still valid. */
struct cuttle_inbox *cuttle_inbox_make_room(struct cuttle_inbox *inbox, uint32_t limit);

/* Drops the first count unused octets and all parser state. */
void cuttle_inbox_drop(struct cuttle_inbox *inbox, uint32_t count);

/* Removes count octets at offset from the first unused one. */
void cuttle_inbox_cut(struct cuttle_inbox *inbox, uint32_t offset, uint32_t count);

static inline char *cuttle_inbox_unused(struct cuttle_inbox *inbox)
{
	return inbox->octets + inbox->start;
}

static inline uint32_t cuttle_inbox_size(const struct cuttle_inbox *inbox)
{
	return inbox->length - inbox->start;
}

/* Returns the octets that a slice of the head refers to. */
static inline const char *cuttle_inbox_at(const struct cuttle_inbox *inbox, struct cuttle_slice slice)
{
	return (inbox->foreign ? inbox->foreign : inbox->octets + inbox->start) + slice.offset;
}

#endif
