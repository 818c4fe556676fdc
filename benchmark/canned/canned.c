/*
 * The canned responder: the highest speed of a server on this machine, because it does not interpret requests.
 *
 * Law: one thread, one epoll. Every readable event is one read and one write of a fixed string, unless the string is
 * too long for the kernel's buffer. The program ignores what it reads, so it is not an HTTP server: it is the upper
 * bound that benchmarks compare servers with. Use it only with wrk, which sends one request at a time on each
 * connection, and its head at once.
 *
 *	canned PORT FILE [--edge] [--close] [--bodies]
 *
 * FILE contains the octets of the answer. --edge registers connections edge-triggered. --close closes each connection
 * after its answer. --bodies waits for the whole body of a request, whose length is in its head.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define MAX_RESPONSE 1048576
#define MAX_CLIENTS 65536

/* A connection; all zero between two requests. */
struct client {
	size_t missing; /* octets of the request's body that have not come yet */
	size_t left;    /* octets of the response that have not been sent yet */
};

static char response[MAX_RESPONSE];
static size_t response_length;
static struct client clients[MAX_CLIENTS]; /* by descriptor */
static bool edge, closing, bodies;

static void die(const char *what)
{
	fprintf(stderr, "canned: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void load_response(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		die(path);
	response_length = fread(response, 1, sizeof(response), file);
	fclose(file);
	if (response_length == 0 || response_length == sizeof(response)) {
		fprintf(stderr, "canned: %s: empty, or longer than %d octets\n", path, MAX_RESPONSE - 1);
		exit(1);
	}
}

static int listen_on(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (listener < 0)
		die("socket");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("bind");
	if (listen(listener, 4096) < 0)
		die("listen");
	return listener;
}

/* operation: EPOLL_CTL_ADD or EPOLL_CTL_MOD. */
static void watch(int epoll, int operation, int descriptor, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = descriptor};

	if (epoll_ctl(epoll, operation, descriptor, &event) < 0)
		die("epoll_ctl");
}

static uint32_t interest(uint32_t events)
{
	return edge ? events | EPOLLET : events;
}

static void accept_all(int epoll, int listener)
{
	int descriptor, on = 1;

	while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		if (descriptor >= MAX_CLIENTS) {
			close(descriptor);
			continue;
		}
		clients[descriptor] = (struct client){0};
		setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		watch(epoll, EPOLL_CTL_ADD, descriptor, interest(EPOLLIN));
	}
}

/* Whether these octets, to which a NUL was added, complete the client's request. */
static bool is_complete(struct client *client, const char *octets, size_t count)
{
	const char *end, *field;
	size_t come = count;

	if (!client->missing) {
		end = strstr(octets, "\r\n\r\n");
		field = strcasestr(octets, "\r\ncontent-length:");
		if (!end || !field || field > end)
			return true;
		client->missing = strtoul(field + strlen("\r\ncontent-length:"), NULL, 10);
		come = count - (size_t)(end + 4 - octets);
	}
	client->missing -= come < client->missing ? come : client->missing;
	return client->missing == 0;
}

/* Reads. Returns whether a request is complete. Closing takes a descriptor out of the epoll set. */
static bool hear(int descriptor)
{
	char octets[4096 + 1];
	ssize_t got = read(descriptor, octets, sizeof(octets) - 1);

	if (got <= 0) {
		if (got == 0 || errno != EAGAIN)
			close(descriptor);
		return false;
	}
	octets[got] = '\0';
	return !bodies || is_complete(&clients[descriptor], octets, (size_t)got);
}

static void answer(int epoll, int descriptor)
{
	struct client *client = &clients[descriptor];
	bool waited = client->left > 0;
	ssize_t put;

	if (!waited) {
		if (!hear(descriptor))
			return;
		client->left = response_length;
	}
	put = write(descriptor, response + response_length - client->left, client->left);
	if (put > 0)
		client->left -= (size_t)put;
	if ((put < 0 && errno != EAGAIN) || (closing && !client->left))
		close(descriptor);
	else if (waited != (client->left > 0))
		watch(epoll, EPOLL_CTL_MOD, descriptor, interest(waited ? EPOLLIN : EPOLLOUT));
}

static void read_options(char **options)
{
	for (; *options; options++) {
		edge = edge || strcmp(*options, "--edge") == 0;
		closing = closing || strcmp(*options, "--close") == 0;
		bodies = bodies || strcmp(*options, "--bodies") == 0;
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS];
	int epoll, listener;

	if (argc < 3) {
		fprintf(stderr, "usage: canned PORT FILE [--edge] [--close] [--bodies]\n");
		return 2;
	}
	read_options(argv + 3);
	load_response(argv[2]);
	listener = listen_on(atoi(argv[1]));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		die("epoll_create1");
	watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN);

	for (;;) {
		int count = epoll_wait(epoll, events, EVENTS, -1);

		if (count < 0 && errno != EINTR)
			die("epoll_wait");
		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == listener)
				accept_all(epoll, listener);
			else
				answer(epoll, events[i].data.fd);
		}
	}
}
