/* ext/cuttle's loop without Ruby, with real threads: who waits, who goes to the GVL, and the io thread (followers.h,
 * io_thread.h). rake sanitize:threads builds it with ThreadSanitizer, and with AddressSanitizer.
 *
 * A round is one loop, with random limits and one of the back ends, from its first connection to its last. In some
 * rounds it is two loops, which play two workers: they share listeners and a scoreboard, and give each other
 * connections (relay.h); one of them may stop earlier. Threads play Ruby's: they take requests as rb_poller_next.c
 * does, compute with the GVL or wait without it, answer themselves or let another thread do it, are interrupted, and
 * are elsewhere for a while. Another one of the app's keeps the GVL without a request. What must hold:
 *   - each complete request of a client that stays is answered once, in order, with its own octets (loop_clients.c);
 *   - nothing hangs for HANG seconds, while the round goes on or at its end, and no deadline while the GVL is kept, if
 *     the io thread looks after requests;
 *   - the law of followers.h, whenever a thread leaves with work, answers, or gives up waiting (assert_law);
 *   - in the end no connection is open, nobody waits, and all memory is given back.
 *
 *   loop_threads SECONDS SEED      a seed gives the same rounds, though not the same turns of threads */
#include "loop_round.h"

#include "check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_THREADS 6 /* of a loop that is alone */
#define MOST_CLIENTS 12

/* An answer that another thread gives, or that a descriptor is waited for first. */
struct job {
	struct job *next;
	struct poller *poller;
	struct cuttle_exchange *exchange;
	int pipe[2]; /* -1: none */
};

struct worker {
	struct ruby_thread thread;
	struct stage *stage;
	pthread_t id;
};

/* A round with its threads. */
struct stage {
	struct round round;
	struct worker workers[MOST_THREADS + MOST_POLLERS - 1];
	struct client clients[MOST_CLIENTS];
	int worker_count, client_count;
	bool disturbs; /* threads are interrupted and woken */
	struct cuttle_scoreboard *scoreboard;
	pthread_t assistant;
	uint32_t random, assistant_random;
	pthread_mutex_t lock; /* of the jobs */
	pthread_cond_t hired;
	struct job *first;
	bool quit;
};

static const char *awaited; /* the end of threads */
static const struct poller *awaited_of;
static uint64_t disturbances, stood_by, left_unled, relayed;
static atomic_ullong requests;

/* The app. Everything here runs with the GVL. */

static void without_gvl(struct poller *poller, uint32_t microseconds)
{
	gvl_release(&poller->gvl);
	if (microseconds > 0)
		usleep(microseconds);
	gvl_acquire(&poller->gvl);
}

static void compute(uint64_t nanoseconds)
{
	uint64_t until = cuttle_now() + nanoseconds;

	while (cuttle_now() < until)
		continue;
}

/* What a request asks for in its path. */
struct wish {
	unsigned connection, sequence;
	size_t answer, body;
	char mode;
};

static struct wish wish_of(struct poller *poller, struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	struct wish wish;
	char path[128];

	snprintf(path, sizeof path, "%.*s", (int)head->path.length, cuttle_exchange_at(exchange, head->path));
	demand(sscanf(path, "/%u/%u/%c/%zu/%zu", &wish.connection, &wish.sequence, &wish.mode, &wish.answer,
		      &wish.body) == 5,
	       poller, "a request is as it was sent");
	return wish;
}

/* Answers in one piece, or (streams) in several, with other threads in between. */
static void answer(struct poller *poller, struct cuttle_exchange *exchange, uint32_t *random, bool streams)
{
	struct wish wish = wish_of(poller, exchange);
	char *octets = malloc(wish.answer + 1), head[256];
	struct iovec parts[2] = {{.iov_base = head}, {.iov_base = octets}};
	size_t sent = 0;

	for (size_t at = 0; at < wish.answer; at++)
		octets[at] = round_octet(wish.connection, wish.sequence, at);
	if (atomic_load(&poller->loop->core.stopping))
		exchange->keep_alive = false;
	parts[0].iov_len = (size_t)snprintf(
		head, sizeof head, "HTTP/1.1 200 OK\r\nx-request: %u/%u\r\ncontent-length: %zu\r\n%s\r\n",
		wish.connection, wish.sequence, wish.answer, exchange->keep_alive ? "" : "connection: close\r\n");
	do {
		size_t piece = streams ? check_random(random, 200000) + 1 : wish.answer;

		parts[1] = (struct iovec){.iov_base = octets + sent,
					  .iov_len = piece < wish.answer - sent ? piece : wish.answer - sent};
		sent += parts[1].iov_len;
		exchange_send(poller, exchange, parts[0].iov_len ? parts : parts + 1, parts[0].iov_len ? 2 : 1);
		parts[0].iov_len = 0;
		if (streams)
			without_gvl(poller, check_random(random, 300));
	} while (sent < wish.answer);
	free(octets);
	exchange_finish(poller, exchange, true);
}

