/* Test servers; see server.h. */
#include "server.h"
#include "clock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define CLIENTS 4096

struct client {
	int descriptor;
	uint8_t matched;  /* octets matched of the empty line */
	unsigned waiting; /* requests not answered yet */
	int64_t due;      /* when to answer the first one; 0: no delay runs */
	int64_t came;     /* arrival of the last delayed request; 0: none yet */
	int64_t free;     /* earliest time its client can have sent that one: the previous answer, or its arrival */
	int64_t answered; /* time of the last answer; 0: none yet */
};

struct server {
	struct server_options options;
	char *answer;
	int64_t *delays;
	size_t next_delay;
	int listener, port;
	bool frozen; /* it has frozen already */
	int64_t first_request;
	_Atomic uint64_t requests;
	atomic_bool stop;
	struct waiter waiter;
	pthread_t thread;
	pthread_mutex_t lock; /* guards times */
	struct server_times times;
	struct client clients[CLIENTS]; /* by descriptor */
	int highest;
};

static void keep_time(struct server *server, struct histogram *histogram, int64_t time)
{
	pthread_mutex_lock(&server->lock);
	histogram_record(histogram, time);
	pthread_mutex_unlock(&server->lock);
}

static void end_cycle(struct server *server, struct client *client, int64_t now)
{
	if (client->came)
		keep_time(server, &server->times.cycle, now - client->free);
	client->came = 0;
}

static void drop_client(struct server *server, struct client *client, bool reset)
{
	struct linger now = {1, 0};

	end_cycle(server, client, clock_now());
	if (reset)
		setsockopt(client->descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(client->descriptor);
	memset(client, 0, sizeof(*client));
	client->descriptor = -1;
}

/* Answers one request. Returns false if the client is gone. Answers fit any socket buffer. */
static bool answer(struct server *server, struct client *client)
{
	const struct server_options *options = &server->options;

	client->waiting--;
	if (options->manner == MANNER_RESET) {
		drop_client(server, client, true);
		return false;
	}
	if (options->manner == MANNER_SILENCE)
		return true;
	if (options->answer_length &&
	    send(client->descriptor, server->answer, options->answer_length, MSG_NOSIGNAL) < 0) {
		drop_client(server, client, false);
		return false;
	}
	if (options->manner == MANNER_ANSWER)
		return true;
	drop_client(server, client, false);
	return false;
}

static void begin_delay(struct server *server, struct client *client, int64_t now)
{
	end_cycle(server, client, now);
	client->came = now;
	client->free = client->answered ? client->answered : now;
	client->due = now + server->delays[server->next_delay];
	if (++server->next_delay == server->options.delay_count)
		server->next_delay = 0;
}

/* Freezes like a stopped process: accepts, reads and writes nothing. */
static void freeze_when_due(struct server *server)
{
	const struct server_options *options = &server->options;
	struct timespec time = {options->freeze / SECOND, options->freeze % SECOND};

	if (!options->freeze || server->frozen || !server->first_request ||
	    clock_now() - server->first_request < options->freeze_at)
		return;
	server->frozen = true;
	while (nanosleep(&time, &time) < 0 && errno == EINTR && !atomic_load(&server->stop))
		;
}

/* Counts the requests in what was read, by their empty lines. */
static void hear(struct server *server, struct client *client, const char *octets, size_t length)
{
	static const char END[] = "\r\n\r\n";
	size_t at;

	for (at = 0; at < length; at++) {
		client->matched = octets[at] == END[client->matched] ? client->matched + 1 : octets[at] == '\r';
		if (client->matched < 4)
			continue;
		client->matched = 0;
		client->waiting++;
		atomic_fetch_add_explicit(&server->requests, 1, memory_order_relaxed);
	}
}

/* Returns when the kernel received the data, on the monotonic clock. */
static int64_t arrival(struct msghdr *message)
{
	struct cmsghdr *each;
	struct timespec came, wall;

	for (each = CMSG_FIRSTHDR(message); each; each = CMSG_NXTHDR(message, each)) {
		if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&came, CMSG_DATA(each), sizeof(came));
		clock_gettime(CLOCK_REALTIME, &wall);
		return clock_now() - (wall.tv_sec - came.tv_sec) * SECOND - (wall.tv_nsec - came.tv_nsec);
	}
	return clock_now();
}

/* Receives like recv(2). *at becomes the time at which the kernel got the octets, or if unknown, at which they were
 * read. */
