/* Which thread waits and which goes to the GVL. followers.h states the law. */
#include "io_thread.h"

void cuttle_followers_reset(struct cuttle_followers *followers)
{
	*followers = (struct cuttle_followers){.leader = NULL};
	atomic_init(&followers->woken, false);
	cuttle_list_reset(&followers->parked);
}

static void park(struct cuttle_followers *followers, struct cuttle_follower *follower)
{
	cuttle_list_append(&followers->parked, &follower->link);
	followers->parked_count++;
}

static void unpark(struct cuttle_followers *followers, struct cuttle_follower *follower)
{
	cuttle_list_remove(&follower->link);
	followers->parked_count--;
}

/* Promotes the follower that was parked last, as its caches are the warmest. */
static void promote(struct cuttle_followers *followers, bool to_work)
{
	struct cuttle_follower *follower = CUTTLE_CONTAINER(followers->parked.previous, struct cuttle_follower, link);

	unpark(followers, follower);
	follower->summoned = to_work;
	followers->leader = follower;
	pthread_cond_signal(&follower->called);
}

/* Sends the leader from the kernel to the GVL. */
static void summon_leader(struct cuttle_loop *loop)
{
	loop->followers.leader->summoned = true;
	loop->type->wake(loop->backend);
}

void cuttle_followers_pass_on(struct cuttle_loop *loop)
{
	struct cuttle_followers *followers = &loop->followers;
	bool work = cuttle_loop_has_work(loop);

	if (cuttle_followers_unled(loop))
		return;
	if (!followers->leader && !cuttle_list_empty(&followers->parked))
		promote(followers, work);
	else if (work && cuttle_followers_leader_waits(followers))
		summon_leader(loop);
}

/* Waits, parked, until this follower leads. Returns false if it was interrupted or its time is up. */
static bool await_promotion(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until)
{
	struct cuttle_followers *followers = &loop->followers;
	uint64_t now = cuttle_now();

	while (followers->leader != follower && !follower->interrupted && !(until && now >= until)) {
		if (until)
			cuttle_cond_wait(&follower->called, &loop->lock, until - now);
		else
			pthread_cond_wait(&follower->called, &loop->lock);
		now = cuttle_now();
	}
	if (followers->leader == follower)
		return true;
	unpark(followers, follower);
	return false;
}

/* Waits in the kernel once. Returns whether there may be work. */
static bool wait_in_kernel(struct cuttle_loop *loop, uint64_t until)
{
	struct cuttle_followers *followers = &loop->followers;
	struct cuttle_event events[CUTTLE_EVENTS];
	uint64_t now = cuttle_now();
	int64_t patience = cuttle_sooner(cuttle_loop_keep_deadlines(loop, now), cuttle_loop_come_back(loop, now));
	int count;

	if (loop->full) /* requests wait, and this thread takes none */
		patience = cuttle_sooner(patience, cuttle_loop_relay(loop, now));
	if (cuttle_loop_has_work(loop))
		return true;
	if (until)
		patience = cuttle_sooner(patience, until > now ? (int64_t)(until - now) : 0);
	cuttle_loop_watch_all(loop);
	followers->leader_in_kernel = true;
	followers->sleeps_until = patience < 0 ? UINT64_MAX : now + (uint64_t)patience;
	pthread_mutex_unlock(&loop->lock);
	count = loop->type->wait(loop->backend, events, CUTTLE_EVENTS, patience);
	pthread_mutex_lock(&loop->lock);
	followers->leader_in_kernel = false;
	cuttle_loop_note(loop, events, count);
	return count != 0 || atomic_load(&followers->woken); /* a signal is for Ruby: no other thread may notice it */
}

/* Parks the leader that stands by: its work is done, and a thread that already runs takes its place. */
static void relieve_leader(struct cuttle_followers *followers)
{
	park(followers, followers->leader);
	followers->leader = NULL;
	followers->standing_by = false;
}

void cuttle_followers_wait(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until)
{
	struct cuttle_followers *followers = &loop->followers;

	followers->waits++;
	if (followers->standing_by && !cuttle_loop_has_work(loop))
		relieve_leader(followers);
	if (!followers->leader) {
		cuttle_followers_return(loop);
		followers->leader = follower;
	} else {
		park(followers, follower);
		cuttle_followers_pass_on(loop); /* the leader doesn't know what this thread left for its next turn */
	}
	while (followers->leader == follower || await_promotion(loop, follower, until)) {
		/* This follower leads, and stays the leader on its way to the GVL. The io thread may have come on duty
		 * since this thread looked for work. Relieve it: two waiting threads are one too many, and the io
		 * thread ignores the listeners. */
		cuttle_io_thread_relieve(loop);
		if (follower->interrupted || (until && cuttle_now() >= until))
			break;
		if (!follower->summoned && !wait_in_kernel(loop, until))
			continue;
		if (!cuttle_followers_may_stand_by(loop, cuttle_now()))
			break;
		follower->summoned = false;
		if (cuttle_followers_stand_by(loop, follower, until))
			break;
	}
	if (followers->leader == follower)
		cuttle_io_thread_alert(loop);
}

void cuttle_followers_leave(struct cuttle_loop *loop, struct cuttle_follower *follower)
{
	if (loop->followers.leader == follower)
		loop->followers.leader = NULL;
}

void cuttle_followers_interrupt(struct cuttle_loop *loop, struct cuttle_follower *follower)
{
	follower->interrupted = true;
	pthread_cond_signal(&follower->called);
	if (loop->followers.leader == follower && cuttle_followers_leader_waits(&loop->followers))
		summon_leader(loop);
}

void cuttle_followers_hurry(struct cuttle_loop *loop, uint64_t deadline)
{
	struct cuttle_followers *followers = &loop->followers;

	if (!cuttle_followers_leader_waits(followers)) {
		cuttle_io_thread_hurry(loop, deadline);
	} else if (deadline < followers->sleeps_until) {
		followers->sleeps_until = deadline;
		loop->type->wake(loop->backend);
	}
}

void cuttle_followers_wake(struct cuttle_loop *loop)
{
	atomic_store(&loop->followers.woken, true);
	loop->type->wake(loop->backend);
}