static void hire(struct stage *stage, struct poller *poller, struct cuttle_exchange *exchange, const int *pipe)
{
	struct job *job = calloc(1, sizeof *job);

	job->poller = poller;
	job->exchange = exchange;
	job->pipe[0] = pipe ? pipe[0] : -1;
	job->pipe[1] = pipe ? pipe[1] : -1;
	pthread_mutex_lock(&stage->lock);
	job->next = stage->first;
	stage->first = job;
	pthread_cond_signal(&stage->hired);
	pthread_mutex_unlock(&stage->lock);
}

/* Waits for a descriptor as a fiber does: its exchange is answered by the thread that next gives it to. */
static void watch(struct stage *stage, struct poller *poller, struct cuttle_exchange *exchange)
{
	struct cuttle_loop *loop = poller->loop;
	int fds[2];

	demand(pipe(fds) == 0, poller, "a pipe");
	pthread_mutex_lock(&loop->lock);
	demand(cuttle_loop_watch(loop, fds[0], CUTTLE_READ, (uintptr_t)exchange) == 0, poller, "a watch");
	exchange->holder = (void *)(intptr_t)fds[0];
	pthread_mutex_unlock(&loop->lock);
	hire(stage, poller, NULL, fds);
}

static void unwatch(struct poller *poller, struct cuttle_exchange *exchange)
{
	struct cuttle_loop *loop = poller->loop;
	int fd = (int)(intptr_t)exchange->holder;

	pthread_mutex_lock(&loop->lock);
	cuttle_loop_unwatch(loop, fd);
	pthread_mutex_unlock(&loop->lock);
	exchange->holder = NULL;
	close(fd);
}

static void call(struct stage *stage, struct worker *worker, struct cuttle_exchange *exchange)
{
	struct poller *poller = worker->thread.poller;
	struct wish wish = wish_of(poller, exchange);
	uint32_t *random = &worker->thread.random;
	unsigned expected;

	atomic_fetch_add(&requests, 1);
	expected = atomic_exchange(&stage->round.taken[wish.connection], wish.sequence + 1);
	demand(expected == wish.sequence || (expected < wish.sequence && poller->loop->sheds), poller,
	       "requests reach the app once, and in order");
	demand((exchange->body ? exchange->body->total : 0) == wish.body, poller, "a request has its whole body");
	switch (wish.mode) {
	case 'c':
		if (check_random(random, 16) == 0) /* until the io thread has looked */
			compute(12 * CUTTLE_MILLISECOND);
		for (uint32_t slices = check_random(random, 4); slices > 0; slices--) {
			compute(check_random(random, 700) * 1000);
			without_gvl(poller, 0);
		}
		answer(poller, exchange, random, false);
		break;
	case 'b':
		without_gvl(poller, check_random(random, check_random(random, 3) ? 3000 : 30000));
		answer(poller, exchange, random, check_random(random, 2));
		break;
	case 's':
		hire(stage, poller, exchange, NULL);
		break;
	default:
		watch(stage, poller, exchange);
	}
}

/* Threads */

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct stage *stage = worker->stage;
	struct poller *poller = worker->thread.poller;
	bool alone = stage->worker_count == stage->round.poller_count;
	uint32_t *random = &worker->thread.random;
	enum found found;

	gvl_acquire(&poller->gvl);
	do {
		bool full = alone && check_random(random, 8) == 0;
		bool hurries = full || (stage->disturbs && check_random(random, 4) == 0);
		uint64_t until = hurries ? cuttle_now() + check_random(random, 20000) * 1000 + 1 : 0;
		struct cuttle_exchange *exchange;
		uintptr_t token;

		found = poller_next(&worker->thread, until, full, &exchange, &token);
		if (found == FOUND_EXCHANGE) {
			call(stage, worker, exchange);
			if (stage->disturbs && check_random(random, 8) == 0) /* after the response */
				without_gvl(poller, check_random(random, 30000));
		} else if (found == FOUND_TOKEN) {
			unwatch(poller, (struct cuttle_exchange *)token);
			answer(poller, (struct cuttle_exchange *)token, random, false);
		} else if (found != FOUND_END) {
			without_gvl(poller, check_random(random, 8) ? 0 : check_random(random, 10000));
		}
	} while (found != FOUND_END);
	gvl_release(&poller->gvl);
	return NULL;
}

