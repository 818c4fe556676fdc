/* The pump and its tunnels; see tunnel.h. One lock guards everything here. The pump holds it except while it waits, and
 * nothing else holds it for long. It is taken after a loop's lock. */
#include "tunnel.h"
#include "backend.h"
#include "clock.h"
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM 16384                    /* octets moved at once */
#define TURN (256 << 10)              /* octets of a direction before other tunnels get their turn */
#define LINGER (2 * CUTTLE_SECOND)    /* for the client to read our last octets */
#define PATIENCE (30 * CUTTLE_SECOND) /* with a client that takes nothing of what an app has left behind */
#define EVENTS 64

enum side { OUTER, INNER };

/* One direction: octets that were read and not passed on. */
struct flow {
	char *octets; /* NULL: none */
	size_t start, length;
	bool ended;     /* the last octet was read */
	bool passed_on; /* and the other side knows it */
};

struct tunnel {
	struct cuttle_link all, work, timed;
	struct cuttle_transport transport;
	int inner;           /* our end of the pair */
	struct flow in, out; /* to the app, and to the client */
	uint32_t number;     /* of its slot */
	uint32_t read_wants; /* what the transport waits for to read, and to write (backend.h) */
	uint32_t write_wants;
	bool hangup;       /* the client has closed: the input's end comes after a short read */
	bool left;         /* the app has closed its end */
	bool broken;       /* the transport failed */
	uint64_t deadline; /* 0: none */
};

/* A report carries slot and generation, so a late report matches no tunnel. */
struct slot {
	struct tunnel *tunnel; /* NULL: free */
	uint32_t generation;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t fewer; /* signalled when a tunnel has ended; made with the pump */
	const struct cuttle_backend_type *type;
	struct cuttle_backend *backend; /* NULL: there is no pump */
	struct slot *slots;
	uint32_t room, next, generation, count;
	struct cuttle_link all, work, timed; /* work: tunnels to step; timed: those with a deadline, which are few */
	bool closing;                        /* the tunnels are to end, because the process exits */
} pump = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.all = {&pump.all, &pump.all},
	.work = {&pump.work, &pump.work},
	.timed = {&pump.timed, &pump.timed},
};

static uint64_t token(const struct tunnel *tunnel, enum side side)
{
	return (uint64_t)pump.slots[tunnel->number].generation << 32 | tunnel->number << 1 | (uint32_t)side;
}

static void set_to_work(struct tunnel *tunnel)
{
	if (cuttle_list_empty(&tunnel->work))
		cuttle_list_append(&pump.work, &tunnel->work);
}

/* 0: none. */
static void set_deadline(struct tunnel *tunnel, uint64_t deadline)
{
	tunnel->deadline = deadline;
	cuttle_list_remove(&tunnel->timed);
	if (deadline)
		cuttle_list_append(&pump.timed, &tunnel->timed);
}

/* Flows */

static void clear(struct flow *flow)
{
	free(flow->octets);
	flow->octets = NULL;
	flow->start = flow->length = 0;
}

/* Keeps what the other side did not take. Returns false without memory. */
static bool keep(struct flow *flow, const char *octets, size_t count)
{
	flow->octets = malloc(count);
	if (!flow->octets)
		return false;
	memcpy(flow->octets, octets, count);
	flow->start = 0;
	flow->length = count;
	return true;
}

static void drop(struct flow *flow, size_t count)
{
	flow->start += count;
	flow->length -= count;
	if (flow->length == 0)
		clear(flow);
}

/* Towards the app */

/* Gives octets to the app. Returns how many it took; all if it reads no more. */
static size_t give(struct tunnel *tunnel, const char *octets, size_t count)
{
	ssize_t sent = tunnel->left ? -1 : send(tunnel->inner, octets, count, 0); /* Ruby ignores SIGPIPE */

	if (sent >= 0)
		return (size_t)sent;
	if (!tunnel->left && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS))
		return 0;
	tunnel->left = true;
	return count;
}

/* Returns false if the app must read first. */
static bool give_kept(struct tunnel *tunnel)
{
	if (tunnel->in.length > 0)
		drop(&tunnel->in, give(tunnel, tunnel->in.octets + tunnel->in.start, tunnel->in.length));
	return tunnel->in.length == 0;
}

