/* Plain sockets. sendfile(2) is used where it is Linux's; elsewhere a file goes through a buffer. */
#include "transport.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/sendfile.h>
#endif

static ssize_t plain_read(int fd, char *into, size_t room)
{
	ssize_t count;

	do
		count = read(fd, into, room);
	while (count < 0 && errno == EINTR);
	return count;
}

static ssize_t plain_write(int fd, const struct iovec *parts, int count)
{
	ssize_t written;

	do
		written = count == 1 ? write(fd, parts->iov_base, parts->iov_len) : writev(fd, parts, count);
	while (written < 0 && errno == EINTR);
	return written;
}

#ifdef __linux__
static ssize_t plain_send_file(int fd, int file, uint64_t offset, size_t length)
{
	off_t from = (off_t)offset;
	ssize_t sent;

	do
		sent = sendfile(fd, file, &from, length);
	while (sent < 0 && errno == EINTR);
	return sent;
}
#else
static ssize_t plain_send_file(int fd, int file, uint64_t offset, size_t length)
{
	char buffer[65536];
	ssize_t count = pread(file, buffer, length < sizeof buffer ? length : sizeof buffer, (off_t)offset);
	struct iovec part = {.iov_base = buffer, .iov_len = (size_t)(count > 0 ? count : 0)};

	return count > 0 ? plain_write(fd, &part, 1) : count;
}
#endif

static void plain_finish(int fd)
{
	shutdown(fd, SHUT_WR);
}

static void plain_close(int fd)
{
	close(fd);
}

const struct cuttle_transport cuttle_plain_transport = {
	.read = plain_read,
	.write = plain_write,
	.send_file = plain_send_file,
	.finish = plain_finish,
	.close = plain_close,
};
