/* The leader stands by: it leaves work to a thread in the app, as long as that one computes and soon comes back (see the
 * law in followers.h). Nobody can ask the GVL which threads want it, so this reads the CPU clocks of the threads that
 * took requests. */
#include "loop.h"

#define FIRST_PATIENCE (CUTTLE_MILLISECOND / 5)    /* between two looks, */
#define MOST_PATIENCE (CUTTLE_MILLISECOND * 8 / 5) /* doubled up to this: each costs the computing thread something */
#define IDLE_LOOKS 2                               /* in a row: the app waits */
#define LONG (3 * CUTTLE_MILLISECOND)              /* for one request in the app */
#define TINY (CUTTLE_MILLISECOND / 10)             /* for one: it hardly lets the GVL go, so nobody needs to stand by */
#define STEADY (50 * CUTTLE_MILLISECOND)           /* of computing: it was right to stand by */
#define HASTE (100 * CUTTLE_MILLISECOND)           /* how long nobody does when it was wrong, */
#define MOST_HASTE (1600 * CUTTLE_MILLISECOND)     /* doubled up to this while it is so again and again */

#ifdef HAVE_PTHREAD_GETCPUCLOCKID

/* CPU times of the threads that took requests lately, beside the clock; 0 for one that has ended. */
struct usage {
	uint64_t wall, cpu[CUTTLE_TAKERS];
};

static struct usage used(const struct cuttle_followers *followers)
{
	struct usage usage = {.wall = cuttle_now()};

	for (int index = 0; index < CUTTLE_TAKERS; index++) {
		struct timespec cpu;

		if (followers->takers[index] && clock_gettime(followers->takers[index], &cpu) == 0)
			usage.cpu[index] = (uint64_t)cpu.tv_sec * CUTTLE_SECOND + (uint64_t)cpu.tv_nsec;
	}
	return usage;
}

/* Whether they computed half of the time at least: the rest is what the system gave to others, or a hand-over. */
static bool computed(const struct usage *since, const struct usage *until)
{
	uint64_t cpu = 0;

	for (int index = 0; index < CUTTLE_TAKERS; index++)
		if (since->cpu[index] && until->cpu[index] > since->cpu[index])
			cpu += until->cpu[index] - since->cpu[index];
	return cpu * 2 >= until->wall - since->wall;
}

void cuttle_followers_note_taker(struct cuttle_followers *followers)
{
	clockid_t own;

	followers->taken++;
	if (!followers->shared || pthread_getcpuclockid(pthread_self(), &own) != 0)
		return;
	for (int index = 0; index < CUTTLE_TAKERS; index++)
		if (followers->takers[index] == own)
			return;
	followers->takers[followers->next_taker++ % CUTTLE_TAKERS] = own;
}

bool cuttle_followers_may_stand_by(const struct cuttle_loop *loop, uint64_t now)
{
	const struct cuttle_followers *followers = &loop->followers;

	return followers->shared && loop->busy > 0 && !atomic_load(&followers->woken) &&
	       now >= followers->hasty_until && !cuttle_loop_over(loop);
}

/* The app waited: for a while nobody stands by. */
static void make_haste(struct cuttle_followers *followers, uint64_t began, uint64_t now)
{
	if (followers->haste == 0 || now - began >= STEADY)
		followers->haste = HASTE;
	else if (followers->haste < MOST_HASTE)
		followers->haste *= 2;
	followers->hasty_until = now + followers->haste;
}

/* What a thread that stands by has seen of those in the app. */
struct sight {
	struct usage used;
	uint64_t taken; /* loop->followers.taken */
	uint64_t began; /* standing by */
	uint64_t came;  /* when a thread last came for a request */
	int idle;       /* looks in a row that saw no computing */
};

/* Looks again. Returns whether to go for the GVL. */
static bool look(struct cuttle_followers *followers, struct sight *sight)
{
	struct usage before = sight->used;
	uint64_t taken = followers->taken - sight->taken, now;

	sight->used = used(followers);
	now = sight->used.wall;
	sight->taken += taken;
	if (taken > 0)
		sight->came = now;
	sight->idle = computed(&before, &sight->used) ? 0 : sight->idle + 1;
	if (sight->idle == IDLE_LOOKS)
		make_haste(followers, sight->began, now);
	else if (taken * TINY > now - before.wall)
		followers->hasty_until = now + HASTE;
	return now < followers->hasty_until || now - sight->came >= LONG;
}

bool cuttle_followers_stand_by(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until)
{
	struct cuttle_followers *followers = &loop->followers;
	struct sight sight = {.used = used(followers), .taken = followers->taken};
	uint64_t patience = FIRST_PATIENCE;
	bool go = false;

	sight.began = sight.came = sight.used.wall;
	followers->standing_by = true;
	followers->stood_by++;
	while (!go && cuttle_loop_has_work(loop)) {
		cuttle_cond_wait(&follower->called, &loop->lock, patience);
		if (followers->leader != follower || !followers->standing_by)
			return false; /* parked, and perhaps promoted again since */
		go = look(followers, &sight) || follower->interrupted || atomic_load(&followers->woken) ||
		     (until && sight.used.wall >= until);
		if (sight.idle > 0)
			patience = FIRST_PATIENCE;
		else if (patience < MOST_PATIENCE)
			patience *= 2;
	}
	followers->standing_by = false;
	return go;
}

#else

void cuttle_followers_note_taker(struct cuttle_followers *followers)
{
	followers->taken++;
}

bool cuttle_followers_may_stand_by(const struct cuttle_loop *loop, uint64_t now)
{
	return false;
}

bool cuttle_followers_stand_by(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until)
{
	return true;
}

#endif
