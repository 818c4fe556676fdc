/* When another thread would help; see growth.h. */
#include "growth.h"
#include "loop.h"

#include <sys/resource.h>

#define LEAST (5 * CUTTLE_MILLISECOND)  /* between two looks while requests wait */
#define MOST (400 * CUTTLE_MILLISECOND) /* the same while the app computes */
#define QUIET (20 * CUTTLE_MILLISECOND) /* between two looks while none waits: nothing reports the backlog */
#define STREAK 2
#define USED 0.95 /* share of the cores at which no thread is added: what computes without the GVL needs them too */

void cuttle_growth_reset(struct cuttle_growth *growth)
{
	*growth = (struct cuttle_growth){.cores = 1, .pause = LEAST};
	pthread_cond_init(&growth->called, NULL);
}

/* Whether requests wait, or connections that may bring some, or a stop, and no thread is free. */
static bool starved(const struct cuttle_loop *loop)
{
	if (cuttle_followers_free(&loop->followers) > 0)
		return false;
	return (atomic_load(&loop->core.stopping) && !loop->shut) || !cuttle_list_empty(&loop->ready) ||
	       !cuttle_list_empty(&loop->unparsed) || cuttle_loop_has_backlog(loop);
}

static uint64_t nanoseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * CUTTLE_SECOND + (uint64_t)time.tv_usec * 1000;
}

static void calm_down(struct cuttle_growth *growth, uint64_t now)
{
	growth->streak = 0;
	growth->next = now + growth->pause;
	growth->pause = growth->pause * 2 < MOST ? growth->pause * 2 : MOST;
}

/* Reads what the process has used since the last look, and calls the engine's thread if there was more to use. */
static void look(struct cuttle_growth *growth, uint64_t now)
{
	struct rusage usage = {0};
	uint64_t cpu, since = growth->since;
	long preempted = growth->preempted;
	double used;

	getrusage(RUSAGE_SELF, &usage);
	cpu = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
	used = (double)(cpu - growth->cpu);
	growth->since = now;
	growth->cpu = cpu;
	growth->preempted = usage.ru_nivcsw;
	if (!since) {
		growth->next = now + growth->pause;
	} else if (used >= USED * growth->cores * (double)(now - since)) {
		calm_down(growth, now);
	} else if (usage.ru_nivcsw != preempted) { /* a thread that computes may seem to wait */
		growth->next = now + LEAST;
	} else {
		growth->due = true;
		pthread_cond_signal(&growth->called);
	}
}

int64_t cuttle_growth_look(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_growth *growth = &loop->growth;

	if (!growth->wanted)
		return -1;
	if (!growth->awaited || growth->due)
		return (int64_t)LEAST; /* that thread is on its way */
	if (now >= growth->next && !starved(loop)) {
		growth->since = 0;
		growth->streak = 0;
		return QUIET;
	}
	if (now >= growth->next)
		look(growth, now);
	return growth->next > now ? (int64_t)(growth->next - now) : (int64_t)LEAST;
}

bool cuttle_growth_judge(struct cuttle_loop *loop, bool free, uint64_t now)
{
	struct cuttle_growth *growth = &loop->growth;

	if (!starved(loop)) { /* any more */
		growth->streak = 0;
		return false;
	}
	if (!free) {
		calm_down(growth, now);
		return false;
	}
	growth->pause = LEAST;
	growth->next = now + LEAST;
	if (++growth->streak < STREAK)
		return false;
	growth->streak = STREAK - 1; /* as long as it stays free, each look adds one */
	return true;
}
