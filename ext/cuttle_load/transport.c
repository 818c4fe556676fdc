/* Sockets, plain or TLS; see transport.h. */
#include "transport.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#define SLOW_TIME (50 * MILLISECOND) /* of a slow reader, whose octets its receive buffer holds */
#define SLOW_MOST (1 << 20)          /* octets of such a buffer, at most */

/* Returns the size of a slow reader's receive buffer. It is small; otherwise the kernel receives everything at once. */
static int slow_buffer(const struct plan *plan)
{
	double octets = (double)plan->slow_octets * (double)SLOW_TIME / (double)plan->slow_tick;

	return octets < SLOW_MOST ? (int)octets : SLOW_MOST;
}

static void tune(const struct plan *plan, int descriptor)
{
	int on = 1, room;

	if (plan->address.ss_family != AF_UNIX)
		setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (plan->slow_octets) {
		room = slow_buffer(plan);
		setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	}
}

int transport_connect(const struct plan *plan)
{
	int descriptor = socket(plan->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0)
		return -1;
	tune(plan, descriptor);
	if (connect(descriptor, (const struct sockaddr *)&plan->address, plan->address_length) == 0 ||
	    errno == EINPROGRESS)
		return descriptor;
	{
		int why = errno;

		close(descriptor);
		errno = why;
	}
	return -1;
}

int transport_connected(int descriptor)
{
	struct pollfd state = {.fd = descriptor, .events = POLLOUT};
	int error = 0;
	socklen_t size = sizeof(error);

	if (poll(&state, 1, 0) <= 0)
		return EINPROGRESS;
	getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

ssize_t transport_read(struct connection *connection, char *buffer, size_t size)
{
	return connection->tls ? tls_read(connection->tls, buffer, size)
			       : recv(connection->descriptor, buffer, size, 0);
}

static ssize_t write_pieces(int descriptor, const struct iovec *pieces, int count)
{
	struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count};

	return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

ssize_t transport_write(struct connection *connection, const struct iovec *pieces, int count)
{
	if (connection->tls)
		return tls_write(connection->tls, pieces->iov_base, pieces->iov_len);
	if (count == 1)
		return send(connection->descriptor, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL);
	return write_pieces(connection->descriptor, pieces, count);
}
