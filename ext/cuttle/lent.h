/* Octets of the app's that wait for a client where they are, instead of in a copy. The object that holds them is the
 * Ruby side's, which keeps it as it is, and alive, as long as it is lent.
 *
 * What many clients wait for at once counts once; altogether it is at most CUTTLE_LENT_MOST, so that an app which makes
 * each of its responses anew holds no more than that for clients that don't read.
 *
 * Guarded as the connections of its core are. */
#ifndef CUTTLE_LENT_H
#define CUTTLE_LENT_H

#include <stddef.h>
#include <stdint.h>

#define CUTTLE_LENT_LEAST (64 << 10) /* octets: copying fewer costs less than minding them */
#define CUTTLE_LENT_MOST (64 << 20)  /* octets of a core */
#define CUTTLE_LENT_BUCKETS 64

struct cuttle_lent {
	struct cuttle_lent *next; /* in its bucket */
	uintptr_t object;
	const char *octets;
	size_t length;
	unsigned borrowers;
};

struct cuttle_lender {
	struct cuttle_lent *buckets[CUTTLE_LENT_BUCKETS];
	uint64_t octets;
};

/* Lends all of an object's octets; NULL where there is no room for them, or no memory. */
struct cuttle_lent *cuttle_lend(struct cuttle_lender *lender, uintptr_t object, const char *octets, size_t length);
/* One borrower less. */
void cuttle_lent_return(struct cuttle_lender *lender, struct cuttle_lent *lent);

#endif
