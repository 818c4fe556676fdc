/* Waits for single descriptors without the GVL, for the blocking side and for responses that outrun their client. */
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
	return patience.result < 0 ? 0 : patience.result; /* interrupted: the caller checks again */
}

/* Gives the scheduler a copy, because the connection's own descriptor is registered with the poller. */
static bool wait_in_scheduler(VALUE scheduler, const struct pollfd *descriptor, uint64_t nanoseconds)
{
	bool reads = descriptor->events == POLLIN;
	int copy = rb_cloexec_dup(descriptor->fd);
	VALUE io, result;

	if (copy < 0)
		return false;
	rb_update_max_fd(copy);
	io = rb_io_fdopen(copy, reads ? O_RDONLY : O_WRONLY, NULL);
	result = rb_fiber_scheduler_io_wait(scheduler, io, INT2FIX(reads ? RUBY_IO_READABLE : RUBY_IO_WRITABLE),
					    DBL2NUM((double)nanoseconds / (double)CUTTLE_SECOND));
	rb_io_close(io);
	return RTEST(result);
}

bool cuttle_wait_writable(const struct cuttle_held *held, uint64_t nanoseconds)
{
	VALUE scheduler = rb_fiber_scheduler_current();
	struct pollfd descriptor = {
		.fd = held->live->connection->transport.fd,
		.events = held->live->connection->write_wants == CUTTLE_READ ? POLLIN : POLLOUT,
	};
	uint64_t until = cuttle_now() + nanoseconds;

	if (!NIL_P(scheduler))
		return wait_in_scheduler(scheduler, &descriptor, nanoseconds);
	while (held->live) {
		uint64_t now = cuttle_now();

		if (cuttle_poll(&descriptor, 1, now < until ? until - now : 0) > 0)
			return true;
		if (now >= until)
			return false;
	}
	return false;
}

/* A wait until the spooler has written or the client has read. */
struct outbox_wait {
	struct cuttle_held *held;
	int ends[2]; /* of a pipe */
	VALUE io;    /* around its reading end; nil: none */
	uint64_t nanoseconds;
	bool moved;
};

/* Makes the outbox signal the pipe when octets leave memory. Returns false if enough have left. */
static bool ask(const struct outbox_wait *wait, int descriptor)
{
	struct cuttle_outbox *out = &wait->held->live->out;
	bool crowded;

	cuttle_held_lock(wait->held);
	cuttle_outbox_signal(out, descriptor);
	crowded = cuttle_outbox_crowded(out, true);
	cuttle_held_unlock(wait->held);
	return crowded;
}

static VALUE wait_for_pipe(VALUE data)
{
	struct outbox_wait *wait = (struct outbox_wait *)data;
	VALUE scheduler = rb_fiber_scheduler_current();
	struct pollfd descriptors[2] = {
		{.fd = wait->ends[0], .events = POLLIN},
		{.fd = wait->held->live->connection->transport.fd, .events = POLLOUT},
	};

	if (!ask(wait, wait->ends[1])) {
		wait->moved = true;
	} else if (NIL_P(scheduler)) {
		wait->moved = cuttle_poll(descriptors, 2, wait->nanoseconds) > 0;
	} else { /* the polling thread sends the output and signals the pipe */
		wait->io = rb_io_fdopen(wait->ends[0], O_RDONLY, NULL);
		wait->moved =
			RTEST(rb_fiber_scheduler_io_wait(scheduler, wait->io, INT2FIX(RUBY_IO_READABLE),
							 DBL2NUM((double)wait->nanoseconds / (double)CUTTLE_SECOND)));
	}
	return Qnil;
}

static VALUE close_pipe(VALUE data)
{
	struct outbox_wait *wait = (struct outbox_wait *)data;

	if (wait->held->live) /* otherwise the outbox is empty and holds no pipe */
		ask(wait, -1);
	close(wait->ends[1]);
	if (NIL_P(wait->io))
		close(wait->ends[0]);
	else
		rb_io_close(wait->io);
	return Qnil;
}

bool cuttle_wait_for_outbox(struct cuttle_held *held, uint64_t nanoseconds)
{
	struct outbox_wait wait = {.held = held, .io = Qnil, .nanoseconds = nanoseconds};
	bool crowded;

	cuttle_held_lock(held);
	crowded = cuttle_outbox_crowded(&held->live->out, true);
	cuttle_held_unlock(held);
	if (!crowded || rb_cloexec_pipe(wait.ends) < 0)
		return cuttle_wait_writable(held, nanoseconds);
	for (int end = 0; end < 2; end++) {
		rb_update_max_fd(wait.ends[end]);
		fcntl(wait.ends[end], F_SETFL, O_NONBLOCK);
	}
	rb_ensure(wait_for_pipe, (VALUE)&wait, close_pipe, (VALUE)&wait);
	return wait.moved;
}
