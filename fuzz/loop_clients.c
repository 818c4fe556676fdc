/* The clients of loop_threads.c: honest ones, which demand an answer to each request, in order and once; slow ones; and
 * some that leave in the middle. */
#include "loop_round.h"

#include "check.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_REQUESTS 6 /* of a connection */

/* What a client does on one connection. */
struct conversation {
	struct client *client;
	struct round *round;
	int fd;
	unsigned connection, sent, answered, demanded; /* demanded: how many were sent while the server had to answer */
	bool slow;                                     /* sends and reads in small pieces */
	bool closing;                                  /* the server said that it closes */
	char buffer[4096];
	size_t start, length;
};

static uint32_t below(struct conversation *conversation, uint32_t limit)
{
	return check_random(&conversation->client->random, limit);
}

static void pause_for(struct conversation *conversation, uint32_t most)
{
	usleep(below(conversation, most) + 1);
}

static void require(struct conversation *conversation, bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "connection %u: sent %u, demanded %u, answered %u, reached the app %u; errno %s\n",
		conversation->connection, conversation->sent, conversation->demanded, conversation->answered,
		atomic_load(&conversation->round->taken[conversation->connection]), strerror(errno));
	demand(false, &conversation->round->pollers[0], what);
}

static int connect_to(struct round *round, bool by_name)
{
	struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons(round->port)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(round->name));
	struct timeval hang = {.tv_sec = HANG};
	int fd = socket(by_name ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int failed;

	inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(local.sun_path + 1, round->name, strlen(round->name));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &hang, sizeof hang);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &hang, sizeof hang);
	failed = by_name ? connect(fd, (struct sockaddr *)&local, size)
			 : connect(fd, (struct sockaddr *)&inet, sizeof inet);
	if (failed) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Returns false when the server has closed. */
static bool send_octets(struct conversation *conversation, const char *octets, size_t length)
{
	while (length > 0) {
		size_t piece = conversation->slow ? below(conversation, (uint32_t)length / 10 + 50) + 1 : length;
		ssize_t sent = send(conversation->fd, octets, piece < length ? piece : length, MSG_NOSIGNAL);

		if (sent < 0) {
			require(conversation, errno != EAGAIN, "what a client sends is read");
			return false;
		}
		octets += sent;
		length -= (size_t)sent;
		if (conversation->slow)
			pause_for(conversation, 3000);
	}
	return true;
}

/* Returns the octets that came, 0 at the end. */
static size_t fill(struct conversation *conversation)
{
	size_t room = conversation->slow ? below(conversation, sizeof conversation->buffer) + 1
					 : sizeof conversation->buffer;
	ssize_t count;

	if (conversation->slow)
		pause_for(conversation, 500);
	count = recv(conversation->fd, conversation->buffer, room, 0);
	require(conversation, !(count < 0 && errno == EAGAIN), "a client gets an answer, or its connection ends");
	conversation->start = 0;
	conversation->length = count > 0 ? (size_t)count : 0;
	return conversation->length;
}

static int next_octet(struct conversation *conversation)
{
	if (conversation->start == conversation->length && fill(conversation) == 0)
		return -1;
	return (unsigned char)conversation->buffer[conversation->start++];
}

/* Reads to the end of a head. Returns false at the connection's end, before the first octet. */
static bool read_head(struct conversation *conversation, char *head, size_t room)
{
	size_t length = 0;

	do {
		int octet = next_octet(conversation);

		if (octet < 0) {
			require(conversation, length == 0 || conversation->round->lenient, "a head is whole");
			return false;
		}
		require(conversation, length + 1 < room, "a head is short");
		head[length++] = (char)octet;
		head[length] = '\0';
	} while (length < 4 || strcmp(head + length - 4, "\r\n\r\n") != 0);
	return true;
}

static bool read_body(struct conversation *conversation, unsigned sequence, size_t length)
{
	for (size_t at = 0; at < length; at++) {
		int octet = next_octet(conversation);

		if (octet < 0) {
			require(conversation, conversation->round->lenient, "a response is whole");
			return false;
		}
		require(conversation, octet == round_octet(conversation->connection, sequence, at),
			"a response is its request's");
	}
	return true;
}

/* Reads the answer to the next request. Returns false at the connection's end, which must be one that may be. */
static bool read_answer(struct conversation *conversation)
{
	unsigned sequence = conversation->answered, connection, number;
	size_t length;
	char head[512];

	if (!read_head(conversation, head, sizeof head)) {
		require(conversation,
			conversation->answered >= conversation->demanded || conversation->closing ||
				(atomic_load(&conversation->round->stopped) && !conversation->round->graceful),
			"a request that was sent in time is answered");
		return false;
	}
	require(conversation, !conversation->closing, "nothing follows the last response");
	require(conversation, sequence < conversation->sent || conversation->round->lenient,
		"no request is answered twice");
	conversation->closing = strstr(head, "connection: close") != NULL;
	if (strncmp(head, "HTTP/1.1 200 ", 13) != 0) {
		require(conversation, conversation->round->lenient, "an honest request is not refused");
		conversation->closing = true;
		return false;
	}
	require(conversation,
		3 == sscanf(strstr(head, "\r\n"), " x-request: %u/%u content-length: %zu", &connection, &number,
			    &length),
		"a response has our fields");
	require(conversation, connection == conversation->connection && number == sequence,
		"answers come in the order of their requests");
	if (!read_body(conversation, sequence, length))
		return false;
	conversation->answered++;
	atomic_fetch_add(&conversation->round->answered, 1);
	return true;
}

