/* Plain sockets. A file is sent with sendfile(2) on Linux, and through a buffer on other systems. */
#include "transport.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/sendfile.h>
#endif

/* Converts a system call's result. want is what to return if the call would block. */
static ssize_t outcome(ssize_t count, int want)
{
	if (count >= 0)
		return count;
	return errno == EAGAIN || errno == EWOULDBLOCK ? want : CUTTLE_FAILED;
}

static ssize_t plain_read(struct cuttle_transport *transport, char *into, size_t room)
{
	ssize_t count;

	do
		count = read(transport->fd, into, room);
	while (count < 0 && errno == EINTR);
	return outcome(count, CUTTLE_WANT_READ);
}

static ssize_t plain_write(struct cuttle_transport *transport, const struct iovec *parts, int count)
{
	ssize_t written;

	do
		written = count == 1 ? write(transport->fd, parts->iov_base, parts->iov_len)
				     : writev(transport->fd, parts, count);
	while (written < 0 && errno == EINTR);
	return outcome(written, CUTTLE_WANT_WRITE);
}

#ifdef __linux__
static ssize_t plain_send_file(struct cuttle_transport *transport, int file, uint64_t offset, size_t length)
{
	off_t from = (off_t)offset;
	ssize_t sent;

	do
		sent = sendfile(transport->fd, file, &from, length);
	while (sent < 0 && errno == EINTR);
	return outcome(sent, CUTTLE_WANT_WRITE);
}
#else
static ssize_t plain_send_file(struct cuttle_transport *transport, int file, uint64_t offset, size_t length)
{
	char buffer[65536];
	ssize_t count = pread(file, buffer, length < sizeof buffer ? length : sizeof buffer, (off_t)offset);
	struct iovec part = {.iov_base = buffer, .iov_len = (size_t)(count > 0 ? count : 0)};

	return count > 0 ? plain_write(transport, &part, 1) : count;
}
#endif

static void plain_finish(struct cuttle_transport *transport)
{
	shutdown(transport->fd, SHUT_WR);
}

static int plain_release(struct cuttle_transport *transport)
{
	int fd = transport->fd;

	transport->fd = -1;
	return fd;
}

static void plain_close(struct cuttle_transport *transport)
{
	close(plain_release(transport));
}

const struct cuttle_transport_type cuttle_plain_transport = {
	.read = plain_read,
	.write = plain_write,
	.send_file = plain_send_file,
	.finish = plain_finish,
	.close = plain_close,
	.release = plain_release,
};
