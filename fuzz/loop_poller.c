/* See loop_poller.h. */
#include "loop_poller.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIVE_WAY (1 * CUTTLE_MILLISECOND)

void gvl_acquire(struct gvl *gvl)
{
	uint64_t ticket;

	pthread_mutex_lock(&gvl->lock);
	ticket = gvl->next++;
	while (gvl->serving != ticket)
		pthread_cond_wait(&gvl->turn, &gvl->lock);
	pthread_mutex_unlock(&gvl->lock);
}

void gvl_release(struct gvl *gvl)
{
	const struct poller *poller = CUTTLE_CONTAINER(gvl, struct poller, gvl);

	pthread_mutex_lock(&gvl->lock);
	cuttle_followers_note_release();
	demand(!cuttle_followers_unled(poller->loop), poller, "a loop is unled only while its thread has the GVL");
	gvl->serving++;
	pthread_cond_broadcast(&gvl->turn);
	pthread_mutex_unlock(&gvl->lock);
}

static int length_of(const struct cuttle_link *list)
{
	int length = 0;

	for (const struct cuttle_link *link = list->next; link != list; link = link->next)
		length++;
	return length;
}

static void describe_connections(const struct cuttle_loop *loop)
{
	for (struct cuttle_link *link = loop->core.connections.next; link != &loop->core.connections;
	     link = link->next) {
		struct cuttle_connection *connection = CUTTLE_CONTAINER(link, struct cuttle_connection, all);

		fprintf(stderr,
			"connection %d: state %d, listed %d, readable %d, hangup %d, eof %d, broken %d, refused %d, "
			"buffered %u, queued %llu, deadline %d, served %llu\n",
			connection->transport.fd, connection->state, !cuttle_list_empty(&connection->work),
			connection->readable, connection->hangup, connection->eof, connection->broken,
			connection->refused, connection->inbox ? cuttle_inbox_size(connection->inbox) : 0,
			connection->exchange ? (unsigned long long)connection->exchange->out.queued : 0,
			connection->deadline ? connection->deadline_kind : -1, (unsigned long long)connection->served);
	}
}

/* Has the lock, or does without: other threads go on, and ThreadSanitizer's report would hide this one. */
__attribute__((no_sanitize("thread"))) static void describe(const struct poller *poller)
{
	struct cuttle_loop *loop = poller->loop;
	struct cuttle_followers *followers = &loop->followers;

	fprintf(stderr,
		"leader %p, in the kernel %d, summoned %d, standing by %d, parked %u, woken %d, unled %d\n"
		"pending %d, ready %d, unparsed %d, fired %d, listeners ready %d, away %d, full %d, exhausted %d\n"
		"busy %u, open %u, looked at %llu, shut %d, stopping %d, round %u, back end %s, foreign parser %d, "
		"shared %d\n",
		(void *)followers->leader, followers->leader_in_kernel,
		followers->leader ? followers->leader->summoned : -1, followers->standing_by, followers->parked_count,
		atomic_load(&followers->woken), cuttle_followers_unled(loop), length_of(&loop->pending),
		length_of(&loop->ready), length_of(&loop->unparsed), length_of(&loop->fired), loop->listeners_ready,
		loop->listeners_away, loop->full, loop->exhausted, loop->busy, loop->core.open,
		(unsigned long long)loop->looked, loop->shut, atomic_load(&loop->core.stopping), loop->round,
		loop->type->name, loop->core.foreign_parser, followers->shared);
	describe_connections(loop);
}

void demand(bool kept, const struct poller *poller, const char *what)
{
	const struct poller *first = poller;

	if (kept)
		return;
	fprintf(stderr, "not kept: %s\n", what);
	for (; poller; poller = poller == first ? poller->other : NULL) {
		pthread_mutex_trylock(&poller->loop->lock);
		describe(poller);
	}
	_exit(1);
}

void assert_law(const struct poller *poller)
{
	const struct cuttle_followers *followers = &poller->loop->followers;
	bool work = cuttle_loop_has_work(poller->loop);

	demand((int)followers->parked_count == length_of(&followers->parked), poller, "the count of the parked");
	demand(followers->leader || cuttle_list_empty(&followers->parked) || cuttle_followers_unled(poller->loop),
	       poller, "a free thread leads, if there is one, or the loop is unled");
	demand(!(followers->leader && cuttle_followers_unled(poller->loop)), poller, "an unled loop has no leader");
	demand(followers->leader || !followers->leader_in_kernel, poller, "the thread in the kernel is the leader");
	demand(!(cuttle_followers_leader_waits(followers) && work), poller,
	       "work is left over: the leader is on its way, or stands by");
	demand(followers->leader || !followers->standing_by, poller, "who stands by leads");
}

/* What a Ruby parser's chunks returns: what octets hold is moved to their front. Returns 1 where the body is done, 0
 * where it goes on, or -status. */