static ssize_t receive(const struct client *client, void *buffer, size_t size, int64_t *at)
{
	union {
		char octets[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr aligned;
	} control;
	struct iovec part = {buffer, size};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(client->descriptor, &message, 0);

	if (got > 0)
		*at = arrival(&message);
	return got;
}

static void serve(struct server *server, struct client *client)
{
	char buffer[16384];
	int64_t at;
	ssize_t got = receive(client, buffer, sizeof(buffer), &at);

	if (got <= 0) {
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			drop_client(server, client, false);
		return;
	}
	if (!server->first_request)
		server->first_request = at;
	hear(server, client, buffer, (size_t)got);
	if (!server->delays)
		while (client->waiting && answer(server, client))
			;
	else if (client->waiting && !client->due)
		begin_delay(server, client, at);
}

static void accept_all(struct server *server)
{
	int on = 1, descriptor;

	while ((descriptor = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct client *client = &server->clients[descriptor % CLIENTS];
		struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = client};

		if (descriptor >= CLIENTS) {
			close(descriptor);
			continue;
		}
		setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (server->delays)
			setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
		*client = (struct client){.descriptor = descriptor};
		if (descriptor > server->highest)
			server->highest = descriptor;
		epoll_ctl(server->waiter.epoll, EPOLL_CTL_ADD, descriptor, &event);
	}
}

/* Sends the answers that are due. Returns when the next one is due. */
static int64_t answer_due(struct server *server)
{
	int64_t now = clock_now(), next = NEVER;
	int at;

	for (at = 0; server->delays && at <= server->highest; at++) {
		struct client *client = &server->clients[at];

		if (client->due && client->due <= now) {
			client->due = 0;
			client->answered = now;
			keep_time(server, &server->times.held, now - client->came);
			if (answer(server, client) && client->waiting)
				begin_delay(server, client, now);
		}
		if (client->due && client->due < next)
			next = client->due;
	}
	return next;
}

static void *run(void *argument)
{
	struct server *server = argument;
	struct epoll_event events[EVENTS];

	waiter_settle();
	while (!atomic_load(&server->stop)) {
		int64_t next = answer_due(server);
		int at, count = waiter_wait(&server->waiter, events, EVENTS, clock_now(), next);

		freeze_when_due(server);
		for (at = 0; at < count; at++) {
			if (events[at].data.ptr == server)
				accept_all(server);
			else if (events[at].data.ptr)
				serve(server, events[at].data.ptr);
		}
	}
	return NULL;
}

static bool listen_locally(struct server *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = server};
	socklen_t length = sizeof(address);

	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&address, length) < 0 ||
	    listen(server->listener, 4096) < 0 ||
	    getsockname(server->listener, (struct sockaddr *)&address, &length) < 0)
		return false;
	server->port = ntohs(address.sin_port);
	return epoll_ctl(server->waiter.epoll, EPOLL_CTL_ADD, server->listener, &event) == 0;
}

static bool copy_options(struct server *server, const struct server_options *options)
{
	server->options = *options;
	server->answer = malloc(options->answer_length + 1);
	if (!server->answer)
		return false;
	if (options->answer_length)
		memcpy(server->answer, options->answer, options->answer_length);
	if (!options->delay_count)
		return true;
	server->delays = malloc(options->delay_count * sizeof(*server->delays));
	if (server->delays)
		memcpy(server->delays, options->delays, options->delay_count * sizeof(*server->delays));
	return server->delays != NULL;
}

static void release(struct server *server)
{
	int at;

	for (at = 0; at < CLIENTS; at++)
		if (server->clients[at].descriptor > 0)
			close(server->clients[at].descriptor);
	if (server->listener >= 0)
		close(server->listener);
	waiter_close(&server->waiter);
	pthread_mutex_destroy(&server->lock);
	free(server->answer);
	free(server->delays);
	free(server);
}

static int spawn(struct server *server)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&server->thread, NULL, run, server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return error;
}

struct server *server_start(const struct server_options *options)
{
	struct server *server = calloc(1, sizeof(*server));
	int error;

	if (!server)
		return NULL;
	pthread_mutex_init(&server->lock, NULL);
	histogram_clear(&server->times.held);
	histogram_clear(&server->times.cycle);
	server->listener = -1;
	server->waiter = (struct waiter){.epoll = -1, .wake = -1, .timer = -1};
	if (copy_options(server, options) && waiter_open(&server->waiter) && listen_locally(server) &&
	    spawn(server) == 0)
		return server;
	error = errno;
	release(server);
	errno = error;
	return NULL;
}

int server_port(const struct server *server)
{
	return server->port;
}

uint64_t server_requests(const struct server *server)
{
	return atomic_load_explicit(&server->requests, memory_order_relaxed);
}

void server_copy_times(struct server *server, struct server_times *times)
{
	pthread_mutex_lock(&server->lock);
	*times = server->times;
	pthread_mutex_unlock(&server->lock);
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	atomic_store(&server->stop, true);
	waiter_wake(&server->waiter);
	pthread_join(server->thread, NULL);
	release(server);
}
