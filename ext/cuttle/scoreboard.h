/* Shows which of a cluster's workers are free and how many connections each has, in memory that they share.
 *
 * The law: a worker writes only its own place (except coming) and reads the others' without waiting. What it reads may
 * be old by the time it acts. So the scoreboard gives advice and forbids nothing: if no other worker accepts, this one
 * does.
 *
 * A place may have a relay (relay.h). Through it, other workers give the place's worker requests that have to wait,
 * with their connections. While reads is set, the worker receives them. A sender checks reads after it has sent, and
 * takes its message back if reads is not set. When a worker has ended, the supervisor passes on what is left in its
 * relay.
 *
 * Each place also has its ledgers (ledger.h), one for each lane: a process has a lane, or each of its ractors has one.
 * They are not cleared with the place, so what they count never goes backwards. A page of them costs memory once
 * something is written to it.
 *
 * The scoreboard knows nothing of Ruby. */
#ifndef CUTTLE_SCOREBOARD_H
#define CUTTLE_SCOREBOARD_H

#include "ledger.h"
#include "relay.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CUTTLE_SCOREBOARD_MOST 4096

/* One worker's place, on its own cache line because it is written often. */
struct cuttle_place {
	alignas(64) _Atomic uint32_t connections; /* open ones */
	atomic_bool free;                         /* one of its threads is not in the app, and can have the GVL */
	atomic_bool room;                         /* it refuses no request, whether a thread is free or not */
	atomic_bool taken;                        /* there is a worker */
	atomic_bool reads;                        /* the worker receives what is in its relay */
	_Atomic uint32_t load;                    /* requests that it runs, or that wait for it */
	_Atomic uint32_t coming; /* requests in its relay, counted by their senders and receivers; its worker sets it
				  * to 0 once it has received all, because a sender may have been killed */
};

struct cuttle_places {
	_Atomic uint32_t used;          /* one more than the highest place ever taken */
	_Atomic uint64_t watched_until; /* as cuttle_now(): until then somebody looks at the workers' figures */
	atomic_bool ending;             /* all workers are about to stop */
	atomic_bool apart; /* workers don't relay, because the supervisor no longer clears dead workers' places */
	struct cuttle_place at[];
};

/* What cores count: so far, and now. */
struct cuttle_counts {
	uint64_t accepted, requests, dropped, refused, stuck, unproxied, stood_by, relayed;
	uint64_t connections, busy, ready, spooled, threads;
};

struct cuttle_scoreboard {
	struct cuttle_places *shared;  /* with all processes forked since */
	struct cuttle_ledger *ledgers; /* shared too: those of a place's lanes one after the other */
	struct cuttle_relay *relays;   /* of the first places; every process forked since has their descriptors */
	uint32_t room, lanes, relay_count;
	struct cuttle_place *own;  /* this process's place, NULL: none */
	struct cuttle_counts past; /* of cores of this process that are gone; guarded as the list of cores is */
	_Atomic unsigned owners;   /* in this process: the Ruby object, and the cores that write to it */
};

/* Opens a scoreboard with one owner. relays: number of places with a relay; on a system without relays none has one.
 * Returns NULL with errno. */
struct cuttle_scoreboard *cuttle_scoreboard_open(uint32_t room, uint32_t lanes, uint32_t relays);
/* Removes one owner. */
void cuttle_scoreboard_disown(struct cuttle_scoreboard *scoreboard);

/* Takes and clears a place for this process, or for one of its ractors. Returns NULL if there is no place of that
 * number. */
struct cuttle_place *cuttle_scoreboard_take(struct cuttle_scoreboard *scoreboard, uint32_t number);
/* Clears the place of a worker that has gone. */
void cuttle_scoreboard_clear(struct cuttle_scoreboard *scoreboard, uint32_t number);

/* Returns how many of the cores each worker with a place may keep busy while the others do too: at least one. */
double cuttle_scoreboard_share(const struct cuttle_scoreboard *scoreboard, double cores);