static int parse_chunks(struct cuttle_chunk_state *state, char *octets, size_t length, size_t *taken, size_t *decoded)
{
	struct cuttle_slice data;
	size_t count;
	int result;

	*taken = *decoded = 0;
	do {
		count = length - *taken;
		result = cuttle_parse_chunks(state, octets + *taken, &count, &data);
		if (result < 0)
			return result;
		memmove(octets + *decoded, octets + *taken + data.offset, data.length);
		*decoded += data.length;
		*taken += count;
	} while (result == 0 && count > 0);
	return result;
}

/* rb_foreign_parser.c: the parser's thread may lose the GVL. The lock is held when it returns. */
static enum cuttle_step parse(struct poller *poller, struct cuttle_connection *connection)
{
	struct cuttle_inbox *inbox = connection->inbox;
	bool body = connection->parsed_state == CUTTLE_BODY;
	uint32_t skip = body ? connection->exchange->head_size : 0;
	size_t length = cuttle_inbox_size(inbox) - skip;
	char *octets = check_copy(cuttle_inbox_unused(inbox) + skip, length);
	size_t taken = 0, decoded = 0;
	enum cuttle_step step;
	int result;

	gvl_release(&poller->gvl);
	gvl_acquire(&poller->gvl);
	result = body ? parse_chunks(&inbox->chunks, octets, length, &taken, &decoded)
		      : cuttle_parse_head(&inbox->state, &inbox->head, octets, length);
	pthread_mutex_lock(&poller->loop->lock);
	if (result < 0)
		step = cuttle_connection_refuse(connection, -result, cuttle_now());
	else if (body)
		step = cuttle_connection_body_parsed(connection, (uint32_t)taken, octets, decoded, result == 1,
						     cuttle_now());
	else
		step = result ? cuttle_connection_head_parsed(connection, (uint32_t)result, cuttle_now())
			      : cuttle_connection_unsatisfied(connection, cuttle_now());
	free(octets);
	return step;
}

static void parse_unparsed(struct poller *poller)
{
	struct cuttle_loop *loop = poller->loop;
	struct cuttle_connection *connection;

	pthread_mutex_lock(&loop->lock);
	while ((connection = cuttle_loop_shift(&loop->unparsed))) {
		cuttle_connection_begin_parsing(connection);
		pthread_mutex_unlock(&loop->lock);
		cuttle_loop_route(loop, connection, parse(poller, connection));
	}
	pthread_mutex_unlock(&loop->lock);
}

/* rb_poller_next.c */

static void pass_on(struct poller *poller)
{
	pthread_mutex_lock(&poller->loop->lock);
	cuttle_followers_pass_on(poller->loop);
	assert_law(poller);
	pthread_mutex_unlock(&poller->loop->lock);
}

static void wait_without_gvl(struct ruby_thread *thread, struct cuttle_follower *follower, uint64_t until)
{
	struct poller *poller = thread->poller;

	pthread_mutex_lock(&thread->lock);
	if (atomic_load(&thread->pending)) { /* RB_NOGVL_INTR_FAIL */
		pthread_mutex_unlock(&thread->lock);
		return;
	}
	thread->waiting = follower;
	pthread_mutex_unlock(&thread->lock);
	gvl_release(&poller->gvl);
	pthread_mutex_lock(&poller->loop->lock);
	cuttle_followers_wait(poller->loop, follower, until);
	pthread_mutex_unlock(&poller->loop->lock);
	pthread_mutex_lock(&thread->lock);
	thread->waiting = NULL;
	pthread_mutex_unlock(&thread->lock);
	gvl_acquire(&poller->gvl);
}

/* Returns whether the thread goes elsewhere. */
static bool wait_for_work(struct ruby_thread *thread, uint64_t until)
{
	struct poller *poller = thread->poller;
	struct cuttle_follower follower = {.summoned = false};
	bool interrupted;

	cuttle_cond_init(&follower.called);
	cuttle_list_reset(&follower.link);
	wait_without_gvl(thread, &follower, until);
	pthread_mutex_lock(&poller->loop->lock);
	demand(cuttle_list_empty(&follower.link), poller, "who waits no longer is not parked");
	cuttle_followers_leave(poller->loop, &follower);
	pthread_mutex_unlock(&poller->loop->lock);
	pthread_cond_destroy(&follower.called);
	interrupted = atomic_exchange(&thread->pending, false);
	if (interrupted)
		pass_on(poller);
	return interrupted;
}

void poller_interrupt(struct ruby_thread *thread)
{
	struct cuttle_loop *loop = thread->poller->loop;

	pthread_mutex_lock(&thread->lock);
	atomic_store(&thread->pending, true);
	if (thread->waiting) {
		pthread_mutex_lock(&loop->lock);
		cuttle_followers_interrupt(loop, thread->waiting);
		pthread_mutex_unlock(&loop->lock);
	}
	pthread_mutex_unlock(&thread->lock);
}

