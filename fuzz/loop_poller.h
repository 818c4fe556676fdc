/* Cuttle::Poller without Ruby, for loop_threads.c: a lock that plays the GVL, and the calls that rb_poller_next.c and
 * rb_exchange.c make of the loop, in their order. What those two change, this follows. What a thread finds is the
 * loop's own (loop_take.c). */
#ifndef CUTTLE_LOOP_POLLER_H
#define CUTTLE_LOOP_POLLER_H

#include <io_thread.h>

/* One thread runs at a time, in the order in which they came. Reports each release with the lock held, as Ruby does. */
struct gvl {
	pthread_mutex_t lock;
	pthread_cond_t turn;
	uint64_t next, serving;
};

void gvl_acquire(struct gvl *gvl);
void gvl_release(struct gvl *gvl);

struct poller {
	struct gvl gvl;
	struct cuttle_loop *loop;
	bool listeners_closed;
	int listeners[2]; /* its own descriptors */
	int listener_count;
	const struct poller *other; /* of the same round; NULL: none */
	uint64_t gave_way;
	uint64_t left_unled; /* times that a thread left the loop so; under its lock */
	atomic_bool called;  /* poller_wake was */
};

/* A thread of Ruby's. pending: an interrupt that it has not looked at (Thread#raise, Timeout). */
struct ruby_thread {
	struct poller *poller;
	pthread_mutex_t lock; /* guards waiting, as Ruby's interrupt lock does */
	struct cuttle_follower *waiting;
	atomic_bool pending;
	uint32_t random;
};

enum found { FOUND_EXCHANGE, FOUND_NOTHING, FOUND_END, FOUND_INTERRUPT, FOUND_TOKEN };

/* Poller#next: with the GVL. */
enum found poller_next(struct ruby_thread *thread, uint64_t until, bool full, struct cuttle_exchange **exchange,
		       uintptr_t *token);
/* What Ruby does to a thread that another one raises something in: with the GVL. */
void poller_interrupt(struct ruby_thread *thread);
/* With the GVL. */
void poller_stop(struct poller *poller);
void poller_wake(struct poller *poller);

/* Cuttle::Exchange: a piece of the response, and its end. With the GVL. */
void exchange_send(struct poller *poller, struct cuttle_exchange *exchange, struct iovec *parts, int count);
void exchange_finish(struct poller *poller, struct cuttle_exchange *exchange, bool complete);

/* The law of followers.h, of a thread that has just left with work or gives up waiting. Under the loop's lock. */
void assert_law(const struct poller *poller);

/* Ends the program, saying what was not kept, and what the loop looks like. */
void demand(bool kept, const struct poller *poller, const char *what);

#endif