/* The app's other thread: streams responses, and writes what others watch for. */
static void *assist(void *argument)
{
	struct stage *stage = argument;
	struct job *job;

	pthread_mutex_lock(&stage->lock);
	for (;;) {
		while (!stage->first && !stage->quit)
			pthread_cond_wait(&stage->hired, &stage->lock);
		job = stage->first;
		if (!job)
			break;
		stage->first = job->next;
		pthread_mutex_unlock(&stage->lock);
		usleep(check_random(&stage->assistant_random, 3000));
		if (job->exchange) {
			gvl_acquire(&job->poller->gvl);
			answer(job->poller, job->exchange, &stage->assistant_random, true);
			gvl_release(&job->poller->gvl);
		} else {
			demand(write(job->pipe[1], "x", 1) == 1, job->poller, "a pipe is written");
			close(job->pipe[1]);
		}
		free(job);
		pthread_mutex_lock(&stage->lock);
	}
	pthread_mutex_unlock(&stage->lock);
	return NULL;
}

static void stop(struct poller *poller)
{
	gvl_acquire(&poller->gvl);
	poller_stop(poller);
	gvl_release(&poller->gvl);
}

/* Whether the io thread keeps deadlines even if a thread keeps the GVL. */
static bool looks_after_requests(const struct cuttle_loop *loop)
{
	return loop->io_thread && (loop->sheds || loop->gives);
}

/* Whether a deadline that was over at that time has not been kept. */
static bool overdue(struct cuttle_loop *loop, uint64_t time)
{
	bool found = false;

	pthread_mutex_lock(&loop->lock);
	for (int kind = 0; kind < CUTTLE_DEADLINES && looks_after_requests(loop); kind++) {
		const struct cuttle_link *queue = &loop->core.deadlines[kind];

		if (!cuttle_list_empty(queue))
			found |= CUTTLE_CONTAINER(queue->next, struct cuttle_connection, timer)->deadline <= time;
	}
	pthread_mutex_unlock(&loop->lock);
	return found;
}

/* One of the app's own threads computes, without a request, until other threads have kept all deadlines so far. */
static void keep_gvl(struct poller *poller, uint32_t *random)
{
	uint64_t end;

	gvl_acquire(&poller->gvl);
	compute(check_random(random, 20) * CUTTLE_MILLISECOND);
	end = cuttle_now();
	while (overdue(poller->loop, end)) {
		demand(cuttle_now() < end + HANG * CUTTLE_SECOND, poller, "a deadline is kept without the GVL");
		usleep(100);
	}
	gvl_release(&poller->gvl);
}

/* What other threads of Ruby's do to those that work, and other workers to this one, until the time is over. */
static void disturb(struct stage *stage, uint64_t until)
{
	while (cuttle_now() < until) {
		struct worker *worker = &stage->workers[check_random(&stage->random, (uint32_t)stage->worker_count)];
		struct poller *poller = worker->thread.poller;

		usleep(check_random(&stage->random, 4000));
		if (stage->scoreboard && stage->round.poller_count == 1)
			atomic_store(&stage->scoreboard->shared->at[1].free, check_random(&stage->random, 2));
		if (!stage->disturbs)
			continue;
		disturbances++;
		if (check_random(&stage->random, 4) == 0) {
			keep_gvl(poller, &stage->random);
			continue;
		}
		if (check_random(&stage->random, 3) == 0) {
			poller_wake(poller);
			continue;
		}
		gvl_acquire(&poller->gvl);
		poller_interrupt(&worker->thread);
		gvl_release(&poller->gvl);
	}
}

/* Rounds */

static void must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(1);
}

