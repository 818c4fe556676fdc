/* What a thread that asks for work finds: the part of the Poller that needs no Ruby. */
#include "io_thread.h"

/* How many connections to accept: one for each free thread, so that other workers get what this one can't serve at
 * once. If more requests wait than threads are free, it is the number of requests handed out since the last look, so
 * that neither open connections nor those in the backlog starve. */
static int welcome(const struct cuttle_loop *loop)
{
	uint32_t free = cuttle_followers_free(&loop->followers) + 1;

	return (int)(loop->batch > free ? loop->batch : free);
}

/* Looks for work without waiting. */
static void look(struct cuttle_loop *loop, bool full, uint64_t now)
{
	int limit = full ? 0 : welcome(loop);
	int64_t nearest;

	cuttle_io_thread_relieve(loop);
	if (full != loop->full && !loop->sheds)
		(full ? cuttle_loop_remove_listeners : cuttle_loop_restore_listeners)(loop);
	loop->full = full;
	cuttle_loop_show_free(loop);
	cuttle_loop_turn(loop, limit, now);
	nearest = cuttle_loop_expire(loop, now);
	if (nearest >= 0 && cuttle_followers_leader_waits(&loop->followers))
		cuttle_followers_hurry(loop, now + (uint64_t)nearest);
	cuttle_loop_shed(loop,
			 loop->vacancies >= 0 ? (uint64_t)loop->vacancies : cuttle_followers_free(&loop->followers) + 1,
			 now);
	if (loop->gives)
		cuttle_scoreboard_load(loop->core.place, cuttle_loop_load(loop));
	loop->round = loop->batch = loop->core.waiting;
}

static bool has_gone(struct cuttle_connection *connection, uint64_t now)
{
	bool look = connection->suspect || now - connection->exchange->times[CUTTLE_COMPLETE_AT] >= CUTTLE_LONG_WAIT;

	connection->suspect = false;
	return look && cuttle_connection_gone(connection);
}

/* Returns the connection that has been READY longest; NULL if there is none. Drops those whose peers have gone while
 * they waited, and refuses those that waited too long. */
static struct cuttle_connection *shift_ready(struct cuttle_loop *loop, uint64_t now)
{
	struct cuttle_connection *connection;

	while ((connection = cuttle_loop_shift(&loop->ready))) {
		if (has_gone(connection, now))
			cuttle_loop_drop(loop, connection);
		else if (connection->deadline && now >= connection->deadline)
			cuttle_loop_refuse(loop, connection, now);
		else
			break;
	}
	return connection;
}

/* Returns the next exchange with a complete request; NULL if there is none. */
static struct cuttle_exchange *take(struct cuttle_loop *loop, bool full, uint64_t now)
{
	struct cuttle_connection *connection = loop->round > 0 && !full ? shift_ready(loop, now) : NULL;

	if (!connection) { /* also if those of the last look have gone or were refused */
		look(loop, full, now);
		now = cuttle_now(); /* what it read and parsed took its time, which is not the app's */
		connection = full ? NULL : shift_ready(loop, now);
	}
	if (!connection) {
		loop->round = 0; /* the rest of the round has been dropped */
		return NULL;
	}
	if (loop->round > 0)
		loop->round--;
	cuttle_connection_take(connection, now);
	if (connection->deadline)
		cuttle_followers_hurry(loop, connection->deadline);
	loop->busy++;
	if (loop->vacancies > 0)
		loop->vacancies--;
	loop->followers.taken++;
	if (cuttle_followers_free(&loop->followers) == 0)
		cuttle_scoreboard_free(loop->core.place, false);
	if (loop->gives && loop->core.waiting > 0)
		cuttle_loop_relay(loop, now);
	return connection->exchange;
}

static void note_others(struct cuttle_loop *loop, struct cuttle_found *found, uint64_t now)
{
	found->token = cuttle_loop_fired(loop);
	found->unparsed = !cuttle_list_empty(&loop->unparsed);
	found->over = cuttle_loop_over(loop);
	found->woken = atomic_load(&loop->followers.woken);
	found->complain = loop->complain;
	found->unproxied = cuttle_core_tells_unproxied(&loop->core, now);
	found->spool = cuttle_spool_complaint(loop->core.spool);
	loop->complain = false;
	if (found->woken)
		atomic_store(&loop->followers.woken, false);
	if (found->token || found->over || found->woken)
		cuttle_followers_pass_on(loop);
}

/* Whether something waits that must not wait until there is no request, which may take long: a fiber, whose request
 * began before those that are new, or a report for the operator. Requests and these take turns. */
static bool others_turn(const struct cuttle_loop *loop, uint64_t now)
{
	return loop->others_next &&
	       (!cuttle_list_empty(&loop->fired) || loop->complain || cuttle_spool_complains(loop->core.spool) ||
		cuttle_core_owes_unproxied(&loop->core, now));
}

struct cuttle_exchange *cuttle_loop_take(struct cuttle_loop *loop, int64_t room, struct cuttle_found *found,
					 uint64_t now)
{
	struct cuttle_exchange *exchange;

	cuttle_followers_return(loop);
	loop->vacancies = room;
	exchange = others_turn(loop, now) ? NULL : take(loop, room == 0, now);
	loop->others_next = exchange != NULL;
	if (!exchange) {
		note_others(loop, found, now);
		return NULL;
	}
	cuttle_followers_depart(loop, now);
	cuttle_io_thread_alert(loop);
	return exchange;
}

bool cuttle_loop_may_leave_work(struct cuttle_loop *loop)
{
	bool may;

	if (!loop->followers.shared)
		return false;
	pthread_mutex_lock(&loop->lock);
	may = !cuttle_followers_leader_waits(&loop->followers) && cuttle_loop_has_work(loop) &&
	      cuttle_followers_may_stand_by(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
	return may;
}

/* Whether another worker can serve what comes here, or there is none. */
static bool is_dispensable(const struct cuttle_core *core)
{
	return !core->place || cuttle_scoreboard_alone(core->scoreboard) ||
	       cuttle_scoreboard_any_other(core->scoreboard, core->place, false);
}

bool cuttle_loop_begin_rest(struct cuttle_loop *loop)
{
	if (cuttle_loop_load(loop) > 0 || cuttle_loop_has_work(loop) ||
	    atomic_load_explicit(&loop->core.stopping, memory_order_relaxed))
		return false;
	loop->resting = true;
	cuttle_loop_show_free(loop);
	atomic_thread_fence(memory_order_seq_cst); /* of two that begin at once, one sees that the other is not free */
	if (!is_dispensable(&loop->core)) {
		cuttle_loop_end_rest(loop);
		return false;
	}
	cuttle_followers_pass_on(loop);
	cuttle_io_thread_alert(loop);
	return true;
}

void cuttle_loop_end_rest(struct cuttle_loop *loop)
{
	loop->resting = false;
	cuttle_loop_show_free(loop);
}
