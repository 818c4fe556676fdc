/* A system that takes few octets at a time, preloaded into a server: a write to a socket takes 1, 3, 100 or 4,000
 * octets at most, one after the other in each thread, as where memory for sockets is short. Every ninth is interrupted
 * first. CUTTLE_SHORTENED names a file that is there once a write was cut. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int to_socket(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

static void tell(void)
{
	static int told;
	const char *path = getenv("CUTTLE_SHORTENED");

	if (!told && path) {
		told = 1;
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
}

/* Returns how many of count octets the system takes now; 0: it was interrupted. */
static size_t room(size_t count)
{
	static const size_t most[] = {1, 3, 100, 4000};
	static __thread unsigned calls;

	if (++calls % 9 == 0)
		return 0;
	if (count <= most[calls % 4])
		return count;
	tell();
	return most[calls % 4];
}

static ssize_t interrupted(void)
{
	errno = EINTR;
	return -1;
}

ssize_t write(int fd, const void *octets, size_t count)
{
	ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	size_t taken = count;

	if (count > 0 && to_socket(fd) && (taken = room(count)) == 0)
		return interrupted();
	return real(fd, octets, taken);
}

ssize_t send(int fd, const void *octets, size_t count, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int) =
		(ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
	size_t taken = count > 0 ? room(count) : 0;

	return count > 0 && taken == 0 ? interrupted() : real(fd, octets, taken, flags);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	ssize_t (*real)(int, const struct iovec *, int) =
		(ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
	struct iovec some[64];
	size_t all = 0, left;
	int used = 0;

	for (int index = 0; index < count; index++)
		all += parts[index].iov_len;
	if (all == 0 || !to_socket(fd))
		return real(fd, parts, count);
	left = room(all);
	if (left == 0)
		return interrupted();
	for (; left > 0 && used < count && used < 64; used++) {
		some[used] = parts[used];
		if (some[used].iov_len > left)
			some[used].iov_len = left;
		left -= some[used].iov_len;
	}
	return real(fd, some, used);
}

static ssize_t send_file(const char *name, int fd, int file, off64_t *offset, size_t count)
{
	ssize_t (*real)(int, int, off64_t *, size_t) = (ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, name);
	size_t taken = count;

	if (count > 0 && to_socket(fd) && (taken = room(count)) == 0)
		return interrupted();
	return real(fd, file, offset, taken);
}

ssize_t sendfile(int fd, int file, off_t *offset, size_t count)
{
	return send_file("sendfile", fd, file, (off64_t *)offset, count);
}

ssize_t sendfile64(int fd, int file, off64_t *offset, size_t count)
{
	return send_file("sendfile64", fd, file, offset, count);
}
