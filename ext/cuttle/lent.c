/* Lent octets, found by their address; see lent.h. */
#include "lent.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuttle_lent *buckets[BUCKETS];
static uint64_t total; /* octets that are lent */

static struct cuttle_lent **bucket_of(const char *octets)
{
	uintptr_t page = (uintptr_t)octets >> 12;

	return &buckets[(page ^ page >> 6) % BUCKETS];
}

/* Under the lock. */
static struct cuttle_lent *lend(uintptr_t object, const char *octets, size_t length)
{
	struct cuttle_lent **bucket = bucket_of(octets), *lent = *bucket;

	while (lent && (lent->octets != octets || lent->length != length))
		lent = lent->next;
	if (lent) {
		lent->borrowers++;
		return lent;
	}
	if (length > CUTTLE_LENT_MOST - total)
		return NULL;
	lent = malloc(sizeof *lent);
	if (!lent)
		return NULL;
	*lent = (struct cuttle_lent){
		.next = *bucket, .object = object, .octets = octets, .length = length, .borrowers = 1};
	*bucket = lent;
	total += length;
	return lent;
}

struct cuttle_lent *cuttle_lend(uintptr_t object, const char *octets, size_t length)
{
	struct cuttle_lent *lent;

	pthread_mutex_lock(&lock);
	lent = lend(object, octets, length);
	pthread_mutex_unlock(&lock);
	return lent;
}

/* Under the lock. */
static void forget(struct cuttle_lent *lent)
{
	struct cuttle_lent **link = bucket_of(lent->octets);

	while (*link != lent)
		link = &(*link)->next;
	*link = lent->next;
	total -= lent->length;
	free(lent);
}

void cuttle_lent_return(struct cuttle_lent *lent)
{
	pthread_mutex_lock(&lock);
	if (--lent->borrowers == 0)
		forget(lent);
	pthread_mutex_unlock(&lock);
}

void cuttle_lent_each(void (*function)(uintptr_t object))
{
	pthread_mutex_lock(&lock);
	for (int index = 0; index < BUCKETS; index++)
		for (const struct cuttle_lent *lent = buckets[index]; lent; lent = lent->next)
			function(lent->object);
	pthread_mutex_unlock(&lock);
}

void cuttle_lent_hold(void)
{
	pthread_mutex_lock(&lock);
}

void cuttle_lent_release(void)
{
	pthread_mutex_unlock(&lock);
}
