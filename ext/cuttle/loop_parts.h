/* What the files of the loop (loop*.c) share. Everything is called under the lock. */
#ifndef CUTTLE_LOOP_PARTS_H
#define CUTTLE_LOOP_PARTS_H

#include "loop.h"

/* The token that names a registration in reports. */
static inline uint64_t cuttle_loop_token(int fd, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)fd;
}

/* Registers a descriptor's owner. Returns its token; 0 if out of memory. */
uint64_t cuttle_loop_enroll(struct cuttle_loop *loop, int fd, enum cuttle_registrant kind, void *owner);
/* Returns a descriptor's entry, or NULL if it is outside the table. */
struct cuttle_registration *cuttle_loop_registration(struct cuttle_loop *loop, int fd);
/* Removes a descriptor from the back end and from the table. Not for a connection's. */
void cuttle_loop_strike(struct cuttle_loop *loop, int fd);

/* Notes that a connection ends: if there was no room for another, there is now. */
void cuttle_loop_note_room(struct cuttle_loop *loop);

/* No descriptor or memory is left for another connection: accepts none, and gets none from other workers, for a while
 * or until one ends. Makes the loop report a shortage when it begins. */
void cuttle_loop_run_short(struct cuttle_loop *loop, uint64_t now);

/* Receives nothing from other workers during a shortage of descriptors, and after it receives again. */
void cuttle_loop_unwatch_relay(struct cuttle_loop *loop);
void cuttle_loop_watch_relay(struct cuttle_loop *loop, uint64_t now);
/* Receives what other workers have sent so far, and no more: this one is about to stop. It may still give. */
void cuttle_loop_close_relay(struct cuttle_loop *loop, uint64_t now);

/* Whether a request was refused lately: workers that refuse nothing can serve better. */
static inline bool cuttle_loop_tight(const struct cuttle_loop *loop, uint64_t now)
{
	return loop->refused_at && now < loop->refused_at + 100 * CUTTLE_MILLISECOND;
}

/* Notes that a watched descriptor is ready. */
void cuttle_loop_note_watch(struct cuttle_loop *loop, struct cuttle_watch *watch, uint32_t ready);
/* Handles a descriptor that the app closed without Ruby's knowledge and whose number was reused: its fiber
 * continues. */
void cuttle_loop_orphan(struct cuttle_loop *loop, struct cuttle_watch *watch);

#endif
