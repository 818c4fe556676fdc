/* When another thread would help; see growth.h. */
#include "growth.h"
#include "loop.h"

#define LEAST (5 * CUTTLE_MILLISECOND)   /* between two looks while requests wait, in the mean */
#define QUIET (20 * CUTTLE_MILLISECOND)  /* between two looks while none waits: nothing reports the backlog */
#define PAUSE (100 * CUTTLE_MILLISECOND) /* the first one */
#define MOST (400 * CUTTLE_MILLISECOND)  /* the longest one: the app's next requests may wait */
#define USED 0.97 /* share of the cores at which no thread is added: what computes without the GVL needs them too */

/* The two hypotheses of the test: the GVL is free at 6% of the looks, so that another thread adds as much to the rate,
 * or at 1.5%. With these, waits of a few percent are found within a second, and an app that only waits gets a thread
 * every 15 ms. */
#define FOR 1.386        /* log(0.06 / 0.015), of a look at which it was free */
#define AGAINST 0.0468   /* log(0.985 / 0.94), of another one */
#define ENOUGH 3.86      /* log(0.95 / 0.02): wrong in 2 of 100 cases */
#define TOO_LITTLE -2.98 /* log(0.05 / 0.98): wrong in 5 of 100 */

void cuttle_growth_reset(struct cuttle_growth *growth)
{
	*growth = (struct cuttle_growth){.cores = 1, .pause = PAUSE};
	pthread_cond_init(&growth->called, NULL);
}

/* The time to the next look: spread evenly over half to one and a half of the mean, by multiples of the golden ratio,
 * so that it keeps step with no app. */
static uint64_t interval(struct cuttle_growth *growth)
{
	growth->phase += UINT32_C(0x9e3779b9);
	return LEAST / 2 + (LEAST * growth->phase >> 32);
}

/* Whether no thread is free while requests, connections that may bring some, or a stop wait. */
static bool starved(const struct cuttle_loop *loop)
{
	if (cuttle_followers_free(&loop->followers) > 0)
		return false;
	return (atomic_load(&loop->core.stopping) && !loop->shut) || !cuttle_list_empty(&loop->ready) ||
	       !cuttle_list_empty(&loop->unparsed) || cuttle_loop_has_backlog(loop);
}

/* Weighs a look. Returns whether there is enough evidence for another thread. */
static bool weigh(struct cuttle_growth *growth, bool free, uint64_t now)
{
	bool enough;

	growth->evidence += free ? FOR : -AGAINST;
	enough = growth->evidence >= ENOUGH;
	if (!enough && growth->evidence > TOO_LITTLE)
		return false;
	growth->evidence = 0;
	if (enough) {
		growth->pause = PAUSE;
	} else {
		growth->next = now + growth->pause;
		growth->pause = growth->pause * 2 < MOST ? growth->pause * 2 : MOST;
	}
	return enough;
}

/* The cores that this process may keep busy. */
static double share(const struct cuttle_loop *loop)
{
	const struct cuttle_scoreboard *scoreboard = loop->core.scoreboard;

	return scoreboard ? cuttle_scoreboard_share(scoreboard, loop->growth.cores) : loop->growth.cores;
}

/* Reads the CPU time that the process has used since the last look, and calls the engine's thread if it could have used
 * more. */
static void look(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_growth *growth = &loop->growth;
	uint64_t cpu = cuttle_cpu_time();
	double used = (double)(cpu - growth->cpu), time = (double)(now - growth->since);

	growth->since = now;
	growth->cpu = cpu;
	if (used >= USED * share(loop) * time) {
		weigh(growth, false, now);
	} else {
		growth->due = true;
		pthread_cond_signal(&growth->called);
	}
}

void cuttle_growth_begin(struct cuttle_loop *loop, uint64_t now)
{
	loop->growth.wanted = true;
	loop->growth.since = now;
	loop->growth.cpu = cuttle_cpu_time();
	loop->type->wake(loop->backend); /* the io thread may be on duty already, with nothing to look for */
}

int64_t cuttle_growth_look(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_growth *growth = &loop->growth;

	if (!growth->wanted)
		return -1;
	if (now >= growth->next) {
		if (!starved(loop))
			return QUIET;
		growth->next = now + interval(growth);
		if (!growth->awaited)
			weigh(growth, false, now); /* that thread still waits for the GVL */
		else if (!growth->due)
			look(loop, now);
	}
	return (int64_t)(growth->next - now);
}

bool cuttle_growth_judge(struct cuttle_loop *loop, bool free, int running, uint64_t now)
{
	if (!starved(loop))
		return false; /* no request waits any more */
	return weigh(&loop->growth, free && running < share(loop), now);
}
