/* How a loop is left unled by a thread that will soon be back, and how that ends (see the law in followers.h). */
#include "loop.h"

#define LED (100 * CUTTLE_MILLISECOND) /* how long a loop is not left unled after its thread was not back in time */

/* The unled loop of this process; NULL: none. It changes under that loop's lock only. The poller of an unled loop is
 * alive, because a thread is in it, so a thread that reads this and has not released the GVL yet may use the loop. */
static _Atomic(struct cuttle_loop *) unled;

/* Written with the GVL. (Ractors have several, and may lose a count; none of their threads stands by.) */
static _Atomic uint64_t releases;

uint64_t cuttle_followers_releases(void)
{
	return atomic_load_explicit(&releases, memory_order_relaxed);
}

bool cuttle_followers_unled(const struct cuttle_loop *loop)
{
	return atomic_load_explicit(&unled, memory_order_relaxed) == loop;
}

void cuttle_followers_depart(struct cuttle_loop *loop, uint64_t now)
{
	const struct cuttle_followers *followers = &loop->followers;
	struct cuttle_loop *none = NULL;

	if (!followers->may_be_unled || followers->leader || cuttle_list_empty(&followers->parked) ||
	    !loop->io_thread || now < followers->led_until || !atomic_compare_exchange_strong(&unled, &none, loop))
		cuttle_followers_pass_on(loop);
}

bool cuttle_followers_return(struct cuttle_loop *loop)
{
	if (!cuttle_followers_unled(loop))
		return false;
	atomic_store(&unled, NULL);
	return true;
}

void cuttle_followers_lead(struct cuttle_loop *loop, uint64_t now)
{
	if (!cuttle_followers_return(loop))
		return;
	loop->followers.led_until = now + LED;
	cuttle_followers_pass_on(loop);
}

void cuttle_followers_note_release(void)
{
	struct cuttle_loop *loop = atomic_load_explicit(&unled, memory_order_acquire);

	atomic_store_explicit(&releases, cuttle_followers_releases() + 1, memory_order_relaxed);
	if (!loop)
		return;
	pthread_mutex_lock(&loop->lock);
	cuttle_followers_lead(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
}
