/* Who of a cluster's workers is free, and how many connections each has: memory that they share.
 *
 * The law: a worker writes its own place only, and reads the others' without waiting; what it reads may be old by the
 * time it acts. So the scoreboard says who should accept, never who may: a worker that nobody relieves accepts.
 *
 * Knows nothing of Ruby. */
#ifndef CUTTLE_SCOREBOARD_H
#define CUTTLE_SCOREBOARD_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CUTTLE_SCOREBOARD_MOST 4096

/* A worker's; a cache line of its own, for it is written often. */
struct cuttle_place {
	alignas(64) _Atomic uint32_t connections; /* open ones */
	atomic_bool free;                         /* a thread of it is not in the app */
	atomic_bool room;                         /* it refuses nothing, whether one is free or not */
};

struct cuttle_places {
	_Atomic uint32_t used; /* places from the first on that were ever taken */
	struct cuttle_place at[];
};

struct cuttle_scoreboard {
	struct cuttle_places *shared; /* by all processes that were forked since */
	uint32_t room;
	struct cuttle_place *own; /* this process's, NULL: none */
	unsigned owners;          /* in this process: the Ruby object, and the cores that write to it */
};

/* With one owner; NULL with errno. */
struct cuttle_scoreboard *cuttle_scoreboard_open(uint32_t room);
/* One owner less. */
void cuttle_scoreboard_disown(struct cuttle_scoreboard *scoreboard);

/* Takes a place for this process; false where there is none of that number. */
bool cuttle_scoreboard_take(struct cuttle_scoreboard *scoreboard, uint32_t number);
/* Nobody has that place any more. */
void cuttle_scoreboard_clear(struct cuttle_scoreboard *scoreboard, uint32_t number);

/* Whether another worker is free that has fewer connections than this one. */
bool cuttle_scoreboard_another(const struct cuttle_scoreboard *scoreboard);
/* Whether another worker is free at all, or, with room, where one has room. */
bool cuttle_scoreboard_any_other(const struct cuttle_scoreboard *scoreboard, bool room);

static inline void cuttle_scoreboard_count(struct cuttle_scoreboard *scoreboard, uint32_t connections)
{
	if (scoreboard)
		atomic_store_explicit(&scoreboard->own->connections, connections, memory_order_relaxed);
}

static inline void cuttle_scoreboard_room(struct cuttle_scoreboard *scoreboard, bool room)
{
	if (scoreboard)
		atomic_store_explicit(&scoreboard->own->room, room, memory_order_relaxed);
}

static inline void cuttle_scoreboard_free(struct cuttle_scoreboard *scoreboard, bool free)
{
	if (scoreboard)
		atomic_store_explicit(&scoreboard->own->free, free, memory_order_relaxed);
}

#endif