/* Returns the ledger of a place's lane. NULL: there is no such lane. */
struct cuttle_ledger *cuttle_scoreboard_ledger(const struct cuttle_scoreboard *scoreboard, uint32_t number,
					       uint32_t lane);
/* Adds up a phase of all lanes of the places from first to the one before end, as far as they were ever taken. Returns
 * the sum in nanoseconds. */
uint64_t cuttle_scoreboard_read(const struct cuttle_scoreboard *scoreboard, uint32_t first, uint32_t end,
				enum cuttle_phase phase, uint64_t counts[CUTTLE_LEDGER_BUCKETS]);

/* Notes that somebody looks at the workers' figures, until a time as cuttle_now(). */
void cuttle_scoreboard_watch(struct cuttle_scoreboard *scoreboard, uint64_t until);
/* Whether somebody looks at them. */
bool cuttle_scoreboard_watched(const struct cuttle_scoreboard *scoreboard, uint64_t now);

/* Says that all workers are about to stop. Async-signal-safe. */
void cuttle_scoreboard_announce_stop(struct cuttle_scoreboard *scoreboard);

/* Whether another worker is free and has fewer connections than the one with this place. */
bool cuttle_scoreboard_another(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *own);
/* Whether another worker is free. With room set, a worker that has room counts too. */
bool cuttle_scoreboard_any_other(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *own, bool room);

/* Whether no more than one worker has a place now. */
bool cuttle_scoreboard_alone(const struct cuttle_scoreboard *scoreboard);

/* Whether workers may give each other requests from now on. They may at first. */
void cuttle_scoreboard_let_relay(struct cuttle_scoreboard *scoreboard, bool may);
/* Whether what is sent to the relay of that place will be received. */
bool cuttle_scoreboard_reads(const struct cuttle_scoreboard *scoreboard, const struct cuttle_place *place);
/* The relay of a place; NULL: it has none. */
struct cuttle_relay *cuttle_scoreboard_relay(const struct cuttle_scoreboard *scoreboard,
					     const struct cuttle_place *place);
/* Returns the place of the worker with the least load to give a request to, if the worker with this place has that load
 * and another one has less than half of it, a free thread, and fewer than most_connections (0: no limit); NULL: there
 * is none. */
struct cuttle_place *cuttle_scoreboard_least_busy(const struct cuttle_scoreboard *scoreboard,
						  const struct cuttle_place *own, uint32_t load,
						  uint64_t most_connections);
/* Sends a connection to the worker with that place, as cuttle_relay_send does. Afterwards check whether it still reads.
 */
bool cuttle_scoreboard_send(struct cuttle_scoreboard *scoreboard, struct cuttle_place *place, int fd,
			    const struct cuttle_parcel *parcel, const struct iovec parts[CUTTLE_PARCEL_PARTS]);
/* Receives a message of that place's relay, as cuttle_relay_receive does. */
int cuttle_scoreboard_receive(struct cuttle_scoreboard *scoreboard, struct cuttle_place *place,
			      struct cuttle_parcel *parcel, char octets[CUTTLE_PARCEL_ROOM]);
/* Passes on to other workers what is in the relay of a place that has no worker. If there is no other worker, it stays
 * for the next one with this place. */
void cuttle_scoreboard_forward(struct cuttle_scoreboard *scoreboard, uint32_t number);

static inline void cuttle_scoreboard_count(struct cuttle_place *place, uint32_t connections)
{
	if (place)
		atomic_store_explicit(&place->connections, connections, memory_order_relaxed);
}

static inline void cuttle_scoreboard_load(struct cuttle_place *place, uint32_t load)
{
	if (place)
		atomic_store_explicit(&place->load, load, memory_order_relaxed);
}

static inline void cuttle_scoreboard_room(struct cuttle_place *place, bool room)
{
	if (place)
		atomic_store_explicit(&place->room, room, memory_order_relaxed);
}

static inline void cuttle_scoreboard_free(struct cuttle_place *place, bool free)
{
	if (place)
		atomic_store_explicit(&place->free, free, memory_order_relaxed);
}

#endif
