/* Messages that carry a descriptor; see relay.h. */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__

int cuttle_relay_open(struct cuttle_relay *relay)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return -1;
	relay->receive = ends[0];
	relay->send = ends[1];
	return 0;
}

/* Room for a control message with one descriptor, aligned as its header must be. */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message_of(struct iovec *parts, size_t count, union control *control)
{
	return (struct msghdr){
		.msg_iov = parts,
		.msg_iovlen = count,
		.msg_control = control,
		.msg_controllen = sizeof control->room,
	};
}

bool cuttle_relay_send(const struct cuttle_relay *relay, int fd, const struct cuttle_parcel *parcel,
		       const struct iovec parts[CUTTLE_PARCEL_PARTS])
{
	struct iovec all[1 + CUTTLE_PARCEL_PARTS] = {
		{.iov_base = (void *)(uintptr_t)parcel, .iov_len = sizeof *parcel},
	};
	union control control = {.room = {0}};
	struct msghdr message = message_of(all, 1 + CUTTLE_PARCEL_PARTS, &control);
	ssize_t sent;

	if (parcel->size > CUTTLE_PARCEL_ROOM)
		return false;
	memcpy(all + 1, parts, CUTTLE_PARCEL_PARTS * sizeof *parts);
	control.header.cmsg_len = CMSG_LEN(sizeof fd);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	do
		sent = sendmsg(relay->send, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

bool cuttle_relay_has_room(const struct cuttle_relay *relay)
{
	int spare = fcntl(relay->receive, F_DUPFD_CLOEXEC, 0);

	if (spare >= 0)
		close(spare);
	return spare >= 0;
}

/* Returns the descriptor that a message brought, -1: none. */
static int descriptor_of(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

int cuttle_relay_receive(const struct cuttle_relay *relay, struct cuttle_parcel *parcel,
			 char octets[CUTTLE_PARCEL_ROOM])
{
	struct iovec parts[] = {
		{.iov_base = parcel, .iov_len = sizeof *parcel},
		{.iov_base = octets, .iov_len = CUTTLE_PARCEL_ROOM},
	};
	union control control;
	struct msghdr message = message_of(parts, 2, &control);
	ssize_t count;
	int fd;

	if (!cuttle_relay_has_room(relay))
		return -1; /* the system would drop the descriptor, and with it the connection */
	do
		count = recvmsg(relay->receive, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return -1;
	fd = descriptor_of(&message);
	if (fd >= 0 && (size_t)count >= sizeof *parcel && (size_t)count == sizeof *parcel + parcel->size)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EBADMSG; /* another thread took the descriptor's number in that moment */
	return -1;
}

#else

int cuttle_relay_open(struct cuttle_relay *relay)
{
	(void)relay;
	errno = ENOTSUP;
	return -1;
}

bool cuttle_relay_send(const struct cuttle_relay *relay, int fd, const struct cuttle_parcel *parcel,
		       const struct iovec parts[CUTTLE_PARCEL_PARTS])
{
	(void)relay, (void)fd, (void)parcel, (void)parts;
	return false;
}

bool cuttle_relay_has_room(const struct cuttle_relay *relay)
{
	(void)relay;
	return false;
}

int cuttle_relay_receive(const struct cuttle_relay *relay, struct cuttle_parcel *parcel,
			 char octets[CUTTLE_PARCEL_ROOM])
{
	(void)relay, (void)parcel, (void)octets;
	errno = EAGAIN;
	return -1;
}

#endif

void cuttle_relay_close(struct cuttle_relay *relay)
{
	close(relay->receive);
	close(relay->send);
}