/* Returns how much of its turn that took. */
static size_t pour_in(struct tunnel *tunnel)
{
	const struct cuttle_transport_type *type = tunnel->transport.type;
	char octets[ROOM];
	size_t moved = 0;

	while (moved < TURN && give_kept(tunnel) && !tunnel->in.ended) {
		ssize_t count = type->read(&tunnel->transport, octets, sizeof octets);
		size_t given;

		tunnel->read_wants = count == CUTTLE_WANT_WRITE ? CUTTLE_WRITE : CUTTLE_READ;
		if (count == CUTTLE_WANT_READ && tunnel->hangup)
			continue;
		if (count == CUTTLE_WANT_READ || count == CUTTLE_WANT_WRITE)
			break;
		tunnel->in.ended = count <= 0;
		tunnel->broken = tunnel->broken || count < 0;
		if (count <= 0)
			break;
		moved += sizeof octets; /* a short read may take as long as a full one */
		given = give(tunnel, octets, (size_t)count);
		if (given < (size_t)count && !keep(&tunnel->in, octets + given, (size_t)count - given))
			tunnel->broken = true;
	}
	if (tunnel->in.ended && tunnel->in.length == 0 && !tunnel->in.passed_on) {
		shutdown(tunnel->inner, SHUT_WR);
		tunnel->in.passed_on = true;
	}
	return moved;
}

/* Towards the client */

/* Sends octets to the client. Returns how many the transport took. */
static size_t send_out(struct tunnel *tunnel, char *octets, size_t count)
{
	struct iovec part = {.iov_base = octets, .iov_len = count};
	ssize_t sent = tunnel->transport.type->write(&tunnel->transport, &part, 1);

	tunnel->write_wants = sent == CUTTLE_WANT_READ ? CUTTLE_READ : CUTTLE_WRITE;
	if (sent == CUTTLE_FAILED)
		tunnel->broken = true;
	return sent > 0 ? (size_t)sent : 0;
}

/* Sends what was kept. Returns octets sent. */
static size_t send_kept(struct tunnel *tunnel)
{
	size_t sent = 0;

	while (tunnel->out.length > 0 && !tunnel->broken) {
		size_t count = send_out(tunnel, tunnel->out.octets + tunnel->out.start, tunnel->out.length);

		if (count == 0)
			break;
		drop(&tunnel->out, count);
		sent += count;
	}
	return sent;
}

/* Reads from the app. Returns octets read; 0 if there are none now, or no more. */
static size_t take(struct tunnel *tunnel, char *octets, size_t room)
{
	ssize_t count = recv(tunnel->inner, octets, room, 0);

	if (count > 0)
		return (size_t)count;
	if (count < 0 && errno == EINTR)
		set_to_work(tunnel);
	else if (count == 0 || pump.closing || (errno != EAGAIN && errno != EWOULDBLOCK))
		tunnel->out.ended = true;
	return 0;
}

/* Tells the client that the app has sent everything. */
static void part(struct tunnel *tunnel)
{
	const struct cuttle_transport_type *type = tunnel->transport.type;

	if (type->farewell && type->farewell(&tunnel->transport) == CUTTLE_WANT_WRITE) {
		tunnel->write_wants = CUTTLE_WRITE;
		return;
	}
	type->finish(&tunnel->transport);
	tunnel->out.passed_on = true;
	set_deadline(tunnel, 0);
}

/* Returns octets sent to the client. */
static size_t pour_out(struct tunnel *tunnel)
{
	size_t moved = send_kept(tunnel);

	while (moved < TURN && tunnel->out.length == 0 && !tunnel->out.ended && !tunnel->broken) {
		char octets[ROOM];
		size_t count = take(tunnel, octets, sizeof octets), sent;

		if (count == 0)
			break;
		sent = send_out(tunnel, octets, count);
		moved += sent;
		if (sent == count)
			continue;
		if (!keep(&tunnel->out, octets + sent, count - sent))
			tunnel->broken = true;
		else
			moved += send_kept(tunnel);
	}
	if (tunnel->out.ended && tunnel->out.length == 0 && !tunnel->out.passed_on && !tunnel->broken)
		part(tunnel);
	return moved;
}

/* Tunnels */

static void end(struct tunnel *tunnel)
{
	pump.type->remove(pump.backend, tunnel->transport.fd);
	pump.type->remove(pump.backend, tunnel->inner);
	tunnel->transport.type->close(&tunnel->transport);
	close(tunnel->inner);
	clear(&tunnel->in);
	clear(&tunnel->out);
	pump.slots[tunnel->number].tunnel = NULL;
	cuttle_list_remove(&tunnel->all);
	cuttle_list_remove(&tunnel->work);
	cuttle_list_remove(&tunnel->timed);
	free(tunnel);
	pump.count--;
	pthread_cond_broadcast(&pump.fewer);
}

