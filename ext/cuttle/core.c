/* What connections share, from its first owner to its last, and what happens to it when the app forks.
 *
 * The app may fork while other threads are in a loop, so each core is brought to rest first. The child owns nothing of
 * a core. It closes its copies of the sockets at once, so that a long-lived child keeps neither a client nor a port. */
#include "connection.h"
#include "tunnel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPISODE (60 * CUTTLE_SECOND) /* between two reports of connections without a PROXY header */

static struct cuttle_link cores = {&cores, &cores};
static pthread_mutex_t cores_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned generation;

unsigned cuttle_core_generation(void)
{
	return generation;
}

static struct cuttle_core *core_at(struct cuttle_link *link)
{
	return CUTTLE_CONTAINER(link, struct cuttle_core, living);
}

/* Takes the spool's locks first and last, because its thread reports to the core. */
static void rest(struct cuttle_core *core)
{
	if (core->spool)
		cuttle_spool_fork_begins(core->spool);
	core->fork(core, CUTTLE_FORK_BEGINS);
	if (core->spool)
		cuttle_spool_fork(core->spool, CUTTLE_FORK_BEGINS);
}

static void go_on(struct cuttle_core *core, enum cuttle_fork when)
{
	if (core->spool)
		cuttle_spool_fork(core->spool, when);
	core->fork(core, when);
}

static void before_fork(void)
{
	pthread_mutex_lock(&cores_lock);
	for (struct cuttle_link *link = cores.next; link != &cores; link = link->next)
		rest(core_at(link));
	cuttle_lent_hold();
	cuttle_tunnels_fork(CUTTLE_FORK_BEGINS);
}

static void after_fork_in_parent(void)
{
	cuttle_tunnels_fork(CUTTLE_FORK_IN_PARENT);
	cuttle_lent_release();
	for (struct cuttle_link *link = cores.next; link != &cores; link = link->next)
		go_on(core_at(link), CUTTLE_FORK_IN_PARENT);
	pthread_mutex_unlock(&cores_lock);
}

/* Makes only async-signal-safe calls, as the child has one thread of many. */
static void disinherit(struct cuttle_core *core)
{
	core->forked = true;
	core->scoreboard = NULL; /* its place belongs to the parent */
	core->place = NULL;
	core->ledger = NULL;
	core->ledgers = NULL;
	for (struct cuttle_link *link = core->connections.next; link != &core->connections; link = link->next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		close(connection->transport.fd);
		connection->transport.fd = -1;
		connection->broken = true;
	}
}

static void after_fork_in_child(void)
{
	generation++;
	cuttle_tunnels_fork(CUTTLE_FORK_IN_CHILD);
	cuttle_lent_release();
	for (struct cuttle_link *link = cores.next; link != &cores; link = link->next) {
		disinherit(core_at(link));
		go_on(core_at(link), CUTTLE_FORK_IN_CHILD);
	}
	pthread_mutex_unlock(&cores_lock);
}

static void register_fork_handlers(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void cuttle_core_reset(struct cuttle_core *core, void (*destroy)(struct cuttle_core *),
		       void (*fork)(struct cuttle_core *, enum cuttle_fork))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	memset(core, 0, sizeof *core);
	atomic_init(&core->stopping, false);
	atomic_init(&core->leave_backlog, false);
	cuttle_list_reset(&core->connections);
	cuttle_list_reset(&core->referring);
	for (int kind = 0; kind < CUTTLE_DEADLINES; kind++)
		cuttle_list_reset(&core->deadlines[kind]);
	atomic_init(&core->owners, 1);
	core->destroy = destroy;
	core->fork = fork;
	pthread_once(&once, register_fork_handlers);
	pthread_mutex_lock(&cores_lock);
	cuttle_list_append(&cores, &core->living);
	pthread_mutex_unlock(&cores_lock);
}

static void remember(struct cuttle_counts *past, const struct cuttle_core *core)
{
	past->accepted += core->accepted;
	past->requests += core->requests;
	past->dropped += core->dropped;
	past->refused += core->refused;
	past->stuck += core->stuck;
	past->unproxied += core->unproxied;
}

void cuttle_core_disown(struct cuttle_core *core)
{
	if (atomic_fetch_sub(&core->owners, 1) > 1)
		return;
	pthread_mutex_lock(&cores_lock);
	cuttle_list_remove(&core->living);
	if (core->scoreboard)
		remember(&core->scoreboard->past, core);
	pthread_mutex_unlock(&cores_lock);
	cuttle_pool_free(&core->pool);
	cuttle_exchange_pool_free(&core->exchanges);
	if (core->spool)
		cuttle_spool_disown(core->spool);
	if (core->scoreboard)
		cuttle_scoreboard_disown(core->scoreboard);
	if (core->ledgers)
		cuttle_scoreboard_disown(core->ledgers);
	if (core->hijacked)
		cuttle_hijacked_disown(core->hijacked);
	for (int index = 0; index < core->security_count; index++)
		if (core->securities[index])
			core->securities[index]->disown(core->securities[index]);
	free(core->securities);
	free(core->trust);
	free(core->proxied);
	core->destroy(core);
}

bool cuttle_core_owes_unproxied(const struct cuttle_core *core, uint64_t now)
{
	return core->unproxied != core->unproxied_told && (!core->unproxied_at || now - core->unproxied_at >= EPISODE);
}

bool cuttle_core_tells_unproxied(struct cuttle_core *core, uint64_t now)
{
	if (!cuttle_core_owes_unproxied(core, now))
		return false;
	core->unproxied_told = core->unproxied;
	core->unproxied_at = now;
	return true;
}

void cuttle_core_total(const struct cuttle_scoreboard *scoreboard, struct cuttle_counts *counts,
		       void (*add)(struct cuttle_core *core, struct cuttle_counts *counts))
{
	pthread_mutex_lock(&cores_lock);
	*counts = scoreboard->past;
	for (struct cuttle_link *link = cores.next; link != &cores; link = link->next)
		if (core_at(link)->scoreboard == scoreboard)
			add(core_at(link), counts);
	pthread_mutex_unlock(&cores_lock);
}