/* Writes a request to the buffer. Returns its length. */
static size_t make_request(struct conversation *conversation, unsigned sequence, char *into, size_t room)
{
	static const char modes[] = "cccbbbsw"; /* see loop_threads.c */
	static const size_t sizes[] = {0, 10, 10, 10, 3000, 3000, 100000, 600000, 2500000};
	size_t body = below(conversation, 3) ? 0 : below(conversation, 5) ? below(conversation, 2000) : 90000;
	size_t answer = sizes[below(conversation, sizeof sizes / sizeof *sizes - (below(conversation, 8) ? 2 : 0))];
	bool chunked = body > 0 && below(conversation, 2);
	char framing[64] = "";
	int length;

	if (chunked)
		snprintf(framing, sizeof framing, "Transfer-Encoding: chunked\r\n");
	else if (body > 0)
		snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", body);
	length = snprintf(into, room, "%s /%u/%u/%c/%zu/%zu HTTP/1.1\r\nHost: a\r\n%s\r\n", body > 0 ? "POST" : "GET",
			  conversation->connection, sequence, modes[below(conversation, sizeof modes - 1)], answer,
			  body, framing);
	if (chunked)
		length += sprintf(into + length, "%zx\r\n", body);
	memset(into + length, 'x', body);
	length += (int)body;
	if (chunked)
		length += sprintf(into + length, "\r\n0\r\n\r\n");
	return (size_t)length;
}

/* Sends some requests at once. Returns false where the connection is over. */
static bool ask(struct conversation *conversation, unsigned count, bool halve)
{
	bool complete = true;
	size_t room = 100000 * (size_t)count, length = 0;
	char *octets = malloc(room);

	for (unsigned index = 0; index < count; index++)
		length += make_request(conversation, conversation->sent + index, octets + length, room - length);
	if (halve)
		length = below(conversation, (uint32_t)length + 1);
	complete = send_octets(conversation, octets, length) && !halve;
	free(octets);
	conversation->sent += count; /* some of them, perhaps */
	if (!complete)
		return false;
	atomic_fetch_add(&conversation->round->asked, count);
	if (!atomic_load(&conversation->round->stopped) && !conversation->round->lenient)
		conversation->demanded = conversation->sent;
	return true;
}

/* Requests one by one, or in bundles, with pauses now and then; at last perhaps only one side of it is closed. */
static void be_honest(struct conversation *conversation)
{
	unsigned left = below(conversation, MOST_REQUESTS) + 1;
	bool idles = below(conversation, 4) == 0;

	while (left > 0 && !conversation->closing && !atomic_load(&conversation->round->stopped)) {
		unsigned count = below(conversation, 3) ? 1 : below(conversation, left) + 1;

		if (idles)
			pause_for(conversation, 20000);
		if (!ask(conversation, count, false)) {
			while (read_answer(conversation))
				continue;
			return;
		}
		left -= count;
		if (left == 0 && below(conversation, 4) == 0)
			shutdown(conversation->fd, SHUT_WR);
		while (conversation->answered < conversation->sent)
			if (!read_answer(conversation))
				return;
	}
}

/* Sends something, perhaps reads a little, and goes. */
static void leave_early(struct conversation *conversation)
{
	struct linger reset = {.l_onoff = 1};

	bool asked = ask(conversation, below(conversation, 3) + 1, below(conversation, 2));

	if (below(conversation, 2))
		pause_for(conversation, 5000);
	if (asked && below(conversation, 3) == 0)
		fill(conversation);
	atomic_fetch_add(&conversation->round->left, 1);
	if (below(conversation, 2))
		setsockopt(conversation->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

static void converse(struct client *client)
{
	struct conversation conversation = {.client = client, .round = client->round};

	conversation.connection = atomic_fetch_add(&client->round->next, 1);
	if (conversation.connection >= MOST_CONNECTIONS) {
		usleep(10000);
		return;
	}
	conversation.fd = connect_to(client->round, check_random(&client->random, 3) == 0);
	if (conversation.fd < 0) {
		require(&conversation, atomic_load(&client->round->stopped) || errno == EAGAIN,
			"who connects is let in");
		return;
	}
	conversation.slow = check_random(&client->random, 8) == 0;
	if (check_random(&client->random, 5) == 0)
		leave_early(&conversation);
	else
		be_honest(&conversation);
	close(conversation.fd);
}

void *client_run(void *argument)
{
	struct client *client = argument;

	while (!atomic_load(&client->round->stopped) && !atomic_load(&client->round->closing)) {
		converse(client);
		if (check_random(&client->random, 6) == 0)
			usleep(check_random(&client->random, 20000));
	}
	return NULL;
}