static void wait_for(struct tunnel *tunnel)
{
	bool to_client = tunnel->out.length > 0 || (tunnel->out.ended && !tunnel->out.passed_on);
	uint32_t outer = to_client ? tunnel->write_wants : 0;
	uint32_t inner = tunnel->in.length > 0 ? CUTTLE_WRITE : 0;

	if (tunnel->in.length == 0 && !tunnel->in.ended)
		outer |= tunnel->read_wants;
	if (tunnel->out.length == 0 && !tunnel->out.ended)
		inner |= CUTTLE_READ;
	pump.type->arm(pump.backend, tunnel->transport.fd, outer);
	pump.type->arm(pump.backend, tunnel->inner, inner);
}

/* Moves what can be moved now. */
static void step(struct tunnel *tunnel, uint64_t now)
{
	size_t out = pour_out(tunnel), in = tunnel->broken ? 0 : pour_in(tunnel);

	if (tunnel->broken || (tunnel->out.passed_on && (tunnel->in.passed_on || pump.closing))) {
		end(tunnel);
		return;
	}
	if (tunnel->left && (!tunnel->deadline || out > 0))
		set_deadline(tunnel, now + (tunnel->out.passed_on ? LINGER : PATIENCE));
	if (in >= TURN || out >= TURN)
		set_to_work(tunnel);
	else
		wait_for(tunnel);
}

static void step_all(uint64_t now)
{
	struct cuttle_link turn, *link;

	if (cuttle_list_empty(&pump.work))
		return;
	turn = pump.work;
	turn.next->previous = turn.previous->next = &turn;
	cuttle_list_reset(&pump.work);
	while ((link = cuttle_list_shift(&turn)))
		step(CUTTLE_CONTAINER(link, struct tunnel, work), now);
}

/* Ends tunnels that an app has left and whose time is up. Returns nanoseconds until the next one, -1: there is none. */
static int64_t expire(uint64_t now)
{
	struct cuttle_link *link = pump.timed.next, *next;
	int64_t nearest = -1;

	for (; link != &pump.timed; link = next) {
		struct tunnel *tunnel = CUTTLE_CONTAINER(link, struct tunnel, timed);
		int64_t left = (int64_t)(tunnel->deadline - now);

		next = link->next;
		if (left <= 0)
			end(tunnel);
		else if (nearest < 0 || left < nearest)
			nearest = left;
	}
	return nearest;
}

static void note(const struct cuttle_event *event)
{
	uint32_t number = (uint32_t)event->token >> 1;
	struct tunnel *tunnel = number < pump.room ? pump.slots[number].tunnel : NULL;

	if (!tunnel || pump.slots[number].generation != (uint32_t)(event->token >> 32))
		return;
	if ((event->token & 1) == INNER && (event->ready & CUTTLE_GONE))
		tunnel->left = true;
	if ((event->token & 1) == OUTER && (event->ready & (CUTTLE_HANGUP | CUTTLE_GONE)))
		tunnel->hangup = true;
	set_to_work(tunnel);
}

static void *run(void *argument)
{
	struct cuttle_event events[EVENTS];

	(void)argument;
	pthread_mutex_lock(&pump.lock);
	for (;;) {
		uint64_t now = cuttle_now();
		int64_t timeout;
		int count;

		step_all(now);
		timeout = expire(now);
		if (!cuttle_list_empty(&pump.work))
			timeout = 0;
		pthread_mutex_unlock(&pump.lock);
		count = pump.type->wait(pump.backend, events, EVENTS, timeout);
		pthread_mutex_lock(&pump.lock);
		for (int index = 0; index < count; index++)
			note(&events[index]);
	}
	return NULL;
}

/* Starts the pump, if there is none. Returns false with errno. */
static bool start(void)
{
	pthread_t thread;
	sigset_t all, before;
	int failed;

	if (pump.backend)
		return true;
	pump.type = cuttle_backend_named(NULL);
	pump.backend = pump.type->open();
	if (!pump.backend)
		return false;
	cuttle_cond_init(&pump.fewer); /* no thread waits for it yet, or after a fork */
	sigfillset(&all);              /* signals belong to Ruby */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed) {
		pthread_detach(thread);
		return true;
	}
	pump.type->close(pump.backend);
	pump.backend = NULL;
	errno = failed;
	return false;
}

