/* How the leader stands by: it leaves work to a thread in the app while that thread computes and soon comes back (see
 * the law in followers.h). The GVL can't tell whether threads want it, so this reads the CPU clock of the process. The
 * clocks of the threads with requests would not do: while another thread of the app computes, such as Action Cable's
 * heartbeat, they wait for the GVL, and the app would seem to wait. */
#include "loop.h"

#define FIRST_PATIENCE (CUTTLE_MILLISECOND / 5)    /* between two looks, at first */
#define MOST_PATIENCE (CUTTLE_MILLISECOND * 8 / 5) /* upper limit after doubling: each look costs the app time */
#define IDLE_LOOKS 2                               /* in a row after which the app counts as waiting */
#define LONG (3 * CUTTLE_MILLISECOND)              /* for one request in the app */
#define SHORT (CUTTLE_MILLISECOND / 10)            /* for one: standing by pays only if it releases the GVL, briefly */
#define SAMPLE 64                                  /* requests to judge that by; fewer for one release are too few */
#define HAND_OVER (CUTTLE_MILLISECOND / 50)        /* about what two switches of threads cost */
#define STEADY (50 * CUTTLE_MILLISECOND)           /* of computing, after which standing by was right */
#define HASTE (100 * CUTTLE_MILLISECOND)           /* how long no thread stands by after it was wrong */
#define MOST_HASTE (1600 * CUTTLE_MILLISECOND)     /* at most, after doubling while it stays wrong */

/* Wall-clock time, and the process's CPU time. */
struct usage {
	uint64_t wall, cpu;
};

static struct usage used(void)
{
	return (struct usage){.wall = cuttle_now(), .cpu = cuttle_cpu_time()};
}

/* Whether the process computed at least half of the time. The rest went to other processes or to hand-overs. */
static bool computed(const struct usage *since, const struct usage *until)
{
	return (until->cpu - since->cpu) * 2 >= until->wall - since->wall;
}

bool cuttle_followers_may_stand_by(const struct cuttle_loop *loop, uint64_t now)
{
	const struct cuttle_followers *followers = &loop->followers;

	return followers->shared && !followers->steady && loop->busy > 0 && !atomic_load(&followers->woken) &&
	       now >= followers->hasty_until && !cuttle_loop_over(loop);
}

/* The app waited, so no thread stands by for a while. */
static void make_haste(struct cuttle_followers *followers, uint64_t now)
{
	if (followers->haste == 0 || followers->computed >= STEADY)
		followers->haste = HASTE;
	else if (followers->haste < MOST_HASTE)
		followers->haste *= 2;
	followers->computed = 0;
	followers->hasty_until = now + followers->haste;
}

/* What a thread that stands by has seen of the threads in the app. */
struct sight {
	struct usage used;
	uint64_t taken;    /* loop->followers.taken */
	uint64_t releases; /* of the GVL by the app */
	uint64_t came;     /* when a thread last came for a request */
	int idle;          /* looks in a row without computing */
};

/* The releases of the GVL so far, without those of threads that then waited for a request. */
static uint64_t releases_in_app(const struct cuttle_followers *followers)
{
	return cuttle_followers_releases() - followers->waits;
}

/* Judges short requests, once there are enough. If they hardly release the GVL, a thread on its way to it costs
 * nothing, and one that stands by does. If they wait for longer than hand-overs would take, other requests could use
 * the time. */
static void judge_short(struct cuttle_followers *followers, uint64_t now)
{
	const struct cuttle_sample seen = followers->sample;

	if (seen.requests < SAMPLE)
		return;
	followers->sample = (struct cuttle_sample){.requests = 0};
	if (seen.requests * SHORT <= seen.wall)
		return;
	if (!followers->told_of_releases || seen.releases * SAMPLE < seen.requests)
		followers->hasty_until = now + HASTE;
	else if (seen.wall > seen.cpu + seen.releases * HAND_OVER)
		make_haste(followers, now);
}

/* Looks again. Returns whether to go for the GVL. */
static bool look(struct cuttle_followers *followers, struct sight *sight)
{
	struct sight before = *sight;
	uint64_t now;

	sight->used = used();
	sight->taken = followers->taken;
	sight->releases = releases_in_app(followers);
	now = sight->used.wall;
	followers->sample.wall += now - before.used.wall;
	followers->sample.cpu += sight->used.cpu - before.used.cpu;
	followers->sample.requests += sight->taken - before.taken;
	followers->sample.releases += sight->releases - before.releases;
	if (sight->taken > before.taken)
		sight->came = now;
	if (computed(&before.used, &sight->used)) {
		sight->idle = 0;
		followers->computed += now - before.used.wall;
	} else {
		sight->idle++;
	}
	if (sight->idle == IDLE_LOOKS)
		make_haste(followers, now);
	else
		judge_short(followers, now);
	return now < followers->hasty_until || now - sight->came >= LONG;
}

bool cuttle_followers_stand_by(struct cuttle_loop *loop, struct cuttle_follower *follower, uint64_t until)
{
	struct cuttle_followers *followers = &loop->followers;
	struct sight sight = {.used = used(), .taken = followers->taken, .releases = releases_in_app(followers)};
	uint64_t patience = FIRST_PATIENCE;
	bool go = false;

	sight.came = sight.used.wall;
	followers->standing_by = true;
	followers->stood_by++;
	while (!go && cuttle_loop_has_work(loop)) {
		cuttle_cond_wait(&follower->called, &loop->lock, patience);
		if (followers->leader != follower || !followers->standing_by)
			return false; /* parked, and perhaps promoted again meanwhile */
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
