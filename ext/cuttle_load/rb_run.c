/* Cuttle::Load::Run: run.h for Ruby. A Hash describes the plan; windows and figures are returned as Arrays and
 * Hashes. */
#include "core.h"
#include "rb_script.h"
#include "rb_shape.h"
#include "rb_stats.h"
#include "run.h"
#include <errno.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>

struct generator {
	struct run run;
	struct request *requests;
	struct scripts scripts; /* of the requests, if there are sessions */
	struct window **read;   /* for each worker, the last window that Ruby has read */
	bool started;
};

static void release(struct generator *generator)
{
	size_t at;

	run_finish(&generator->run);
	for (at = 0; generator->requests && at < generator->run.plan.mix.count; at++)
		xfree((void *)generator->requests[at].whole.octets);
	scripts_free(&generator->scripts);
	xfree(generator->requests);
	xfree(generator->read);
	generator->requests = NULL;
	generator->read = NULL;
	shape_free(&generator->run.plan.shape);
	shape_free(&generator->run.plan.warm_shape);
	tls_free(generator->run.plan.tls);
	generator->run.plan.tls = NULL;
}

static void free_generator(void *pointer)
{
	struct generator *generator = pointer;

	release(generator);
	pthread_mutex_destroy(&generator->run.mutex);
	pthread_cond_destroy(&generator->run.changed);
	xfree(generator);
}