/* Finds a free slot. Returns false without memory. */
static bool find_slot(struct tunnel *tunnel)
{
	if (pump.count == pump.room) {
		uint32_t room = pump.room ? 2 * pump.room : 16;
		struct slot *grown = realloc(pump.slots, room * sizeof *grown);

		if (!grown)
			return false;
		memset(grown + pump.room, 0, (room - pump.room) * sizeof *grown);
		pump.slots = grown;
		pump.next = pump.room;
		pump.room = room;
	}
	while (pump.slots[pump.next].tunnel)
		pump.next = (pump.next + 1) % pump.room;
	if (++pump.generation == 0)
		pump.generation = 1;
	tunnel->number = pump.next;
	pump.slots[pump.next] = (struct slot){.tunnel = tunnel, .generation = pump.generation};
	return true;
}

/* Puts a tunnel to work. Returns false with errno. */
static bool enter(struct tunnel *tunnel)
{
	if (!start() || !find_slot(tunnel))
		return false;
	if (pump.type->add(pump.backend, tunnel->transport.fd, token(tunnel, OUTER)) < 0 ||
	    pump.type->add(pump.backend, tunnel->inner, token(tunnel, INNER)) < 0) {
		pump.type->remove(pump.backend, tunnel->transport.fd);
		pump.slots[tunnel->number].tunnel = NULL;
		return false;
	}
	pump.count++;
	cuttle_list_append(&pump.all, &tunnel->all);
	set_to_work(tunnel);
	pump.type->wake(pump.backend);
	return true;
}

static int open_pair(int pair[2])
{
#ifdef __linux__
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
#else
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return -1;
	for (int end = 0; end < 2; end++) {
		fcntl(pair[end], F_SETFD, FD_CLOEXEC);
		fcntl(pair[end], F_SETFL, O_NONBLOCK);
	}
	return 0;
#endif
}

int cuttle_tunnel_open(struct cuttle_transport *transport)
{
	struct tunnel *tunnel = calloc(1, sizeof *tunnel);
	int pair[2], error;
	bool entered;

	if (!tunnel || open_pair(pair) < 0) {
		free(tunnel);
		return -1;
	}
	tunnel->transport = *transport;
	tunnel->inner = pair[0];
	tunnel->read_wants = CUTTLE_READ;
	tunnel->write_wants = CUTTLE_WRITE;
	cuttle_list_reset(&tunnel->all);
	cuttle_list_reset(&tunnel->work);
	cuttle_list_reset(&tunnel->timed);
	pthread_mutex_lock(&pump.lock);
	entered = enter(tunnel);
	error = errno;
	pthread_mutex_unlock(&pump.lock);
	if (!entered) {
		free(tunnel);
		close(pair[0]);
		close(pair[1]);
		errno = error;
		return -1;
	}
	transport->context = NULL;
	transport->fd = -1;
	return pair[1];
}

void cuttle_tunnels_close(uint64_t nanoseconds)
{
	uint64_t until = cuttle_now() + nanoseconds, now;

	pthread_mutex_lock(&pump.lock);
	pump.closing = true;
	for (struct cuttle_link *link = pump.all.next; link != &pump.all; link = link->next)
		set_to_work(CUTTLE_CONTAINER(link, struct tunnel, all));
	if (pump.count > 0)
		pump.type->wake(pump.backend);
	while (pump.count > 0 && (now = cuttle_now()) < until)
		cuttle_cond_wait(&pump.fewer, &pump.lock, until - now);
	pump.closing = false; /* code that runs later at the exit, as test suites do, may open others */
	pthread_mutex_unlock(&pump.lock);
}

/* Makes only async-signal-safe calls. The child has no pump, and nobody frees what the tunnels have. */
static void disinherit(void)
{
	for (struct cuttle_link *link = pump.all.next; link != &pump.all; link = link->next) {
		struct tunnel *tunnel = CUTTLE_CONTAINER(link, struct tunnel, all);

		close(tunnel->transport.fd);
		close(tunnel->inner);
	}
	if (pump.backend)
		pump.type->abandon(pump.backend);
	pump.backend = NULL;
	pump.slots = NULL;
	pump.room = pump.next = pump.count = 0;
	pump.closing = false;
	cuttle_list_reset(&pump.all);
	cuttle_list_reset(&pump.work);
	cuttle_list_reset(&pump.timed);
}

void cuttle_tunnels_fork(enum cuttle_fork when)
{
	if (when == CUTTLE_FORK_BEGINS) {
		pthread_mutex_lock(&pump.lock);
		return;
	}
	if (when == CUTTLE_FORK_IN_CHILD)
		disinherit();
	pthread_mutex_unlock(&pump.lock);
}
