/* The memory behind roster.h. */
#include "roster.h"

#include <stdlib.h>
#include <sys/mman.h>

static size_t size_for(uint32_t room)
{
	return sizeof(struct cuttle_places) + room * sizeof(struct cuttle_place);
}

struct cuttle_roster *cuttle_roster_open(uint32_t room)
{
	struct cuttle_roster *roster = calloc(1, sizeof *roster);

	if (!roster)
		return NULL;
	roster->shared = mmap(NULL, size_for(room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (roster->shared == MAP_FAILED) {
		free(roster);
		return NULL;
	}
	roster->room = room;
	roster->owners = 1;
	return roster;
}

void cuttle_roster_disown(struct cuttle_roster *roster)
{
	if (--roster->owners > 0)
		return;
	munmap(roster->shared, size_for(roster->room));
	free(roster);
}

bool cuttle_roster_take(struct cuttle_roster *roster, uint32_t number)
{
	uint32_t used = atomic_load(&roster->shared->used);

	if (number >= roster->room)
		return false;
	roster->own = &roster->shared->at[number];
	cuttle_roster_clear(roster, number);
	while (used <= number && !atomic_compare_exchange_weak(&roster->shared->used, &used, number + 1))
		;
	return true;
}

void cuttle_roster_clear(struct cuttle_roster *roster, uint32_t number)
{
	if (number >= roster->room)
		return;
	atomic_store(&roster->shared->at[number].free, false);
	atomic_store(&roster->shared->at[number].connections, 0);
}

bool cuttle_roster_another(const struct cuttle_roster *roster)
{
	const struct cuttle_place *place = roster->shared->at;
	const struct cuttle_place *end = place + atomic_load_explicit(&roster->shared->used, memory_order_relaxed);
	uint32_t mine = atomic_load_explicit(&roster->own->connections, memory_order_relaxed);

	for (; mine > 0 && place < end; place++)
		if (atomic_load_explicit(&place->free, memory_order_relaxed) &&
		    atomic_load_explicit(&place->connections, memory_order_relaxed) < mine)
			return true;
	return false;
}
