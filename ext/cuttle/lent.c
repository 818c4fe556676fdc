/* Lent octets, found by where they are; see lent.h. */
#include "lent.h"

#include <stdlib.h>

static struct cuttle_lent **bucket_of(struct cuttle_lender *lender, const char *octets)
{
	uintptr_t page = (uintptr_t)octets >> 12;

	return &lender->buckets[(page ^ page >> 6) % CUTTLE_LENT_BUCKETS];
}

struct cuttle_lent *cuttle_lend(struct cuttle_lender *lender, uintptr_t object, const char *octets, size_t length)
{
	struct cuttle_lent **bucket = bucket_of(lender, octets), *lent = *bucket;

	while (lent && (lent->octets != octets || lent->length != length))
		lent = lent->next;
	if (lent) {
		lent->borrowers++;
		return lent;
	}
	if (length > CUTTLE_LENT_MOST - lender->octets)
		return NULL;
	lent = malloc(sizeof *lent);
	if (!lent)
		return NULL;
	*lent = (struct cuttle_lent){
		.next = *bucket, .object = object, .octets = octets, .length = length, .borrowers = 1};
	*bucket = lent;
	lender->octets += length;
	return lent;
}

void cuttle_lent_return(struct cuttle_lender *lender, struct cuttle_lent *lent)
{
	struct cuttle_lent **link = bucket_of(lender, lent->octets);

	if (--lent->borrowers > 0)
		return;
	while (*link != lent)
		link = &(*link)->next;
	*link = lent->next;
	lender->octets -= lent->length;
	free(lent);
}
