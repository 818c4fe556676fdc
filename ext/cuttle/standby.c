/* A free thread stands by: it leaves work to a thread that is in the app, as long as that one computes and soon comes for
 * more (see the law in loop.h). The GVL can't be asked who wants it, so the CPU clocks of those in the app are read. */
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

static struct usage used(const struct cuttle_loop *loop)
{
	struct usage usage = {.wall = cuttle_now()};

	for (int index = 0; index < CUTTLE_TAKERS; index++) {
		struct timespec cpu;

		if (loop->takers[index] && clock_gettime(loop->takers[index], &cpu) == 0)
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

void cuttle_loop_remember_taker(struct cuttle_loop *loop)
{
	clockid_t own;

	loop->taken++;
	if (!loop->shared || pthread_getcpuclockid(pthread_self(), &own) != 0)
		return;
	for (int index = 0; index < CUTTLE_TAKERS; index++)
		if (loop->takers[index] == own)
			return;
	loop->takers[loop->next_taker++ % CUTTLE_TAKERS] = own;
}

bool cuttle_loop_may_stand_by(const struct cuttle_loop *loop, uint64_t now)
{
	return loop->shared && loop->busy > 0 && !loop->woken && now >= loop->hasty_until && !cuttle_loop_over(loop);
}

/* The app waited: for a while nobody stands by. */
static void make_haste(struct cuttle_loop *loop, uint64_t began, uint64_t now)
{
	if (loop->haste == 0 || now - began >= STEADY)
		loop->haste = HASTE;
	else if (loop->haste < MOST_HASTE)
		loop->haste *= 2;
	loop->hasty_until = now + loop->haste;
}

/* What a thread that stands by has seen of those in the app. */
struct sight {
	struct usage used;
	uint64_t taken; /* loop->taken */
	uint64_t began; /* standing by */
	uint64_t came;  /* when a thread last came for a request */
	int idle;       /* looks in a row that saw no computing */
};

/* Looks again. Returns whether to go for the GVL. */
static bool look(struct cuttle_loop *loop, struct sight *sight)
{
	struct usage before = sight->used;
	uint64_t taken = loop->taken - sight->taken, now;

	sight->used = used(loop);
	now = sight->used.wall;
	sight->taken += taken;
	if (taken > 0)
		sight->came = now;
	sight->idle = computed(&before, &sight->used) ? 0 : sight->idle + 1;
	if (sight->idle == IDLE_LOOKS)
		make_haste(loop, sight->began, now);
	else if (taken * TINY > now - before.wall)
		loop->hasty_until = now + HASTE;
	return now < loop->hasty_until || now - sight->came >= LONG;
}

bool cuttle_loop_stand_by(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until)
{
	struct sight sight = {.used = used(loop), .taken = loop->taken};
	uint64_t patience = FIRST_PATIENCE;
	bool go = false;

	sight.began = sight.came = sight.used.wall;
	loop->standing_by = true;
	while (!go && cuttle_loop_has_work(loop)) {
		cuttle_cond_wait(&seat->called, &loop->lock, patience);
		if (loop->waiter != seat || !loop->standing_by)
			return false; /* parked, and perhaps called again since */
		go = look(loop, &sight) || seat->interrupted || loop->woken || (until && sight.used.wall >= until);
		if (sight.idle > 0)
			patience = FIRST_PATIENCE;
		else if (patience < MOST_PATIENCE)
			patience *= 2;
	}
	loop->standing_by = false;
	return go;
}

#else

void cuttle_loop_remember_taker(struct cuttle_loop *loop)
{
	loop->taken++;
}

bool cuttle_loop_may_stand_by(const struct cuttle_loop *loop, uint64_t now)
{
	return false;
}

bool cuttle_loop_stand_by(struct cuttle_loop *loop, struct cuttle_seat *seat, uint64_t until)
{
	return true;
}

#endif
