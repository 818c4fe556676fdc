/* Read buffers and their pool; see inbox.h. */
#include "inbox.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct cuttle_inbox *inbox)
{
	free(inbox->foreign);
	inbox->foreign = NULL;
	memset(&inbox->state, 0, sizeof inbox->state);
	memset(&inbox->chunks, 0, sizeof inbox->chunks);
}

struct cuttle_inbox *cuttle_inbox_borrow(struct cuttle_pool *pool)
{
	struct cuttle_inbox *inbox = pool->first;

	if (inbox) {
		pool->first = inbox->next;
		pool->count--;
	} else {
		inbox = malloc(sizeof *inbox + CUTTLE_INBOX_ROOM);
		if (!inbox)
			return NULL;
		inbox->room = CUTTLE_INBOX_ROOM;
		inbox->foreign = NULL;
	}
	inbox->start = inbox->length = 0;
	begin(inbox);
	return inbox;
}

void cuttle_inbox_return(struct cuttle_pool *pool, struct cuttle_inbox *inbox)
{
	begin(inbox);
	if (inbox->room != CUTTLE_INBOX_ROOM || pool->count >= CUTTLE_POOL_SIZE) {
		free(inbox);
		return;
	}
	inbox->next = pool->first;
	pool->first = inbox;
	pool->count++;
}

void cuttle_pool_free(struct cuttle_pool *pool)
{
	while (pool->first) {
		struct cuttle_inbox *inbox = pool->first;

		pool->first = inbox->next;
		free(inbox);
	}
	pool->count = 0;
}

struct cuttle_inbox *cuttle_inbox_make_room(struct cuttle_inbox *inbox, uint32_t limit)
{
	uint32_t size = cuttle_inbox_size(inbox), room;
	struct cuttle_inbox *grown;

	if (inbox->start > 0) {
		memmove(inbox->octets, cuttle_inbox_unused(inbox), size);
		inbox->start = 0;
		inbox->length = size;
	}
	if (size < inbox->room)
		return inbox;
	if (inbox->room >= limit)
		return NULL;
	room = inbox->room > limit / 2 ? limit : inbox->room * 2;
	grown = realloc(inbox, sizeof *grown + room);
	if (grown)
		grown->room = room;
	return grown;
}

void cuttle_inbox_drop(struct cuttle_inbox *inbox, uint32_t count)
{
	inbox->start += count;
	begin(inbox);
}

void cuttle_inbox_cut(struct cuttle_inbox *inbox, uint32_t offset, uint32_t count)
{
	char *gap = cuttle_inbox_unused(inbox) + offset;

	memmove(gap, gap + count, cuttle_inbox_size(inbox) - offset - count);
	inbox->length -= count;
}
