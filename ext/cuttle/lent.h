/* The app's own octets that wait for a client in place, instead of in a copy. The Ruby side keeps the object that holds
 * them unchanged, and alive for as long as it is lent.
 *
 * An object that many clients wait for counts once. A process lends at most CUTTLE_LENT_MOST octets, so an app that
 * makes a new object for each response keeps no more than that in memory for clients that don't read.
 *
 * Any thread may call these, with or without the GVL. */
#ifndef CUTTLE_LENT_H
#define CUTTLE_LENT_H

#include <stddef.h>
#include <stdint.h>

#define CUTTLE_LENT_LEAST (64 << 10) /* octets: copying fewer costs less than keeping track of them */
#define CUTTLE_LENT_MOST (64 << 20)  /* octets of a process */

struct cuttle_lent {
	struct cuttle_lent *next; /* in its bucket */
	uintptr_t object;
	const char *octets;
	size_t length;
	unsigned borrowers;
};

/* Lends all of an object's octets; NULL where there is no room for them, or no memory. */
struct cuttle_lent *cuttle_lend(uintptr_t object, const char *octets, size_t length);
/* One borrower less. */
void cuttle_lent_return(struct cuttle_lent *lent);

/* Calls function with each object that is lent. It must not lend or return any. */
void cuttle_lent_each(void (*function)(uintptr_t object));

/* Around a fork of the process, so that the child finds no lock held. */
void cuttle_lent_hold(void);
void cuttle_lent_release(void);

#endif
