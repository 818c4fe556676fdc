/* Poller#await_shortage: the Ruby side of growth.h. */
#include "io_thread.h"
#include "rb_poller.h"
#include "running.h"

#include <ruby/thread.h>
#include <sys/resource.h>

/* Without RUSAGE_THREAD, a thread that needed this many nanoseconds to get the GVL counts as one that had to wait. */
#define AT_ONCE UINT64_C(50000)

/* A reading. Two of them show whether the calling thread has slept between them. */
static uint64_t sleeps(void)
{
#ifdef RUSAGE_THREAD
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
#else
	return cuttle_now();
#endif
}

static bool has_slept(uint64_t before)
{
#ifdef RUSAGE_THREAD
	return sleeps() != before;
#else
	return sleeps() - before > AT_ONCE;
#endif
}

struct call {
	struct cuttle_loop *loop;
	bool came, interrupted;
	long io_thread;
	uint64_t sleeps; /* before this thread went for the GVL */
};

static void *await_call(void *data)
{
	struct call *call = data;
	struct cuttle_growth *growth = &call->loop->growth;

	pthread_mutex_lock(&call->loop->lock);
	growth->awaited = true;
	while (!growth->due && !call->interrupted)
		pthread_cond_wait(&growth->called, &call->loop->lock);
	call->came = growth->due;
	call->io_thread = cuttle_io_thread_number(call->loop);
	growth->awaited = growth->due = false;
	pthread_mutex_unlock(&call->loop->lock);
	call->sleeps = sleeps();
	return NULL;
}

static void interrupt_call(void *data)
{
	struct call *call = data;

	pthread_mutex_lock(&call->loop->lock);
	call->interrupted = true;
	pthread_cond_broadcast(&call->loop->growth.called);
	pthread_mutex_unlock(&call->loop->lock);
}

/* call-seq: await_shortage(pause = 0, cores = 1) -> true
 *
 * Waits until another thread would help: requests wait, every thread is in the app, these wait for something else than
 * the GVL, and the process uses less than its share of the cores (growth.h). Doesn't look within the first pause
 * seconds. cores: what this process and the other workers of its scoreboard may keep busy. One thread of a shared
 * poller may call it, and the caller starts a thread. Raises a pending interrupt of the calling thread. */
VALUE cuttle_poller_await_shortage(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_loop *loop = cuttle_poller_of(self)->source.loop;
	uint64_t pause = argc > 0 ? cuttle_nanoseconds(NUM2DBL(argv[0])) : 0;
	double cores = argc > 1 ? NUM2DBL(argv[1]) : 1;
	bool short_of_threads = false;

	rb_check_arity(argc, 0, 2);
	pthread_mutex_lock(&loop->lock);
	if (!loop->growth.wanted)
		cuttle_growth_begin(loop, cuttle_now());
	loop->growth.cores = cores;
	if (pause)
		loop->growth.next = cuttle_now() + pause;
	pthread_mutex_unlock(&loop->lock);
	while (!short_of_threads) {
		struct call call = {.loop = loop};
		bool free;
		int running;

		rb_nogvl(await_call, &call, interrupt_call, &call, RB_NOGVL_INTR_FAIL);
		rb_thread_schedule(); /* to those that wait for the GVL: it may have been between two of them */
		free = !has_slept(call.sleeps);
		running = free ? cuttle_running(call.io_thread) : 0;
		rb_thread_check_ints();
		if (!call.came)
			continue;
		pthread_mutex_lock(&loop->lock);
		short_of_threads = cuttle_growth_judge(loop, free, running, cuttle_now());
		pthread_mutex_unlock(&loop->lock);
	}
	return Qtrue;
}