static void shut(struct poller *poller)
{
	struct cuttle_loop *loop = poller->loop;

	if (poller->listeners_closed)
		return;
	poller->listeners_closed = true;
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_leave_listeners(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
	gvl_release(&poller->gvl);
	for (int index = 0; index < poller->listener_count; index++)
		close(poller->listeners[index]);
	gvl_acquire(&poller->gvl);
	pthread_mutex_lock(&loop->lock);
	cuttle_loop_shut(loop, cuttle_now());
	pthread_mutex_unlock(&loop->lock);
}

static struct cuttle_exchange *attempt(struct ruby_thread *thread, bool full, struct cuttle_found *found)
{
	struct poller *poller = thread->poller;
	struct cuttle_loop *loop = poller->loop;
	struct cuttle_exchange *exchange;

	if (atomic_load_explicit(&loop->core.stopping, memory_order_relaxed) && !loop->shut)
		shut(poller);
	pthread_mutex_lock(&loop->lock);
	if (check_random(&thread->random, 2))
		loop->followers.led_until = 0; /* most requests here release the GVL */
	exchange = cuttle_loop_take(loop, full ? 0 : -1, found, cuttle_now());
	demand(length_of(&loop->ready) == (int)loop->core.waiting, poller, "the count of those that wait for a thread");
	if (exchange || found->token || found->over || found->woken)
		assert_law(poller);
	if (exchange && cuttle_followers_unled(loop))
		poller->left_unled++;
	pthread_mutex_unlock(&loop->lock);
	if (!exchange && found->unparsed)
		parse_unparsed(poller);
	return exchange;
}

static void give_way(struct poller *poller)
{
	uint64_t now = cuttle_now();

	if (now - poller->gave_way < GIVE_WAY)
		return;
	poller->gave_way = now;
	gvl_release(&poller->gvl);
	gvl_acquire(&poller->gvl);
}

/* Returns whether the thread goes elsewhere. */
static bool let_others_go_first(struct ruby_thread *thread, uint64_t until)
{
	struct poller *poller = thread->poller;

	if (poller->loop->busy == 0)
		return false;
	if (cuttle_loop_may_leave_work(poller->loop))
		return wait_for_work(thread, until);
	give_way(poller);
	return atomic_exchange(&thread->pending, false);
}

/* Keeps the GVL at times, as if to collect garbage. Returns whether it did. */
static bool rest(struct ruby_thread *thread)
{
	struct poller *poller = thread->poller;
	struct cuttle_loop *loop = poller->loop;
	bool rests;

	if (check_random(&thread->random, 16) > 0)
		return false;
	pthread_mutex_lock(&loop->lock);
	rests = cuttle_loop_begin_rest(loop);
	if (rests)
		assert_law(poller);
	pthread_mutex_unlock(&loop->lock);
	if (!rests)
		return false;
	usleep(check_random(&thread->random, 10000));
	pthread_mutex_lock(&loop->lock);
	demand(!loop->core.place || !atomic_load(&loop->core.place->free), poller, "a loop that rests is not free");
	cuttle_loop_end_rest(loop);
	pthread_mutex_unlock(&loop->lock);
	return true;
}

enum found poller_next(struct ruby_thread *thread, uint64_t until, bool full, struct cuttle_exchange **exchange,
		       uintptr_t *token)
{
	struct poller *poller = thread->poller;
	struct cuttle_loop *loop = poller->loop;

	if (!loop->io_thread && cuttle_io_thread_wanted(loop))
		cuttle_io_thread_start(loop);
	if (let_others_go_first(thread, until))
		return FOUND_INTERRUPT;
	for (;;) {
		struct cuttle_found found;

		*exchange = attempt(thread, full, &found);
		if (*exchange)
			return FOUND_EXCHANGE;
		*token = found.token;
		if (found.token)
			return FOUND_TOKEN;
		if (found.over)
			return FOUND_END;
		if ((found.woken && atomic_exchange(&poller->called, false)) || (until && cuttle_now() >= until)) {
			pass_on(poller);
			return FOUND_NOTHING;
		}
		if (!rest(thread) && wait_for_work(thread, until))
			return FOUND_INTERRUPT;
	}
}

void poller_stop(struct poller *poller)
{
	atomic_store(&poller->loop->core.stopping, true);
	cuttle_followers_wake(poller->loop);
}

void poller_wake(struct poller *poller)
{
	atomic_store(&poller->called, true);
	cuttle_followers_wake(poller->loop);
}

/* rb_response.c, rb_exchange.c */

void exchange_send(struct poller *poller, struct cuttle_exchange *exchange, struct iovec *parts, int count)
{
	struct cuttle_connection *connection = exchange->connection;

	pthread_mutex_lock(&poller->loop->lock);
	if (cuttle_exchange_send(exchange, parts, NULL, count) == 0 && !connection->deadline &&
	    !cuttle_outbox_empty(&exchange->out))
		cuttle_connection_measure_output(connection, cuttle_now());
	pthread_mutex_unlock(&poller->loop->lock);
}

void exchange_finish(struct poller *poller, struct cuttle_exchange *exchange, bool complete)
{
	pthread_mutex_lock(&poller->loop->lock);
	cuttle_loop_finish(poller->loop, exchange->connection, complete, cuttle_now());
	assert_law(poller);
	pthread_mutex_unlock(&poller->loop->lock);
}
