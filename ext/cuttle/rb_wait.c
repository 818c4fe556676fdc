/* Waiting for single descriptors without the GVL: the blocking side, and responses that outrun their client. */
#include "rb_wait.h"
#include "rb_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include <ruby/thread.h>
#include <unistd.h>

struct patience {
	struct pollfd *descriptors;
	nfds_t count;
	int milliseconds, result;
};

static void *poll_without_gvl(void *data)
{
	struct patience *patience = data;

	patience->result = poll(patience->descriptors, patience->count, patience->milliseconds);
	return NULL;
}

int cuttle_poll(struct pollfd *descriptors, nfds_t count, uint64_t nanoseconds)
{
	uint64_t milliseconds = nanoseconds / CUTTLE_MILLISECOND + (nanoseconds % CUTTLE_MILLISECOND ? 1 : 0);
	struct patience patience = {
		.descriptors = descriptors,
		.count = count,
		.milliseconds = milliseconds > 3600000 ? 3600000 : (int)milliseconds,
	};

	rb_thread_call_without_gvl(poll_without_gvl, &patience, RUBY_UBF_IO, NULL);
	return patience.result < 0 ? 0 : patience.result; /* interrupted: the caller looks again */
}

/* The connection's own descriptor is registered with the poller, so the scheduler gets a copy. */
static bool wait_in_scheduler(VALUE scheduler, int fd, uint64_t nanoseconds)
{
	int copy = rb_cloexec_dup(fd);
	VALUE io, result;

	if (copy < 0)
		return false;
	rb_update_max_fd(copy);
	io = rb_io_fdopen(copy, O_WRONLY, NULL);
	result = rb_fiber_scheduler_io_wait(scheduler, io, INT2FIX(RUBY_IO_WRITABLE),
					    DBL2NUM((double)nanoseconds / (double)CUTTLE_SECOND));
	rb_io_close(io);
	return RTEST(result);
}

bool cuttle_wait_writable(const struct cuttle_held *held, uint64_t nanoseconds)
{
	VALUE scheduler = rb_fiber_scheduler_current();
	struct pollfd descriptor = {.fd = held->live->connection->transport.fd, .events = POLLOUT};
	uint64_t until = cuttle_now() + nanoseconds;

	if (!NIL_P(scheduler))
		return wait_in_scheduler(scheduler, descriptor.fd, nanoseconds);
	while (held->live) {
		uint64_t now = cuttle_now();

		if (cuttle_poll(&descriptor, 1, now < until ? until - now : 0) > 0)
			return true;
		if (now >= until)
			return false;
	}
	return false;
}
