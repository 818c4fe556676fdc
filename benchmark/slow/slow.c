/*
 * Slow clients: thousands of connections that occupy a server, from one thread that uses little CPU time itself.
 *
 *	slow PORT [--interval MS] KIND:COUNT[:PATH] …
 *
 *	heads:N           send a request head that never ends, an octet per interval (1000 ms)
 *	bodies:N          send a POST with a body that never ends, an octet per interval
 *	sockets:N:PATH    become WebSockets at PATH, subscribe to Action Cable's NewsChannel, and read what arrives
 *	readers:N:PATH    request PATH, and read 600 octets of the response per second
 *	stuck:N:PATH      request PATH, and read nothing
 *
 * Invariant: a client is CLOSED (no descriptor), CONNECTING or ACTIVE. A client whose connection the server closes
 * connects again within a second, as an attacker would. Turns are spread evenly over the interval, and connecting over
 * a second. While every client is active and none has turns, the program sleeps: it shares a core with the load.
 *
 * Prints "ready" when every client was active at least once, and every WebSocket subscribed, or after 20 s. Then the
 * program answers each line on standard input, whatever its content, with the counts as a line of JSON. It exits at the
 * end of standard input. All connections request an Ethernet MSS and have a small receive buffer. With the loopback
 * device's MSS of 64 KB the kernel would buffer megabytes of an unread response, which it can't on a real network.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 512
#define MAX_CLIENTS 60000
#define STANDARD_INPUT MAX_CLIENTS /* among the events; hear reads it */
#define STEP_MS 10                 /* between two turns */
#define CONNECT_MS 1000            /* in which every closed client tries to connect */
#define PATIENCE_MS 20000          /* for every client to become active once */
#define PER_ADDRESS 4000           /* clients that share a source address, and so its local ports */
#define READ_RATE 600              /* octets per second that a reader takes: slightly more than a server may require */
#define MAX_PORTION 65536
#define SUBSCRIBE "{\"command\":\"subscribe\",\"identifier\":\"{\\\"channel\\\":\\\"NewsChannel\\\"}\"}"
#define SUBSCRIBED "confirm_subscription"
#define RECEIVE_BUFFER 4096
#define MSS 1448

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum kind { HEADS, BODIES, SOCKETS, READERS, STUCK, KINDS };
enum state { CLOSED, CONNECTING, ACTIVE };

static const char *const NAMES[KINDS] = {"heads", "bodies", "sockets", "readers", "stuck"};

/* active: clients of this kind now; opened: connections so far; closed: those of them that the server ended; refused:
 * failed attempts; answered: connections on which octets arrived; octets: their number. */
struct counts {
	long wanted, active, opened, closed, refused, answered, octets;
};

struct client {
	int descriptor;
	unsigned char kind, state;
	bool was_active, answered;
};

static struct client clients[MAX_CLIENTS];
static int client_count, ready_count, epoll;
static size_t portion; /* octets that a reader takes per turn */
static struct counts counts[KINDS];
static char opening[KINDS][512];
static struct sockaddr_in server;

static void die(const char *what)
{
	fprintf(stderr, "slow: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fprintf(stderr, "usage: slow PORT [--interval MS] heads:N|bodies:N|sockets:N:PATH|readers:N:PATH|"
			"stuck:N:PATH …\n");
	exit(2);
}

static long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000L + time.tv_nsec / 1000000;
}

static void set_opening(enum kind kind, const char *path)
{
	const char *format =
		kind == HEADS     ? "GET %s HTTP/1.1\r\nHost: slow\r\nX-Slow: "
		: kind == BODIES  ? "POST %s HTTP/1.1\r\nHost: slow\r\nContent-Length: 1000000\r\n\r\n"
		: kind == SOCKETS ? "GET %s HTTP/1.1\r\nHost: slow\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
				    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2xvdyBjbGllbnQgaGVyZQ==\r\n\r\n"
				  : "GET %s HTTP/1.1\r\nHost: slow\r\n\r\n";
	int length = snprintf(opening[kind], sizeof(opening[kind]), format, path);

	if (length < 0 || (size_t)length >= sizeof(opening[kind]))
		usage();
}