static const rb_data_type_t TYPE = {
	.wrap_struct_name = "Cuttle::Load::Run",
	.function = {.dfree = free_generator},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate(VALUE class)
{
	struct generator *generator;
	VALUE self = TypedData_Make_Struct(class, struct generator, &TYPE, generator);

	run_prepare(&generator->run);
	return self;
}

static struct generator *get(VALUE self)
{
	return rb_check_typeddata(self, &TYPE);
}

/* --- the plan --- */

static size_t positive(VALUE hash, const char *key)
{
	long value = NUM2LONG(option(hash, key));

	if (value < 1)
		rb_raise(rb_eArgError, "%s: at least 1, not %ld", key, value);
	return (size_t)value;
}

static int64_t integer(VALUE hash, const char *key)
{
	return NUM2LL(option(hash, key));
}

static int64_t integer_or(VALUE hash, const char *key, int64_t otherwise)
{
	VALUE value = option(hash, key);

	return NIL_P(value) ? otherwise : NUM2LL(value);
}

static void read_address(VALUE hash, struct plan *plan)
{
	VALUE address = option(hash, "address");

	StringValue(address);
	if ((size_t)RSTRING_LEN(address) > sizeof(plan->address))
		rb_raise(rb_eArgError, "address: too long");
	memcpy(&plan->address, RSTRING_PTR(address), (size_t)RSTRING_LEN(address));
	plan->address_length = (socklen_t)RSTRING_LEN(address);
}

static void read_tls(VALUE hash, struct plan *plan)
{
	VALUE tls = option(hash, "tls"), host, authorities;
	char error[256] = "";

	if (NIL_P(tls))
		return;
	host = option(tls, "host");
	authorities = option(tls, "authorities");
	plan->tls = tls_new(StringValueCStr(host), RTEST(option(tls, "verify")),
			    NIL_P(authorities) ? NULL : StringValueCStr(authorities), error, sizeof(error));
	if (!plan->tls)
		rb_raise(rb_eArgError, "%s", error);
}

static size_t read_entry(VALUE row, size_t entries)
{
	size_t entry = NUM2SIZET(option(row, "entry"));

	if (entry >= entries)
		rb_raise(rb_eArgError, "entry: below %zu, not %zu", entries, entry);
	return entry;
}

static void read_request(VALUE row, const struct mix *mix, struct request *request)
{
	VALUE octets = option(row, "octets");
	double weight = NUM2DBL(option(row, "share"));
	int expected = NUM2INT(option(row, "expected"));
	bool head = RTEST(option(row, "head"));
	size_t entry = read_entry(row, mix->entries);
	char *copy;

	StringValue(octets);
	if (RSTRING_LEN(octets) == 0)
		rb_raise(rb_eArgError, "requests: an empty one");
	copy = xmalloc((size_t)RSTRING_LEN(octets));
	memcpy(copy, RSTRING_PTR(octets), (size_t)RSTRING_LEN(octets));
	*request = (struct request){
		.whole = {copy, (size_t)RSTRING_LEN(octets)},
		.weight = weight,
		.expected = expected,
		.head = head,
		.entry = entry,
	};
}

/* Whether the numbers of all threads' requests have the order of their times: those of a schedule that is not random.
 */
static bool in_common(const struct plan *plan)
{
	return plan->open && !plan->shape.poisson;
}

static void read_mix(VALUE hash, struct generator *generator)
{
	VALUE rows = option(hash, "requests");
	struct mix *mix = &generator->run.plan.mix;
	long at;

	Check_Type(rows, T_ARRAY);
	if (RARRAY_LEN(rows) == 0)
		rb_raise(rb_eArgError, "requests: none");
	generator->requests = xcalloc((size_t)RARRAY_LEN(rows), sizeof(*generator->requests));
	mix->requests = generator->requests;
	mix->in_order = RTEST(option(hash, "in_order"));
	mix->turn = in_common(&generator->run.plan) ? 1 : generator->run.plan.parts;
	mix->seed = NUM2ULL(option(hash, "seed"));
	mix->entries = positive(hash, "entries");
	for (at = 0; at < RARRAY_LEN(rows); at++) {
		VALUE row = rb_ary_entry(rows, at);

		Check_Type(row, T_HASH);
		read_request(row, mix, &generator->requests[at]);
		mix->count++;
	}
}

/* Reads the rules of sessions and each request's script; nothing if the plan has none. */
static void read_sessions(VALUE hash, struct generator *generator)
{
	struct mix *mix = &generator->run.plan.mix;

	scripts_from_ruby(option(hash, "sessions"), option(hash, "requests"), generator->requests, mix->count,
			  &generator->scripts, &generator->run.plan.sessions);
	if (generator->run.plan.sessions.room && generator->run.plan.pipeline > 1)
		rb_raise(rb_eArgError, "pipeline: needs requests without templates");
}

static void read_load(VALUE hash, struct plan *plan)
{
	plan->threads = positive(hash, "threads");
	plan->connections = positive(hash, "connections");
	plan->pipeline = positive(hash, "pipeline");
	plan->parts = positive(hash, "parts");
	plan->part = (size_t)integer(hash, "part");
	plan->keep_alive = RTEST(option(hash, "keep_alive"));
	plan->open = RTEST(option(hash, "open"));
	plan->seed = NUM2ULL(option(hash, "seed"));
	if (plan->connections < plan->threads)
		rb_raise(rb_eArgError, "threads: more than connections");
	if (plan->pipeline > 1 && (plan->open || !plan->keep_alive))
		rb_raise(rb_eArgError, "pipeline: needs a closed loop and connections that persist");
}

static void read_times(VALUE hash, struct plan *plan)
{
	plan->warmup = integer(hash, "warmup");
	plan->duration = integer_or(hash, "duration", NEVER);
	plan->timeout = integer(hash, "timeout");
	plan->think = integer(hash, "think");
	plan->slow_octets = integer(hash, "slow_octets");
	plan->slow_tick = integer(hash, "slow_tick");
	plan->limited = !NIL_P(option(hash, "limit"));
	atomic_init(&plan->left, integer_or(hash, "limit", INT64_MAX));
	if (plan->duration == NEVER && !plan->limited)
		rb_raise(rb_eArgError, "duration or limit: one is needed");
	if (plan->warmup < 0 || plan->duration < 0 || plan->timeout <= 0 || plan->think < 0 || plan->slow_octets < 0 ||
	    plan->slow_tick <= 0)
		rb_raise(rb_eArgError, "times: below zero");
}

/* new(options): see Cuttle::Load::Plan#to_core for the keys. */
static VALUE initialize(VALUE self, VALUE hash)
{
	struct generator *generator = get(self);
	struct plan *plan = &generator->run.plan;

	Check_Type(hash, T_HASH);
	if (plan->threads)
		rb_raise(rb_eRuntimeError, "initialized already");
	read_address(hash, plan);
	read_load(hash, plan);
	read_times(hash, plan);
	if (plan->open) {
		shape_from_ruby(option(hash, "shape"), &plan->shape);
		shape_from_ruby(option(hash, "warm_shape"), &plan->warm_shape);
	}
	read_mix(hash, generator);
	read_sessions(hash, generator);
	read_tls(hash, plan);
	return self;
}

/* --- running --- */

static VALUE start(VALUE self)
{
	struct generator *generator = get(self);
	struct run *run = &generator->run;
	size_t at;

	if (generator->started || !generator->requests)
		rb_raise(rb_eRuntimeError, "a run can be started once");
	generator->read = xcalloc(run->plan.threads, sizeof(*generator->read));
	if (!run_start(run))
		rb_sys_fail("load threads");
	generator->started = true;
	for (at = 0; at < run->count; at++)
		generator->read[at] = run->workers[at]->stats->first;
	return self;
}

struct waiting {
	struct run *run;
	int64_t time;
	bool ended;
};

static void *wait_without_gvl(void *argument)
{
	struct waiting *waiting = argument;

	waiting->ended = run_wait(waiting->run, waiting->time);
	return NULL;
}

static void nudge(void *run)
{
	run_nudge(run);
}

static struct generator *get_running(VALUE self)
{
	struct generator *generator = get(self);

	if (!generator->started || !generator->run.workers)
		rb_raise(rb_eRuntimeError, "the run has not started, or is closed");
	return generator;
}

/* wait(seconds) -> whether the run has ended. Other Ruby threads run meanwhile, and interrupts end the wait. */
static VALUE wait_for(VALUE self, VALUE seconds)
{
	struct waiting waiting = {&get_running(self)->run, (int64_t)(NUM2DBL(seconds) * 1e9), false};

	rb_thread_call_without_gvl(wait_without_gvl, &waiting, nudge, waiting.run);
	return waiting.ended ? Qtrue : Qfalse;
}

/* stop -> nil: ends the workers immediately, with their figures so far. #wait returns when they have ended. */
static VALUE stop(VALUE self)
{
	if (get(self)->started)
		run_stop(&get(self)->run);
	return Qnil;
}

static VALUE close_run(VALUE self)
{
	release(get(self));
	return Qnil;
}

/* --- figures --- */

static uint64_t live_value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit((_Atomic uint64_t *)counter, memory_order_relaxed);
}

