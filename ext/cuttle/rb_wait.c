/* Waits for single descriptors without the GVL, for the blocking side and for responses that outrun their client. */
#include "rb_wait.h"
#include "rb_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include <ruby/thread.h>
#include <unistd.h>

#define LONGEST 3600000                      /* milliseconds of one poll(2) */
#define BLIND_WAIT (10 * CUTTLE_MILLISECOND) /* before the next look, if there is no descriptor to wait with */

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
	bool longer = milliseconds > LONGEST;
	struct patience patience = {
		.descriptors = descriptors,
		.count = count,
		.milliseconds = longer ? LONGEST : (int)milliseconds,
		.result = -1,
	};

	rb_thread_call_without_gvl(poll_without_gvl, &patience, RUBY_UBF_IO, NULL);
	return patience.result == 0 && longer ? -1 : patience.result;
}

/* Waits until a descriptor is ready, whatever interrupts that. Returns false if the time is up or the exchange over. */
static bool poll_until(const struct cuttle_held *held, struct pollfd *descriptors, nfds_t count, uint64_t until)
{
	int ready = -1;

	while (ready < 0 && held->live) {
		uint64_t now = cuttle_now();

		ready = cuttle_poll(descriptors, count, now < until ? until - now : 0);
	}
	return ready > 0;
}

/* The same for one IO, in the scheduler. Returns false if the time is up. */
static bool schedule_until(VALUE scheduler, VALUE io, int events, uint64_t until)
{
	uint64_t now = cuttle_now();
	double seconds = now < until ? (double)(until - now) / (double)CUTTLE_SECOND : 0;

	return RTEST(rb_fiber_scheduler_io_wait(scheduler, io, INT2FIX(events), DBL2NUM(seconds)));
}

/* A wait for a copy of a descriptor. */
struct copy_wait {
	VALUE scheduler, io; /* around the copy */
	int events;
	uint64_t until;
	bool ready;
};

static VALUE wait_for_copy(VALUE data)
{
	struct copy_wait *wait = (struct copy_wait *)data;

	wait->ready = schedule_until(wait->scheduler, wait->io, wait->events, wait->until);
	return Qnil;
}

static VALUE close_copy(VALUE data)
{
	return rb_io_close(((struct copy_wait *)data)->io);
}

/* Waits for a copy of the descriptor, because the connection's own is registered with the poller. While no copy can be
 * had, looks at the descriptor from time to time. An exception that ends the wait closes the copy too, since the client
 * would not see the end of the connection otherwise. */
static bool wait_in_scheduler(VALUE scheduler, const struct cuttle_held *held, struct pollfd *descriptor,
			      uint64_t until)
{
	bool reads = descriptor->events == POLLIN;
	struct copy_wait wait = {.scheduler = scheduler, .until = until};
	int copy = rb_cloexec_dup(descriptor->fd);

	while (copy < 0) {
		if (poll(descriptor, 1, 0) > 0)
			return true;
		if (cuttle_now() >= until)
			return false;
		rb_fiber_scheduler_kernel_sleep(scheduler, DBL2NUM((double)BLIND_WAIT / (double)CUTTLE_SECOND));
		if (!held->live)
			return false;
		copy = rb_cloexec_dup(descriptor->fd);
	}
	rb_update_max_fd(copy);
	wait.io = rb_io_fdopen(copy, reads ? O_RDONLY : O_WRONLY, NULL);
	wait.events = reads ? RUBY_IO_READABLE : RUBY_IO_WRITABLE;
	rb_ensure(wait_for_copy, (VALUE)&wait, close_copy, (VALUE)&wait);
	return wait.ready;
}

bool cuttle_wait_writable(const struct cuttle_held *held, uint64_t nanoseconds)
{
	VALUE scheduler = rb_fiber_scheduler_current();
	struct pollfd descriptor = {
		.fd = held->live->connection->transport.fd,
		.events = held->live->connection->write_wants == CUTTLE_READ ? POLLIN : POLLOUT,
	};
	uint64_t until = cuttle_now() + nanoseconds;

	return NIL_P(scheduler) ? poll_until(held, &descriptor, 1, until)
				: wait_in_scheduler(scheduler, held, &descriptor, until);
}

/* A wait until the spooler has written or the client has read. */
struct outbox_wait {
	struct cuttle_held *held;
	int ends[2]; /* of a pipe */
	VALUE io;    /* around its reading end; nil: none */
	uint64_t until;
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
		wait->moved = poll_until(wait->held, descriptors, 2, wait->until);
	} else { /* the polling thread sends the output and signals the pipe */
		wait->io = rb_io_fdopen(wait->ends[0], O_RDONLY, NULL);
		wait->moved = schedule_until(scheduler, wait->io, RUBY_IO_READABLE, wait->until);
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
	struct outbox_wait wait = {.held = held, .io = Qnil, .until = cuttle_now() + nanoseconds};
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