/* One argument: KIND:COUNT[:PATH]. */
static void add_clients(char *argument)
{
	char *name = strtok(argument, ":"), *count = strtok(NULL, ":"), *path = strtok(NULL, "");
	enum kind kind = 0;

	while (name && kind < KINDS && strcmp(name, NAMES[kind]) != 0)
		kind++;
	if (!name || kind == KINDS || !count || atoi(count) < 1 || client_count + atoi(count) > MAX_CLIENTS)
		usage();
	set_opening(kind, path ? path : "/");
	counts[kind].wanted += atoi(count);
	for (int i = atoi(count); i > 0; i--)
		clients[client_count++] = (struct client){.descriptor = -1, .kind = (unsigned char)kind};
}

/* The client has lost its connection. */
static void leave(struct client *client, long *count)
{
	if (client->state == ACTIVE)
		counts[client->kind].active--;
	if (client->descriptor >= 0)
		close(client->descriptor);
	client->descriptor = -1;
	client->state = CLOSED;
	client->answered = false;
	++*count;
}

/* A socket. Each PER_ADDRESS clients have their own source address. */
static int new_socket(int number)
{
	struct sockaddr_in source = {.sin_family = AF_INET};
	int on = 1, buffer = RECEIVE_BUFFER, mss = MSS;
	int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0)
		return -1;
	source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)(number / PER_ADDRESS));
	setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss));
	setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (bind(descriptor, (struct sockaddr *)&source, sizeof(source)) < 0)
		die("bind");
	return descriptor;
}

static void begin(struct client *client)
{
	int number = (int)(client - clients);
	/* A client that reads at its own pace needs only the event for the end. */
	uint32_t interest = EPOLLOUT | EPOLLRDHUP | EPOLLET | (client->kind < READERS ? EPOLLIN : 0);
	struct epoll_event event = {.events = interest, .data.u32 = (uint32_t)number};

	client->descriptor = new_socket(number);
	if (client->descriptor < 0 ||
	    (connect(client->descriptor, (struct sockaddr *)&server, sizeof(server)) < 0 && errno != EINPROGRESS)) {
		leave(client, &counts[client->kind].refused);
		return;
	}
	client->state = CONNECTING;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->descriptor, &event) < 0)
		die("epoll_ctl");
}

/* The client has become active. */
static void arrive(struct client *client)
{
	if (!client->was_active)
		ready_count++;
	client->was_active = true;
}

/* The connection is established: sends the part of a request that is sent immediately. */
static void introduce(struct client *client)
{
	const char *text = opening[client->kind];

	if (send(client->descriptor, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text)) {
		leave(client, &counts[client->kind].refused);
		return;
	}
	client->state = ACTIVE;
	counts[client->kind].active++;
	counts[client->kind].opened++;
	if (client->kind != SOCKETS)
		arrive(client);
}

/* Reads what is available, up to a portion. At the end of the connection, the client is closed. */
static void take(struct client *client)
{
	char octets[MAX_PORTION];
	ssize_t got = recv(client->descriptor, octets, portion, 0);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		leave(client, &counts[client->kind].closed);
		return;
	}
	if (got < 0)
		return;
	counts[client->kind].octets += got;
	if (!client->answered)
		counts[client->kind].answered++;
	client->answered = true;
}

/* Sends a text frame, masked with zeros. */
static bool subscribe(int descriptor)
{
	static const char text[] = SUBSCRIBE;
	char frame[6 + sizeof(text) - 1] = {(char)0x81, (char)(0x80 | (sizeof(text) - 1))};

	memcpy(frame + 6, text, sizeof(text) - 1);
	return send(descriptor, frame, sizeof(frame), MSG_NOSIGNAL) == sizeof(frame);
}

/* Reads everything that is available. The first octets show whether this is a WebSocket. */
static void listen_to(struct client *client)
{
	static const char switching[13] = "HTTP/1.1 101 ";
	char octets[MAX_PORTION];
	ssize_t got;

	while ((got = recv(client->descriptor, octets, sizeof(octets), 0)) > 0) {
		counts[SOCKETS].octets += got;
		if (!client->answered &&
		    (got < (ssize_t)sizeof(switching) || memcmp(octets, switching, sizeof(switching)) != 0 ||
		     !subscribe(client->descriptor))) {
			leave(client, &counts[SOCKETS].refused);
			return;
		}
		if (!client->answered)
			counts[SOCKETS].answered++;
		client->answered = true;
		if (!client->was_active && memmem(octets, (size_t)got, SUBSCRIBED, sizeof(SUBSCRIBED) - 1))
			arrive(client);
	}
	if (got == 0 || errno != EAGAIN)
		leave(client, &counts[SOCKETS].closed);
}

