/* The list of hijacked sockets; see hijacked.h. Its lock is held for a few system calls for each socket. Nothing is
 * taken under it, and Ruby is not called. */
#include "hijacked.h"
#include "clock.h"
#include "connection.h"
#include "syntax.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST 16                            /* sockets that a list has room for at first */
#define SILENCE (300 * CUTTLE_MILLISECOND)  /* without an octet; a thread may wait 100 ms for each other one to run */
#define PATIENCE (500 * CUTTLE_MILLISECOND) /* with an app that does not close a socket after its end */

/* The frame leaves with the end of the output, so no client answers it before. */
#ifdef __linux__
#define WITH_THE_END MSG_MORE
#else
#define WITH_THE_END 0
#endif

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

/* A Close frame: final and not masked, as all frames of a server; 1001 (RFC 6455, 5.5.1). */
static const unsigned char going_away[] = {0x88, 2, 1001 >> 8, 1001 & 0xff};

struct socket {
	dev_t device;
	ino_t inode;
	uint64_t silent_since; /* 0: octets waited to be sent at the last look, or nobody has looked */
	uint64_t told;         /* when the Close frame was sent; 0: not yet */
	int fd;
	bool websocket;
};

struct cuttle_hijacked {
	pthread_mutex_t lock;
	struct socket *sockets;
	size_t count, room;
	size_t told;
	unsigned generation; /* of the process that the sockets belong to (core.c) */
	_Atomic unsigned owners;
};

struct cuttle_hijacked *cuttle_hijacked_open(void)
{
	struct cuttle_hijacked *list = calloc(1, sizeof *list);

	if (!list)
		return NULL;
	pthread_mutex_init(&list->lock, NULL);
	list->generation = cuttle_core_generation();
	atomic_init(&list->owners, 1);
	return list;
}

void cuttle_hijacked_own(struct cuttle_hijacked *list)
{
	atomic_fetch_add(&list->owners, 1);
}

void cuttle_hijacked_disown(struct cuttle_hijacked *list)
{
	if (atomic_fetch_sub(&list->owners, 1) > 1)
		return;
	free(list->sockets);
	free(list);
}

/* Takes the lock. Returns false in a forked child, where a thread that doesn't exist there may hold it. */
static bool enter(struct cuttle_hijacked *list)
{
	if (list->generation != cuttle_core_generation())
		return false;
	pthread_mutex_lock(&list->lock);
	return true;
}

/* Requests */

static bool has_element(const char *value, size_t length, const char *wanted)
{
	const char *at = value, *end = value + length, *element;
	size_t size;

	while ((at = cuttle_next_element(at, end, &element, &size)))
		if (cuttle_same(element, size, wanted))
			return true;
	return false;
}

/* The length of a protocol's name, without its version. */
static size_t name_length(const char *protocol, size_t length)
{
	const char *slash = memchr(protocol, '/', length);

	return slash ? (size_t)(slash - protocol) : length;
}

/* Whether a list has a protocol of that name, in any version. */
static bool names_protocol(const char *list, size_t length, const char *name, size_t size)
{
	const char *at = list, *element;
	size_t element_size;

	while ((at = cuttle_next_element(at, list + length, &element, &element_size)))
		if (name_length(element, element_size) == size && cuttle_same_text(element, name, size))
			return true;
	return false;
}

/* Whether two lists name one protocol. */
static bool have_common(const char *one, size_t one_length, const char *other, size_t other_length)
{
	const char *at = one, *element;
	size_t size;

	while ((at = cuttle_next_element(at, one + one_length, &element, &size)))
		if (names_protocol(other, other_length, element, name_length(element, size)))
			return true;
	return false;
}

bool cuttle_hijacked_asks_for(const struct cuttle_exchange *exchange, const char *protocols, size_t length)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	bool upgrade = false, connection = false;

	for (uint32_t index = 0; index < head->field_count; index++) {
		const struct cuttle_field *field = &head->fields[index];
		const char *name = cuttle_exchange_at(exchange, field->name);
		const char *value = cuttle_exchange_at(exchange, field->value);

		if (cuttle_same(name, field->name.length, "upgrade"))
			upgrade = upgrade || have_common(value, field->value.length, protocols, length);
		else if (cuttle_same(name, field->name.length, "connection"))
			connection = connection || has_element(value, field->value.length, "upgrade");
	}
	return upgrade && connection;
}

bool cuttle_hijacked_asks_for_websocket(const struct cuttle_exchange *exchange)
{
	const struct cuttle_head *head = cuttle_exchange_head(exchange);
	bool upgrade = false, connection = false, key = false;

	for (uint32_t index = 0; index < head->field_count; index++) {
		const struct cuttle_field *field = &head->fields[index];
		const char *name = cuttle_exchange_at(exchange, field->name);
		const char *value = cuttle_exchange_at(exchange, field->value);

		if (cuttle_same(name, field->name.length, "upgrade"))
			upgrade = upgrade || has_element(value, field->value.length, "websocket");
		else if (cuttle_same(name, field->name.length, "connection"))
			connection = connection || has_element(value, field->value.length, "upgrade");
		else if (cuttle_same(name, field->name.length, "sec-websocket-key"))
			key = true;
	}
	return upgrade && connection && key && head->minor > 0;
}

/* Sockets */

