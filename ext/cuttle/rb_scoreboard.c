/* Cuttle::Scoreboard: what the workers of a cluster show each other to share connections evenly; see scoreboard.h. */
#include "rb_ledger.h"
#include "rb_poller.h"

static void scoreboard_free(void *data)
{
	if (data)
		cuttle_scoreboard_disown(data);
}

static size_t scoreboard_size(const void *data)
{
	const struct cuttle_scoreboard *scoreboard = data;

	return scoreboard ? sizeof *scoreboard + sizeof *scoreboard->shared +
				    scoreboard->room * sizeof *scoreboard->shared->at +
				    (size_t)scoreboard->room * scoreboard->lanes * sizeof *scoreboard->ledgers
			  : 0;
}

static const rb_data_type_t scoreboard_type = {
	.wrap_struct_name = "Cuttle::Scoreboard",
	.function = {.dfree = scoreboard_free, .dsize = scoreboard_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE scoreboard_allocate(VALUE class)
{
	return TypedData_Wrap_Struct(class, &scoreboard_type, NULL);
}

struct cuttle_scoreboard *cuttle_scoreboard_of(VALUE self)
{
	struct cuttle_scoreboard *scoreboard;

	TypedData_Get_Struct(self, struct cuttle_scoreboard, &scoreboard_type, scoreboard);
	if (!scoreboard)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Scoreboard");
	return scoreboard;
}

/* call-seq: Scoreboard.new(room, lanes = 1, relays = 0)
 *
 * Makes a scoreboard for that many workers, which are forked afterwards, or for the ractors of this process, which may
 * share it once it is frozen. lanes: the ractors of each worker. relays: the number of places, the first ones, whose
 * workers give each other requests that would have to wait. Raises SystemCallError. */
static VALUE scoreboard_initialize(int argc, VALUE *argv, VALUE self)
{
	uint32_t places, lanes, relays;

	rb_check_arity(argc, 1, 3);
	places = NUM2UINT(argv[0]);
	lanes = argc > 1 ? NUM2UINT(argv[1]) : 1;
	relays = argc > 2 ? NUM2UINT(argv[2]) : 0;
	if (DATA_PTR(self))
		rb_raise(rb_eArgError, "already initialized");
	if (places == 0 || places > CUTTLE_SCOREBOARD_MOST)
		rb_raise(rb_eArgError, "a scoreboard has 1 to %d places", CUTTLE_SCOREBOARD_MOST);
	if (lanes == 0 || lanes > CUTTLE_SCOREBOARD_MOST)
		rb_raise(rb_eArgError, "a place has 1 to %d lanes", CUTTLE_SCOREBOARD_MOST);
	DATA_PTR(self) = cuttle_scoreboard_open(places, lanes, relays < places ? relays : places);
	if (!DATA_PTR(self))
		rb_sys_fail("Cuttle::Scoreboard");
	return self;
}

/* call-seq: take(number) -> true or false
 *
 * Takes a place for this process. A worker calls it before it makes its source. Returns false if there is no place of
 * that number; the worker then serves without one. */
static VALUE scoreboard_take(VALUE self, VALUE number)
{
	struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_of(self);

	rb_check_frozen(self);
	scoreboard->own = cuttle_scoreboard_take(scoreboard, NUM2UINT(number));
	return RBOOL(scoreboard->own);
}

/* call-seq: clear(number) -> self
 *
 * Clears the place of a worker that has gone, and passes on to other workers what they gave it. The supervisor calls
 * it. */
static VALUE scoreboard_clear(VALUE self, VALUE number)
{
	struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_of(self);

	cuttle_scoreboard_clear(scoreboard, NUM2UINT(number));
	cuttle_scoreboard_forward(scoreboard, NUM2UINT(number));
	return self;
}

/* call-seq: share(cores) -> Float
 *
 * How many of the cores each worker with a place may keep busy at the same time as the others: at least 1. */
static VALUE scoreboard_share(VALUE self, VALUE cores)
{
	return DBL2NUM(cuttle_scoreboard_share(cuttle_scoreboard_of(self), NUM2DBL(cores)));
}

/* call-seq: announce_stop -> self
 *
 * Makes each response end its connection from now on, in all processes and ractors with a place, because all of them
 * are about to stop. A ractor would learn of the stop only when one of its threads runs. A trap handler may call it. */
static VALUE scoreboard_announce_stop(VALUE self)
{
	cuttle_scoreboard_announce_stop(cuttle_scoreboard_of(self));
	return self;
}

/* call-seq: relay(whether) -> self
 *
 * Lets workers give each other requests from now on, as at first, or not. The supervisor calls it. */
static VALUE scoreboard_relay(VALUE self, VALUE whether)
{
	cuttle_scoreboard_let_relay(cuttle_scoreboard_of(self), RTEST(whether));
	return self;
}

/* call-seq: watch(seconds) -> self
 *
 * Notes that the workers' figures are being observed, for that many seconds (Integer). The supervisor calls it. */
static VALUE scoreboard_watch(VALUE self, VALUE seconds)
{
	cuttle_scoreboard_watch(cuttle_scoreboard_of(self), cuttle_now() + (uint64_t)NUM2UINT(seconds) * 1000000000);
	return self;
}

/* call-seq: watched? -> true or false
 *
 * Whether the workers' figures are being observed. Then workers send them more often. */
static VALUE scoreboard_watched_p(VALUE self)
{
	return RBOOL(cuttle_scoreboard_watched(cuttle_scoreboard_of(self), cuttle_now()));
}

/* call-seq: stats -> Hash
 *
 * The sums of Poller#stats over all pollers of this process with a place here, including those that have ended;
 * threads: those that run the app or wait for requests. Any ractor may call it. */
static VALUE scoreboard_stats(VALUE self)
{
	struct cuttle_counts counts;
	VALUE stats;

	cuttle_core_total(cuttle_scoreboard_of(self), &counts, cuttle_loop_count);
	stats = cuttle_poller_stats_of(&counts);
	rb_hash_aset(stats, ID2SYM(rb_intern("threads")), ULL2NUM(counts.threads));
	return stats;
}

/* call-seq: place -> Integer or nil, the place that this process has taken */
static VALUE scoreboard_place(VALUE self)
{
	const struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_of(self);

	return scoreboard->own ? UINT2NUM((unsigned)(scoreboard->own - scoreboard->shared->at)) : Qnil;
}

/* Adds up a phase of the places from first to the one before end: {count:, sum:, buckets:}. */
static VALUE phase_of(const struct cuttle_scoreboard *scoreboard, uint32_t first, uint32_t end, enum cuttle_phase phase)
{
	uint64_t counts[CUTTLE_LEDGER_BUCKETS] = {0}, count = 0;
	uint64_t sum = cuttle_scoreboard_read(scoreboard, first, end, phase, counts);
	VALUE buckets = rb_ary_new_capa(CUTTLE_LEDGER_BUCKETS), result = rb_hash_new();

	for (unsigned bucket = 0; bucket < CUTTLE_LEDGER_BUCKETS; bucket++) {
		count += counts[bucket];
		rb_ary_push(buckets, ULL2NUM(counts[bucket]));
	}
	rb_hash_aset(result, ID2SYM(rb_intern("count")), ULL2NUM(count));
	rb_hash_aset(result, ID2SYM(rb_intern("sum")), ULL2NUM(sum));
	rb_hash_aset(result, ID2SYM(rb_intern("buckets")), buckets);
	return result;
}

/* call-seq: ledger(place = nil) -> {phase => {count:, sum:, buckets:}}
 *
 * Where the requests of a place, or of all places, spent their time (ledger.h): for each phase (accept, read, queue,
 * app, cpu, gvl, gc, wait, write, total) the number of requests of which it is known, the sum of their times in
 * nanoseconds, and how many fell into each bucket (Cuttle::Ledger::BOUNDS). A phase that this Ruby can't measure is
 * missing (gvl before Ruby 3.2). The requests of a place's former workers count too. Any process and any thread may
 * call it. */
static VALUE scoreboard_ledger(int argc, VALUE *argv, VALUE self)
{
	const struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_of(self);
	uint32_t first = 0, end = scoreboard->room;
	VALUE ledger = rb_hash_new();

	rb_check_arity(argc, 0, 1);
	if (argc > 0 && !NIL_P(argv[0])) {
		first = NUM2UINT(argv[0]);
		end = first < end ? first + 1 : first;
	}
	for (int phase = 0; phase < CUTTLE_PHASES; phase++)
		if (cuttle_clocks_tell(phase))
			rb_hash_aset(ledger, ID2SYM(rb_intern(cuttle_phase_name(phase))),
				     phase_of(scoreboard, first, end, phase));
	return ledger;
}

/* call-seq: to_a -> Array of [connections, whether one of its threads is free] by place */
static VALUE scoreboard_to_a(VALUE self)
{
	struct cuttle_scoreboard *scoreboard = cuttle_scoreboard_of(self);
	VALUE places = rb_ary_new_capa(scoreboard->room);

	for (uint32_t number = 0; number < scoreboard->room; number++)
		rb_ary_push(places, rb_assoc_new(UINT2NUM(atomic_load(&scoreboard->shared->at[number].connections)),
						 atomic_load(&scoreboard->shared->at[number].free) ? Qtrue : Qfalse));
	return places;
}

void Init_cuttle_scoreboard(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Scoreboard", rb_cObject);

	/* The most places that a scoreboard can have. */
	rb_define_const(class, "MOST", UINT2NUM(CUTTLE_SCOREBOARD_MOST));
	rb_define_alloc_func(class, scoreboard_allocate);
	rb_define_method(class, "initialize", scoreboard_initialize, -1);
	rb_define_method(class, "take", scoreboard_take, 1);
	rb_define_method(class, "clear", scoreboard_clear, 1);
	rb_define_method(class, "place", scoreboard_place, 0);
	rb_define_method(class, "ledger", scoreboard_ledger, -1);
	rb_define_method(class, "share", scoreboard_share, 1);
	rb_define_method(class, "announce_stop", scoreboard_announce_stop, 0);
	rb_define_method(class, "relay", scoreboard_relay, 1);
	rb_define_method(class, "watch", scoreboard_watch, 1);
	rb_define_method(class, "watched?", scoreboard_watched_p, 0);
	rb_define_method(class, "stats", scoreboard_stats, 0);
	rb_define_method(class, "to_a", scoreboard_to_a, 0);
}
