/* The memory behind scoreboard.h. */
#include "scoreboard.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t size_for(uint32_t room)
{
	return sizeof(struct cuttle_places) + room * sizeof(struct cuttle_place);
}

static size_t size_of_ledgers(uint32_t room, uint32_t lanes)
{
	return (size_t)room * lanes * sizeof(struct cuttle_ledger);
}

/* Memory for all processes that are forked from now on; MAP_FAILED with errno. */
static void *share(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Returns false with errno. */
static bool open_relays(struct cuttle_scoreboard *scoreboard, uint32_t count)
{
	scoreboard->relays = calloc(count ? count : 1, sizeof *scoreboard->relays);
	if (!scoreboard->relays)
		return false;
	while (scoreboard->relay_count < count) {
		if (cuttle_relay_open(&scoreboard->relays[scoreboard->relay_count]) != 0)
			return errno == ENOTSUP;
		scoreboard->relay_count++;
	}
	return true;
}

struct cuttle_scoreboard *cuttle_scoreboard_open(uint32_t room, uint32_t lanes, uint32_t relays)
{
	struct cuttle_scoreboard *scoreboard = calloc(1, sizeof *scoreboard);

	if (!scoreboard)
		return NULL;
	scoreboard->shared = share(size_for(room));
	scoreboard->ledgers = share(size_of_ledgers(room, lanes));
	scoreboard->room = room;
	scoreboard->lanes = lanes;
	atomic_init(&scoreboard->owners, 1);
	if (scoreboard->shared != MAP_FAILED && scoreboard->ledgers != MAP_FAILED && open_relays(scoreboard, relays))
		return scoreboard;
	cuttle_scoreboard_disown(scoreboard);
	return NULL;
}

void cuttle_scoreboard_disown(struct cuttle_scoreboard *scoreboard)
{
	int error = errno;

	if (atomic_fetch_sub(&scoreboard->owners, 1) > 1)
		return;
	if (scoreboard->shared != MAP_FAILED)
		munmap(scoreboard->shared, size_for(scoreboard->room));
	if (scoreboard->ledgers != MAP_FAILED)
		munmap(scoreboard->ledgers, size_of_ledgers(scoreboard->room, scoreboard->lanes));
	for (uint32_t number = 0; number < scoreboard->relay_count; number++)
		cuttle_relay_close(&scoreboard->relays[number]);
	free(scoreboard->relays);
	free(scoreboard);
	errno = error;
}

struct cuttle_place *cuttle_scoreboard_take(struct cuttle_scoreboard *scoreboard, uint32_t number)
{
	uint32_t used = atomic_load(&scoreboard->shared->used);

	if (number >= scoreboard->room)
		return NULL;
	cuttle_scoreboard_clear(scoreboard, number);
	while (used <= number && !atomic_compare_exchange_weak(&scoreboard->shared->used, &used, number + 1))
		;
	atomic_store(&scoreboard->shared->at[number].taken, true);
	return &scoreboard->shared->at[number];
}

void cuttle_scoreboard_clear(struct cuttle_scoreboard *scoreboard, uint32_t number)
{
	if (number >= scoreboard->room)
		return;
	atomic_store(&scoreboard->shared->at[number].taken, false);
	atomic_store(&scoreboard->shared->at[number].free, false);
	atomic_store(&scoreboard->shared->at[number].room, false);
	atomic_store(&scoreboard->shared->at[number].reads, false);
	atomic_store(&scoreboard->shared->at[number].connections, 0);
	atomic_store(&scoreboard->shared->at[number].load, 0);
	atomic_store(&scoreboard->shared->at[number].coming, 0);
}

/* Counts the workers that have a place now. */
static uint32_t workers_of(const struct cuttle_scoreboard *scoreboard)
{
	uint32_t used = atomic_load_explicit(&scoreboard->shared->used, memory_order_relaxed), workers = 0;

	for (uint32_t number = 0; number < used; number++)
		workers += atomic_load_explicit(&scoreboard->shared->at[number].taken, memory_order_relaxed);
	return workers;
}

double cuttle_scoreboard_share(const struct cuttle_scoreboard *scoreboard, double cores)
{
	uint32_t workers = workers_of(scoreboard);

	if (workers > 1)
		cores /= workers;
	return cores > 1 ? cores : 1;
}

struct cuttle_ledger *cuttle_scoreboard_ledger(const struct cuttle_scoreboard *scoreboard, uint32_t number,
					       uint32_t lane)
{
	if (number >= scoreboard->room || lane >= scoreboard->lanes)
		return NULL;
	return &scoreboard->ledgers[(size_t)number * scoreboard->lanes + lane];
}

uint64_t cuttle_scoreboard_read(const struct cuttle_scoreboard *scoreboard, uint32_t first, uint32_t end,
				enum cuttle_phase phase, uint64_t counts[CUTTLE_LEDGER_BUCKETS])
{
	uint32_t used = atomic_load(&scoreboard->shared->used);
	uint64_t sum = 0;

	for (uint32_t number = first; number < end && number < used; number++)
		for (uint32_t lane = 0; lane < scoreboard->lanes; lane++)
			sum += cuttle_ledger_read(cuttle_scoreboard_ledger(scoreboard, number, lane), phase, counts);
	return sum;
}

void cuttle_scoreboard_watch(struct cuttle_scoreboard *scoreboard, uint64_t until)
{
	atomic_store_explicit(&scoreboard->shared->watched_until, until, memory_order_relaxed);
}

bool cuttle_scoreboard_watched(const struct cuttle_scoreboard *scoreboard, uint64_t now)
{
	return atomic_load_explicit(&scoreboard->shared->watched_until, memory_order_relaxed) > now;
}

void cuttle_scoreboard_announce_stop(struct cuttle_scoreboard *scoreboard)
{
	atomic_store_explicit(&scoreboard->shared->ending, true, memory_order_relaxed);
}

bool cuttle_scoreboard_another(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *own)
{
	const struct cuttle_place *place = scoreboard->shared->at;
	const struct cuttle_place *end = place + atomic_load_explicit(&scoreboard->shared->used, memory_order_relaxed);
	uint32_t mine = atomic_load_explicit(&own->connections, memory_order_relaxed);

	for (; mine > 0 && place < end; place++)
		if (atomic_load_explicit(&place->free, memory_order_relaxed) &&
		    atomic_load_explicit(&place->connections, memory_order_relaxed) < mine)
			return true;
	return false;
}

bool cuttle_scoreboard_any_other(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *own, bool room)
{
	const struct cuttle_place *place = scoreboard->shared->at;
	const struct cuttle_place *end = place + atomic_load_explicit(&scoreboard->shared->used, memory_order_relaxed);

	for (; place < end; place++)
		if (place != own && (atomic_load_explicit(&place->free, memory_order_relaxed) ||
				     (room && atomic_load_explicit(&place->room, memory_order_relaxed))))
			return true;
	return false;
}

bool cuttle_scoreboard_alone(const struct cuttle_scoreboard *scoreboard)
{
	return workers_of(scoreboard) <= 1;
}

void cuttle_scoreboard_let_relay(struct cuttle_scoreboard *scoreboard, bool may)
{
	atomic_store(&scoreboard->shared->apart, !may);
}

bool cuttle_scoreboard_reads(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *place)
{
	return atomic_load(&place->reads) && !atomic_load(&scoreboard->shared->apart);
}

static uint32_t number_of(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *place)
{
	return (uint32_t)(place - scoreboard->shared->at);
}

struct cuttle_relay *cuttle_scoreboard_relay(const struct cuttle_scoreboard *scoreboard,
					     const struct cuttle_place *place)
{
	uint32_t number = number_of(scoreboard, place);

	return number < scoreboard->relay_count ? &scoreboard->relays[number] : NULL;
}

/* Whether a worker that has a free thread, and room for another connection, has this place. */
static bool welcomes(const struct cuttle_place *place, uint64_t most_connections)
{
	return atomic_load_explicit(&place->free, memory_order_relaxed) &&
	       (!most_connections || atomic_load_explicit(&place->connections, memory_order_relaxed) +
						     atomic_load_explicit(&place->coming, memory_order_relaxed) <
					     most_connections);
}

/* Returns the place, other than own, whose worker receives what is in its relay and has the least load, which must be
 * less than most. free: it must have a free thread, too, and room for a connection. */
static struct cuttle_place *least_loaded(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *own,
					 bool free, uint64_t most_connections, uint32_t most)
{
	uint32_t used = atomic_load_explicit(&scoreboard->shared->used, memory_order_relaxed);
	struct cuttle_place *best = NULL;

	for (uint32_t number = 0; number < used && number < scoreboard->relay_count; number++) {
		struct cuttle_place *place = &scoreboard->shared->at[number];
		uint32_t load = atomic_load_explicit(&place->load, memory_order_relaxed) +
				atomic_load_explicit(&place->coming, memory_order_relaxed);

		if (place == own || load >= most || !atomic_load_explicit(&place->reads, memory_order_relaxed) ||
		    (free && !welcomes(place, most_connections)))
			continue;
		best = place;
		most = load;
	}
	return best;
}

struct cuttle_place *cuttle_scoreboard_least_busy(const struct cuttle_scoreboard *scoreboard,
						  const struct cuttle_place *own, uint32_t load,
						  uint64_t most_connections)
{
	if (atomic_load_explicit(&scoreboard->shared->apart, memory_order_relaxed))
		return NULL;
	return least_loaded(scoreboard, own, true, most_connections, load / 2 + load % 2);
}

/* Subtracts what was added for a message. The worker with this place may have set coming to 0 meanwhile. */
static void expect_one_less(struct cuttle_place *place)
{
	uint32_t coming = atomic_load(&place->coming);

	while (coming > 0 && !atomic_compare_exchange_weak(&place->coming, &coming, coming - 1))
		;
}

bool cuttle_scoreboard_send(struct cuttle_scoreboard *scoreboard, struct cuttle_place *place, int fd,
			    const struct cuttle_parcel *parcel, const struct iovec parts[CUTTLE_PARCEL_PARTS])
{
	bool sent;

	atomic_fetch_add(&place->coming, 1); /* before it, since the receiver sets this to 0 */
	sent = cuttle_relay_send(cuttle_scoreboard_relay(scoreboard, place), fd, parcel, parts);
	if (!sent)
		expect_one_less(place);
	return sent;
}

int cuttle_scoreboard_receive(struct cuttle_scoreboard *scoreboard, struct cuttle_place *place,
			      struct cuttle_parcel *parcel, char octets[CUTTLE_PARCEL_ROOM])
{
	int fd = cuttle_relay_receive(cuttle_scoreboard_relay(scoreboard, place), parcel, octets);

	if (fd >= 0 || errno == EBADMSG)
		expect_one_less(place);
	return fd;
}

/* Passes on one message of a relay. Returns false if that is not possible. */
static bool forward_one(struct cuttle_scoreboard *scoreboard, uint32_t number)
{
	struct cuttle_place *place = &scoreboard->shared->at[number];
	struct cuttle_place *other = least_loaded(scoreboard, place, true, 0, UINT32_MAX);
	struct cuttle_parcel parcel;
	char octets[CUTTLE_PARCEL_ROOM];
	struct iovec parts[CUTTLE_PARCEL_PARTS] = {{.iov_base = octets}};
	bool sent;
	int fd;

	if (!other)
		other = least_loaded(scoreboard, place, false, 0, UINT32_MAX);
	if (!other)
		return false;
	fd = cuttle_scoreboard_receive(scoreboard, place, &parcel, octets);
	if (fd < 0)
		return errno == EBADMSG;
	parts[0].iov_len = parcel.size;
	sent = cuttle_scoreboard_send(scoreboard, other, fd, &parcel, parts);
	if (!sent)
		cuttle_scoreboard_send(scoreboard, place, fd, &parcel, parts); /* it has room again */
	close(fd);
	if (sent && !atomic_load(&other->reads)) /* it has just stopped */
		cuttle_scoreboard_forward(scoreboard, number_of(scoreboard, other));
	return sent;
}

void cuttle_scoreboard_forward(struct cuttle_scoreboard *scoreboard, uint32_t number)
{
	while (number < scoreboard->relay_count && forward_one(scoreboard, number))
		;
}