static void drip(struct client *client)
{
	if (send(client->descriptor, "a", 1, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		leave(client, &counts[client->kind].closed);
}

static void turn(struct client *client)
{
	if (client->state == ACTIVE && client->kind <= BODIES)
		drip(client);
	else if (client->state == ACTIVE && client->kind == READERS)
		take(client);
}

static void handle(struct client *client, uint32_t events)
{
	if (client->state == CONNECTING && events & (EPOLLERR | EPOLLHUP))
		leave(client, &counts[client->kind].refused);
	else if (client->state == CONNECTING && events & EPOLLOUT)
		introduce(client);
	if (client->state == ACTIVE && client->kind == SOCKETS && events & EPOLLIN)
		listen_to(client);
	else if (client->state == ACTIVE && client->kind < READERS && events & EPOLLIN)
		take(client);
	if (client->state == ACTIVE && events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		leave(client, &counts[client->kind].closed);
}

static void print_counts(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"cpu\":%.3f", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
					(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	for (int i = 0; i < KINDS; i++) {
		struct counts *each = &counts[i];

		if (each->wanted)
			printf(",\"%s\":{\"wanted\":%ld,\"active\":%ld,\"opened\":%ld,\"closed\":%ld,\"refused\":%ld,"
			       "\"answered\":%ld,\"octets\":%ld}",
			       NAMES[i], each->wanted, each->active, each->opened, each->closed, each->refused,
			       each->answered, each->octets);
	}
	printf("}\n");
	fflush(stdout);
}

/* Whether standard input is still open. */
static bool hear(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char line[256];

	if (poll(&input, 1, 0) <= 0)
		return true;
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return false;
	print_counts();
	return true;
}

/* Gives a turn to all clients that are due by +now+: turns are STEP_MS apart, and each client has one in +steps+ of
 * them. */
static void take_turns(long *next, long now, int steps)
{
	const int rest = CONNECT_MS / STEP_MS;

	for (; *next <= now; *next += STEP_MS) {
		for (int i = (int)(*next / STEP_MS % rest); i < client_count; i += rest)
			if (clients[i].state == CLOSED)
				begin(&clients[i]);
		for (int i = (int)(*next / STEP_MS % steps); i < client_count; i += steps)
			turn(&clients[i]);
	}
}

static void wait_for_events(long milliseconds)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(epoll, events, EVENTS, (int)milliseconds);

	if (count < 0 && errno != EINTR)
		die("epoll_wait");
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 != STANDARD_INPUT)
			handle(&clients[events[i].data.u32], events[i].events);
}

/* Whether there is nothing to do before a client or standard input has something to read. */
static bool at_rest(void)
{
	long active = counts[SOCKETS].active + counts[STUCK].active;

	return ready_count == client_count && active == client_count;
}

static void run(int steps)
{
	long began = now_ms(), next = began;
	bool ready = false;

	while (hear()) {
		long now = now_ms();

		take_turns(&next, now, steps);
		if (!ready && (ready_count == client_count || now - began > PATIENCE_MS)) {
			ready = true;
			printf("ready\n");
			fflush(stdout);
		}
		if (at_rest()) {
			wait_for_events(-1);
			next = now_ms();
		} else {
			wait_for_events(next > now ? next - now : 0);
		}
	}
}

static void allow_descriptors(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < (rlim_t)client_count + 16) {
		fprintf(stderr, "slow: %d clients, and %lu descriptors\n", client_count, (unsigned long)limit.rlim_cur);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event input = {.events = EPOLLIN, .data.u32 = STANDARD_INPUT};
	int argument = 2, interval = 1000;

	if (argc > 4 && strcmp(argv[2], "--interval") == 0) {
		interval = atoi(argv[3]);
		argument = 4;
	}
	portion = (size_t)READ_RATE * (size_t)interval / 1000 + 1;
	if (argument >= argc || interval < STEP_MS || portion > MAX_PORTION)
		usage();
	while (argument < argc)
		add_clients(argv[argument++]);
	server = (struct sockaddr_in){.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)atoi(argv[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	allow_descriptors();
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		die("epoll_create1");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) < 0)
		die("epoll_ctl");
	run(interval / STEP_MS);
	return 0;
}