static bool leads_to(int fd, const struct socket *socket)
{
	struct stat found;

	return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == socket->inode &&
	       found.st_dev == socket->device;
}

/* Forgets the sockets that their apps have closed. */
static void prune(struct cuttle_hijacked *list)
{
	size_t kept = 0;

	for (size_t index = 0; index < list->count; index++)
		if (leads_to(list->sockets[index].fd, &list->sockets[index]))
			list->sockets[kept++] = list->sockets[index];
	list->count = kept;
}

/* Makes room for another socket. Pruning costs a few looks for each socket, because a list that is half full grows. */
static bool make_room(struct cuttle_hijacked *list)
{
	size_t room = list->room ? 2 * list->room : LEAST;
	struct socket *grown;

	if (list->count < list->room)
		return true;
	prune(list);
	if (list->count < list->room / 2)
		return true;
	grown = realloc(list->sockets, room * sizeof *grown);
	if (!grown)
		return list->count < list->room;
	list->sockets = grown;
	list->room = room;
	return true;
}

void cuttle_hijacked_add(struct cuttle_hijacked *list, int fd, bool websocket)
{
	struct stat found;

	if (fstat(fd, &found) < 0 || found.st_ino == 0 || !enter(list))
		return;
	if (make_room(list))
		list->sockets[list->count++] = (struct socket){
			.device = found.st_dev, .inode = found.st_ino, .fd = fd, .websocket = websocket};
	pthread_mutex_unlock(&list->lock);
}

size_t cuttle_hijacked_count(struct cuttle_hijacked *list)
{
	size_t count;

	if (!enter(list))
		return 0;
	prune(list);
	count = list->count;
	pthread_mutex_unlock(&list->lock);
	return count;
}

/* The end */

/* Returns a duplicate of a socket's descriptor, which refers to the socket whatever the app does at the same time.
 * Returns -1 if no descriptor is free, or the app has closed the socket. It also checks before it duplicates, because
 * closing a duplicate of a file would release the process's locks on that file. */
static int borrow(const struct socket *socket)
{
	int fd = leads_to(socket->fd, socket) ? fcntl(socket->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (fd < 0 || leads_to(fd, socket))
		return fd;
	close(fd);
	return -1;
}

/* Whether the client has ended its side. */
static bool is_over(int fd)
{
	struct pollfd found = {.fd = fd, .events = POLLRDHUP};

	return poll(&found, 1, 0) > 0;
}

/* Returns the octets that the client, or a tunnel, has not taken yet; -1 if the system doesn't say. */
static int unsent(int fd)
{
#ifdef __linux__
	int count;

	return ioctl(fd, TIOCOUTQ, &count) < 0 ? -1 : count;
#else
	(void)fd;
	return -1;
#endif
}

/* Returns since when nothing has been sent, as far as that is known. */
static uint64_t silent_since(const struct socket *socket, int fd, uint64_t now)
{
#ifdef __linux__
	struct tcp_info info;
	socklen_t length = sizeof info;
	uint64_t ago;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
		ago = info.tcpi_last_data_sent * CUTTLE_MILLISECOND;
		return ago < now ? now - ago : 1;
	}
#else
	(void)fd;
#endif
	return socket->silent_since ? socket->silent_since : now;
}

static bool is_silent(struct socket *socket, int fd, uint64_t now)
{
	socket->silent_since = unsent(fd) == 0 ? silent_since(socket, fd, now) : 0;
	return socket->silent_since && now - socket->silent_since >= SILENCE;
}

/* Sends the Close frame and ends both directions. */
static void tell(struct socket *socket, int fd, uint64_t now)
{
	(void)!send(fd, going_away, sizeof going_away, MSG_DONTWAIT | WITH_THE_END); /* Ruby ignores SIGPIPE */
	shutdown(fd, SHUT_RDWR);
	socket->told = now;
}

/* Returns whether the WebSocket is not done. */
static bool part(struct cuttle_hijacked *list, struct socket *socket, uint64_t now)
{
	bool over;
	int fd;

	if (socket->told)
		return now - socket->told < PATIENCE;
	fd = borrow(socket);
	if (fd < 0)
		return leads_to(socket->fd, socket);
	over = is_over(fd);
	if (!over && is_silent(socket, fd, now)) {
		tell(socket, fd, now);
		list->told++;
	}
	close(fd);
	return !over;
}

size_t cuttle_hijacked_part(struct cuttle_hijacked *list)
{
	uint64_t now = cuttle_now();
	size_t left = 0;

	if (!enter(list))
		return 0;
	prune(list);
	for (size_t index = 0; index < list->count; index++)
		if (list->sockets[index].websocket && part(list, &list->sockets[index], now))
			left++;
	pthread_mutex_unlock(&list->lock);
	return left;
}

static bool is_untold(const struct socket *socket)
{
	int fd = socket->websocket && !socket->told ? borrow(socket) : -1;
	bool over = fd < 0 || is_over(fd);

	if (fd >= 0)
		close(fd);
	return !over;
}

size_t cuttle_hijacked_told(struct cuttle_hijacked *list, size_t *untold)
{
	size_t told;

	*untold = 0;
	if (!enter(list))
		return 0;
	for (size_t index = 0; index < list->count; index++)
		*untold += is_untold(&list->sockets[index]);
	told = list->told;
	pthread_mutex_unlock(&list->lock);
	return told;
}
