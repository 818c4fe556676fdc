/* What the files of the loop share (loop.c, loop_listeners.c, loop_watch.c). Under the lock. */
#ifndef CUTTLE_LOOP_PARTS_H
#define CUTTLE_LOOP_PARTS_H

#include "loop.h"

/* A registration's name in reports. */
static inline uint64_t cuttle_loop_token(int fd, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)fd;
}

/* Enters a descriptor's owner. Returns its token; 0 without memory. */
uint64_t cuttle_loop_enroll(struct cuttle_loop *loop, int fd, enum cuttle_registrant kind, void *owner);
/* A descriptor's entry, NULL where it can have none. */
struct cuttle_registration *cuttle_loop_registration(struct cuttle_loop *loop, int fd);
/* Takes a descriptor out of the back end and of the entries. */
void cuttle_loop_strike(struct cuttle_loop *loop, int fd);

/* Whether a request was refused lately: workers that refuse nothing do better. */
static inline bool cuttle_loop_tight(const struct cuttle_loop *loop, uint64_t now)
{
	return loop->refused_at && now < loop->refused_at + 100 * CUTTLE_MILLISECOND;
}

/* A watched descriptor is ready. */
void cuttle_loop_note_watch(struct cuttle_loop *loop, struct cuttle_watch *watch, uint32_t ready);
/* The app's descriptor was closed behind Ruby's back, and its number is another's: the fiber that waits goes on. */
void cuttle_loop_orphan(struct cuttle_loop *loop, struct cuttle_watch *watch);

#endif