static void listen_at(struct round *round)
{
	struct sockaddr_in inet = {.sin_family = AF_INET};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	socklen_t size = sizeof inet;

	inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	round->listeners[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(bind(round->listeners[0], (struct sockaddr *)&inet, size) == 0, "bind");
	must(getsockname(round->listeners[0], (struct sockaddr *)&inet, &size) == 0, "getsockname");
	round->port = ntohs(inet.sin_port);
	snprintf(round->name, sizeof round->name, "cuttle-loop-%d-%u", (int)getpid(), round->port);
	memcpy(local.sun_path + 1, round->name, strlen(round->name));
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(round->name));
	round->listeners[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(bind(round->listeners[1], (struct sockaddr *)&local, size) == 0, "bind");
	for (int index = 0; index < 2; index++)
		must(listen(round->listeners[index], 128) == 0, "listen");
}

static struct cuttle_limits choose_limits(struct stage *stage)
{
	struct cuttle_limits limits = {.keep_alive = true, .min_rate = 1};
	struct round *round = &stage->round;
	uint32_t *random = &stage->random;

	round->lenient = check_random(random, 4) == 0;
	if (round->lenient) {
		limits.header_timeout = limits.body_timeout = (check_random(random, 50) + 10) * CUTTLE_MILLISECOND;
		limits.idle_timeout = (check_random(random, 30) + 1) * CUTTLE_MILLISECOND;
		limits.write_timeout = (check_random(random, 100) + 50) * CUTTLE_MILLISECOND;
		limits.drop_half_closed = check_random(random, 2);
		limits.max_queue = check_random(random, 2) ? check_random(random, 4) + 1 : 0;
		limits.queue_timeout = check_random(random, 2) ? (check_random(random, 20) + 1) * CUTTLE_MILLISECOND
							       : 0;
	} else {
		limits.header_timeout = limits.body_timeout = limits.idle_timeout = limits.write_timeout =
			2 * HANG * CUTTLE_SECOND;
	}
	round->graceful = check_random(random, 2);
	limits.drain_grace = round->graceful ? 2 * CUTTLE_SECOND : 0;
	limits.max_requests = check_random(random, 4) ? 0 : 3;
	limits.max_connections = check_random(random, 6) ? 0 : 4;
	return limits;
}

/* A loop that another one may stop without, so it has its own descriptors of the listeners. */
static void open_loop(struct stage *stage, struct poller *poller, const struct cuttle_limits *limits)
{
	const struct cuttle_backend_type *type = cuttle_backend_named(check_random(&stage->random, 3) ? NULL : "poll");
	struct cuttle_loop *loop;

	pthread_mutex_init(&poller->gvl.lock, NULL);
	pthread_cond_init(&poller->gvl.turn, NULL);
	poller->listener_count = 2;
	for (int index = 0; index < 2; index++)
		poller->listeners[index] = fcntl(stage->round.listeners[index], F_DUPFD_CLOEXEC, 0);
	poller->loop = loop = cuttle_loop_open(type, poller->listeners, poller->listener_count);
	must(loop != NULL, "cuttle_loop_open");
	loop->followers.shared = check_random(&stage->random, 3) > 0;
	cuttle_core_limit(&loop->core, limits);
	loop->sheds = limits->max_queue || limits->queue_timeout;
	loop->followers.told_of_releases = check_random(&stage->random, 4) > 0;
	loop->followers.may_be_unled = !loop->sheds && loop->followers.told_of_releases;
	loop->core.spool = cuttle_spool_open("/tmp", 0, cuttle_loop_note_spooled, loop);
	must(loop->core.spool != NULL, "cuttle_spool_open");
}

/* The loops own the scoreboard afterwards. One that is alone sees another worker, which disturb plays. */
static void open_scoreboard(struct stage *stage)
{
	struct round *round = &stage->round;
	struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_open(2, 1, round->poller_count > 1 ? 2 : 0);

	must(scoreboard && cuttle_scoreboard_take(scoreboard, 1), "scoreboard");
	stage->scoreboard = scoreboard;
	atomic_store(&scoreboard->owners, (unsigned)round->poller_count);
	for (int index = 0; index < round->poller_count; index++) {
		struct cuttle_loop *loop = round->pollers[index].loop;

		loop->core.place = cuttle_scoreboard_take(scoreboard, (uint32_t)index);
		loop->core.scoreboard = scoreboard;
		loop->core.ledger = cuttle_scoreboard_ledger(scoreboard, (uint32_t)index, 0);
		cuttle_loop_open_relay(loop);
	}
}

static void open_loops(struct stage *stage)
{
	struct round *round = &stage->round;
	bool foreign_parser = check_random(&stage->random, 4) == 0;
	struct cuttle_limits limits = choose_limits(stage);

	for (int index = 0; index < round->poller_count; index++) {
		open_loop(stage, &round->pollers[index], &limits);
		round->pollers[index].loop->core.foreign_parser = foreign_parser;
		round->pollers[index].other = round->poller_count > 1 ? &round->pollers[1 - index] : NULL;
	}
	for (int index = 0; index < 2; index++)
		close(round->listeners[index]);
	if (round->poller_count > 1 || check_random(&stage->random, 4) == 0)
		open_scoreboard(stage);
}

/* The number of threads, beyond one for each loop. Loops that have few give each other more. */
static uint32_t most_threads(const struct stage *stage, uint32_t *random)
{
	return stage->round.poller_count > 1 && check_random(random, 3) ? 2 : MOST_THREADS;
}

static struct stage *set_up(uint32_t *random)
{
	struct stage *stage = calloc(1, sizeof *stage);

	stage->random = check_random(random, UINT32_MAX) + 1;
	stage->assistant_random = check_random(random, UINT32_MAX) + 1;
	stage->disturbs = check_random(random, 2);
	stage->round.poller_count = (int)check_random(random, 2) + 1;
	stage->worker_count = (int)check_random(random, most_threads(stage, random)) + stage->round.poller_count;
	stage->client_count = (int)check_random(random, check_random(random, 2) ? 3 : MOST_CLIENTS) + 1;
	stage->round.taken = calloc(MOST_CONNECTIONS, sizeof *stage->round.taken);
	pthread_mutex_init(&stage->lock, NULL);
	pthread_cond_init(&stage->hired, NULL);
	listen_at(&stage->round);
	open_loops(stage);
	for (int index = 0; index < stage->worker_count; index++) {
		struct worker *worker = &stage->workers[index];

		worker->stage = stage;
		worker->thread.poller = &stage->round.pollers[index % stage->round.poller_count];
		worker->thread.random = check_random(random, UINT32_MAX) + 1;
		pthread_mutex_init(&worker->thread.lock, NULL);
	}
	for (int index = 0; index < stage->client_count; index++)
		stage->clients[index] =
			(struct client){.round = &stage->round, .random = check_random(random, UINT32_MAX) + 1};
	return stage;
}

static void start(struct stage *stage)
{
	must(pthread_create(&stage->assistant, NULL, assist, stage) == 0, "pthread_create");
	for (int index = 0; index < stage->worker_count; index++)
		must(pthread_create(&stage->workers[index].id, NULL, work, &stage->workers[index]) == 0,
		     "pthread_create");
	for (int index = 0; index < stage->client_count; index++)
		must(pthread_create(&stage->clients[index].thread, NULL, client_run, &stage->clients[index]) == 0,
		     "pthread_create");
}

/* Waits for a thread's end, HANG seconds at most and a little, for a client that gets no answer tells more. */
static void join(struct stage *stage, pthread_t thread, const char *what)
{
	awaited = what;
	awaited_of = &stage->round.pollers[0];
	alarm(HANG + 10);
	pthread_join(thread, NULL);
	alarm(0);
}

static void give_up(int signal)
{
	(void)signal;
	demand(false, awaited_of, awaited);
}

static void join_clients(struct stage *stage)
{
	for (int index = 0; index < stage->client_count; index++)
		join(stage, stage->clients[index].thread, "clients end");
}

/* Nothing comes that would make up for what was forgotten: clients get their answers, and an interrupt is heard. */
static void calm_down(struct stage *stage)
{
	atomic_store(&stage->round.closing, true);
	join_clients(stage);
	for (int index = 0; index < stage->worker_count; index++) {
		struct ruby_thread *thread = &stage->workers[index].thread;
		uint64_t until = cuttle_now() + HANG * CUTTLE_SECOND;

		if (atomic_load(&thread->poller->loop->core.stopping))
			continue;
		gvl_acquire(&thread->poller->gvl);
		poller_interrupt(thread);
		gvl_release(&thread->poller->gvl);
		while (atomic_load(&thread->pending) && cuttle_now() < until)
			usleep(100);
		demand(!atomic_load(&thread->pending), thread->poller, "a thread that waits hears of an interrupt");
	}
}

/* Of two loops, one stops while the other goes on to serve, and accepts. */
static void stop_one(struct stage *stage)
{
	struct poller *poller = &stage->round.pollers[check_random(&stage->random, 2)];

	atomic_store(&poller->loop->core.leave_backlog, true);
	stop(poller);
}

static void finish(struct stage *stage, bool calmly)
{
	uint32_t first = check_random(&stage->random, 2);

	if (calmly)
		calm_down(stage);
	atomic_store(&stage->round.stopped, true);
	for (uint32_t index = 0; index < (uint32_t)stage->round.poller_count; index++) {
		stop(&stage->round.pollers[(index + first) % (uint32_t)stage->round.poller_count]);
		usleep(check_random(&stage->random, 3000));
	}
	if (!calmly)
		join_clients(stage);
	for (int index = 0; index < stage->worker_count; index++)
		join(stage, stage->workers[index].id, "threads end after stop, when no connection is left");
	pthread_mutex_lock(&stage->lock);
	stage->quit = true;
	pthread_cond_signal(&stage->hired);
	pthread_mutex_unlock(&stage->lock);
	join(stage, stage->assistant, "the app's other thread ends");
}

static void check_end(const struct poller *poller)
{
	struct cuttle_loop *loop = poller->loop;

	cuttle_io_thread_stop(loop);
	demand(loop->core.open == 0 && cuttle_list_empty(&loop->core.connections), poller, "no connection is left");
	demand(loop->busy == 0, poller, "no request is left in the app");
	demand(!loop->followers.leader && loop->followers.parked_count == 0, poller, "nobody waits");
	demand(!cuttle_followers_unled(loop), poller, "the loop is not unled");
	demand(cuttle_list_empty(&loop->watches) && cuttle_list_empty(&loop->fired), poller, "nothing is watched");
	for (int kind = 0; kind < CUTTLE_DEADLINES; kind++)
		demand(cuttle_list_empty(&loop->core.deadlines[kind]), poller, "no deadline is left");
}

/* What one loop gave to another that had just stopped, one of them has received, and no more is expected. */
static void check_relays(const struct stage *stage)
{
	for (uint32_t number = 0; stage->scoreboard && number < stage->scoreboard->relay_count; number++) {
		struct cuttle_parcel parcel;
		char octets[CUTTLE_PARCEL_ROOM];

		demand(cuttle_relay_receive(&stage->scoreboard->relays[number], &parcel, octets) < 0,
		       &stage->round.pollers[number], "nothing is left in a relay");
		demand(atomic_load(&stage->scoreboard->shared->at[number].coming) == 0, &stage->round.pollers[number],
		       "nothing is expected in a relay");
	}
}

static void tear_down(struct stage *stage)
{
	for (int index = 0; index < stage->round.poller_count; index++)
		check_end(&stage->round.pollers[index]);
	check_relays(stage);
	for (int index = 0; index < stage->round.poller_count; index++) {
		stood_by += stage->round.pollers[index].loop->followers.stood_by;
		left_unled += stage->round.pollers[index].left_unled;
		relayed += stage->round.pollers[index].loop->relayed;
		cuttle_core_disown(&stage->round.pollers[index].loop->core);
	}
	free(stage->round.taken);
	free(stage);
}

extern char **environ;

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20, end = cuttle_now() + seconds * CUTTLE_SECOND;
	uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1, random = seed * 2654435761u | 1;
	unsigned long long rounds = 0, connections = 0, asked = 0, answered = 0, left = 0;
	bool verbose = getenv("LOOP_THREADS_VERBOSE");

	environ = (char **)8;     /* may be in motion in a Ruby process: who looks at it ends this one */
	signal(SIGPIPE, SIG_IGN); /* as in Ruby */
	signal(SIGALRM, give_up);
	for (; cuttle_now() < end; rounds++) {
		struct stage *stage = set_up(&random);

		if (verbose)
			fprintf(stderr, "round %llu: %d loops, %d threads, %d clients\n", rounds,
				stage->round.poller_count, stage->worker_count, stage->client_count);
		start(stage);
		disturb(stage, cuttle_now() + (check_random(&random, 500) + 50) * CUTTLE_MILLISECOND);
		if (stage->round.poller_count > 1 && stage->round.graceful && check_random(&random, 2)) {
			stop_one(stage);
			disturb(stage, cuttle_now() + (check_random(&random, 200) + 50) * CUTTLE_MILLISECOND);
		}
		finish(stage, check_random(&random, 3) > 0);
		connections += atomic_load(&stage->round.next);
		asked += atomic_load(&stage->round.asked);
		answered += atomic_load(&stage->round.answered);
		left += atomic_load(&stage->round.left);
		tear_down(stage);
	}
	printf("loop_threads, seed %u: %llu rounds, %llu connections (%llu left early), %llu requests asked, %llu "
	       "taken, %llu answered; %llu given to the other loop; stood by %llu times, left unled %llu times, "
	       "disturbed %llu times\n",
	       seed, rounds, connections, left, asked, (unsigned long long)requests, answered,
	       (unsigned long long)relayed, (unsigned long long)stood_by, (unsigned long long)left_unled,
	       (unsigned long long)disturbances);
	return 0;
}
