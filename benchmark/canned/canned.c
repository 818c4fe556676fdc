/*
 * The canned responder: the highest speed of a server on this machine, because it does not interpret requests.
 *
 * Law: one thread, one epoll. Every readable event is one read and one write of a fixed string. The program ignores
 * what it reads, so it is not an HTTP server: it is the upper bound that benchmark/hello compares servers with. Use it
 * only with wrk, which sends one small request at a time on each connection.
 *
 *	canned PORT FILE [--edge]
 *
 * FILE contains the octets of the answer. --edge registers connections edge-triggered.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define MAX_RESPONSE 65536

static char response[MAX_RESPONSE];
static size_t response_length;

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

static void watch(int epoll, int descriptor, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = descriptor};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) < 0)
		die("epoll_ctl");
}

static void accept_all(int epoll, int listener, uint32_t events)
{
	int descriptor, on = 1;

	while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		watch(epoll, descriptor, events);
	}
}

/* Closing takes a descriptor out of the epoll set. */
static void answer(int descriptor)
{
	char request[4096];
	ssize_t got = read(descriptor, request, sizeof(request));

	if (got > 0)
		got = write(descriptor, response, response_length) == (ssize_t)response_length;
	else if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0)
		close(descriptor);
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS];
	uint32_t interest = EPOLLIN;
	int epoll, listener;

	if (argc < 3) {
		fprintf(stderr, "usage: canned PORT FILE [--edge]\n");
		return 2;
	}
	if (argc > 3 && strcmp(argv[3], "--edge") == 0)
		interest |= EPOLLET;
	load_response(argv[2]);
	listener = listen_on(atoi(argv[1]));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		die("epoll_create1");
	watch(epoll, listener, EPOLLIN);

	for (;;) {
		int count = epoll_wait(epoll, events, EVENTS, -1);

		if (count < 0 && errno != EINTR)
			die("epoll_wait");
		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == listener)
				accept_all(epoll, listener, interest);
			else
				answer(events[i].data.fd);
		}
	}
}