/* live -> [sent, responses, failures, connections, in flight] of all threads, including the warm-up */
static VALUE live(VALUE self)
{
	const struct run *run = &get_running(self)->run;
	uint64_t sums[5] = {0};
	size_t at;

	for (at = 0; at < run->count; at++) {
		const struct live *live = &run->workers[at]->stats->live;

		sums[0] += live_value(&live->sent);
		sums[1] += live_value(&live->responses);
		sums[2] += live_value(&live->failures);
		sums[3] += live_value(&live->connections);
		sums[4] += live_value(&live->in_flight);
	}
	return rb_ary_new_from_args(5, ULL2NUM(sums[0]), ULL2NUM(sums[1]), ULL2NUM(sums[2]), ULL2NUM(sums[3]),
				    ULL2NUM(sums[4]));
}

static size_t thread_index(const struct generator *generator, VALUE thread)
{
	size_t index = NUM2SIZET(thread);

	if (index >= generator->run.count)
		rb_raise(rb_eIndexError, "no thread %zu", index);
	return index;
}

/* windows(thread) -> the windows that the thread has published since the last call */
static VALUE windows(VALUE self, VALUE thread)
{
	struct generator *generator = get_running(self);
	size_t index = thread_index(generator, thread);
	VALUE result = rb_ary_new();
	struct window *next;

	while ((next = atomic_load_explicit(&generator->read[index]->next, memory_order_acquire))) {
		generator->read[index] = next;
		rb_ary_push(result, window_to_ruby(next));
	}
	return result;
}

/* figures(thread) -> the thread's figures of the whole run. Raises before the thread has ended. */
static VALUE figures(VALUE self, VALUE thread)
{
	struct generator *generator = get_running(self);
	const struct stats *stats = generator->run.workers[thread_index(generator, thread)]->stats;

	if (!atomic_load_explicit(&stats->live.ended, memory_order_acquire))
		rb_raise(rb_eRuntimeError, "the run has not ended");
	return stats_to_ruby(stats);
}

void init_run(VALUE module)
{
	VALUE class = rb_define_class_under(module, "Run", rb_cObject);

	rb_define_alloc_func(class, allocate);
	rb_undef_method(class, "initialize_copy");
	rb_define_const(module, "TLS_AVAILABLE", tls_available ? Qtrue : Qfalse);
	rb_define_const(module, "TLS_LIBRARY", tls_version() ? rb_str_freeze(rb_str_new_cstr(tls_version())) : Qnil);
	rb_define_method(class, "initialize", initialize, 1);
	rb_define_method(class, "start", start, 0);
	rb_define_method(class, "wait", wait_for, 1);
	rb_define_method(class, "stop", stop, 0);
	rb_define_method(class, "close", close_run, 0);
	rb_define_method(class, "live", live, 0);
	rb_define_method(class, "windows", windows, 1);
	rb_define_method(class, "figures", figures, 1);
}
