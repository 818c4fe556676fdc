/* The clocks of threads, and what the app sees of its request's times; see rb_ledger.h. */
#include "rb_ledger.h"
#include "rb_exchange.h"

#include <ruby/debug.h>
#include <ruby/thread.h>
#include <ruby/version.h>
#include <stdlib.h>
#include <string.h>

/* After a request that spent this many nanoseconds in the app, reading the CPU's clock is cheap in comparison. */
#define LONG_APP UINT64_C(50000)
/* Otherwise the clock is read for one of this many requests of a thread, beginning with the first. */
#define SAMPLE 64

/* A thread writes its own. Only ready_at may be written by the thread that wakes it. */
struct cuttle_clocks {
	_Atomic uint64_t ready_at; /* since when it waits for the GVL; 0: it doesn't */
	_Atomic uint64_t gvl;      /* nanoseconds that it has waited for the GVL */
	uint64_t collecting;       /* since when it collects garbage; 0: it doesn't */
	uint64_t gc;               /* nanoseconds that it has collected */
	uint64_t app;              /* nanoseconds that its last request was in the app */
	unsigned turn;
	struct cuttle_clocks *next; /* of those that no thread has */
};

/* Before Ruby 3.4, any hook for collections makes each allocation of the process slow. So there is a hook only if each
 * request's times are wanted (--server-timing). Otherwise the total of all threads is read, in milliseconds. */
#if RUBY_API_VERSION_CODE >= 30400
#define HOOK_IS_CHEAP true
#else
#define HOOK_IS_CHEAP false
#endif

/* Whether each thread's clocks count its own collections. */
static atomic_bool collections_hooked;

/* The clock of a native thread does not distinguish Ruby threads that move between native threads. */
static bool native_threads_move;

#ifdef HAVE_RB_INTERNAL_THREAD_SPECIFIC_GET

static rb_internal_thread_specific_key_t key;
static ID clocks_id;

/* Clocks are reused for other threads and never freed, because at the end of the process Ruby frees their owners first
 * and still reports events of threads and collections after that. */
static struct cuttle_clocks *spare;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(void *data)
{
	struct cuttle_clocks *clocks = data;

	pthread_mutex_lock(&spare_lock);
	clocks->next = spare;
	spare = clocks;
	pthread_mutex_unlock(&spare_lock);
}

static struct cuttle_clocks *reuse(void)
{
	struct cuttle_clocks *clocks;

	pthread_mutex_lock(&spare_lock);
	clocks = spare;
	if (clocks)
		spare = clocks->next;
	pthread_mutex_unlock(&spare_lock);
	return clocks;
}

static size_t clocks_size(const void *data)
{
	return sizeof(struct cuttle_clocks);
}

static const rb_data_type_t clocks_type = {
	.wrap_struct_name = "Cuttle/clocks",
	.function = {.dfree = keep, .dsize = clocks_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

/* Valid without the GVL, and in a garbage collection. */
static struct cuttle_clocks *clocks_of(VALUE thread)
{
	return rb_internal_thread_specific_get(thread, key);
}

static struct cuttle_clocks *own_clocks(void)
{
	return clocks_of(rb_thread_current());
}

/* The thread's object has them until it is collected. */
struct cuttle_clocks *cuttle_clocks_here(void)
{
	VALUE thread = rb_thread_current();
	struct cuttle_clocks *clocks = clocks_of(thread);
	VALUE keeper;

	if (clocks)
		return clocks;
	clocks = reuse();
	if (!clocks)
		clocks = malloc(sizeof *clocks);
	if (!clocks)
		rb_memerror();
	memset(clocks, 0, sizeof *clocks);
	keeper = TypedData_Wrap_Struct(rb_cObject, &clocks_type, clocks); /* without memory for it, clocks are lost */
	rb_ivar_set(thread, clocks_id, keeper);
	rb_internal_thread_specific_set(thread, key, clocks);
	return clocks;
}

static void make_key(void)
{
	key = rb_internal_thread_specific_key_create();
	clocks_id = rb_intern("cuttle_clocks");
}

#else

static __thread struct cuttle_clocks thread_clocks;

static struct cuttle_clocks *own_clocks(void)
{
	return &thread_clocks;
}

struct cuttle_clocks *cuttle_clocks_here(void)
{
	return &thread_clocks;
}

static void make_key(void)
{
}

#endif

#ifdef HAVE_RB_INTERNAL_THREAD_ADD_EVENT_HOOK

/* Any thread of the process, with or without the GVL. */
static void note_thread(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
#ifdef HAVE_RB_INTERNAL_THREAD_SPECIFIC_GET
	struct cuttle_clocks *clocks = clocks_of(data->thread);
#else
	struct cuttle_clocks *clocks = own_clocks();
#endif
	uint64_t ready;

	if (!clocks)
		return;
	if (event == RUBY_INTERNAL_THREAD_EVENT_READY) {
		atomic_store_explicit(&clocks->ready_at, cuttle_now(), memory_order_relaxed);
		return;
	}
	ready = atomic_load_explicit(&clocks->ready_at, memory_order_relaxed);
	if (!ready)
		return;
	atomic_store_explicit(&clocks->ready_at, 0, memory_order_relaxed);
	atomic_store_explicit(&clocks->gvl,
			      atomic_load_explicit(&clocks->gvl, memory_order_relaxed) +
				      cuttle_between(ready, cuttle_now()),
			      memory_order_relaxed);
}

static void watch_threads(void)
{
	rb_internal_thread_add_event_hook(note_thread,
					  RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_RESUMED, NULL);
}

#else

static void watch_threads(void)
{
}

#endif

/* In the thread that collects. Nothing may be allocated. */
static void note_collection(VALUE point, void *unused)
{
	struct cuttle_clocks *clocks = own_clocks();

	if (!clocks)
		return;
	if (rb_tracearg_event_flag(rb_tracearg_from_tracepoint(point)) == RUBY_INTERNAL_EVENT_GC_ENTER) {
		clocks->collecting = cuttle_now();
	} else if (clocks->collecting) {
		clocks->gc += cuttle_now() - clocks->collecting;
		clocks->collecting = 0;
	}
}

/* For the calling ractor. */
static void watch_collections(void)
{
	VALUE point = rb_tracepoint_new(Qnil, RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT,
					note_collection, NULL);

	rb_gc_register_mark_object(point);
	rb_tracepoint_enable(point);
}

/* Nanoseconds that all threads have spent in garbage collections. */
static uint64_t collected(void)
{
	return rb_gc_stat(ID2SYM(rb_intern("time"))) * CUTTLE_MILLISECOND;
}

void cuttle_clocks_start(bool ractors, bool exactly)
{
	static atomic_bool threads;

	if (!atomic_exchange(&threads, true))
		watch_threads();
	if (!ractors && (exactly || HOOK_IS_CHEAP) && !atomic_exchange(&collections_hooked, true))
		watch_collections();
}

bool cuttle_clocks_tell(enum cuttle_phase phase)
{
#ifdef HAVE_RB_INTERNAL_THREAD_ADD_EVENT_HOOK
	return true;
#else
	return phase != CUTTLE_PHASE_GVL;
#endif
}

static uint64_t cpu_time(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * CUTTLE_SECOND + (uint64_t)time.tv_nsec;
}

static uint8_t bit(enum cuttle_phase phase)
{
	return (uint8_t)(1u << phase);
}

/* Whether to read the CPU's clock for the thread's next request. */
static bool worth_reading(struct cuttle_clocks *clocks, const struct cuttle_core *core)
{
	return !native_threads_move &&
	       (clocks->app >= LONG_APP || core->limits.server_timing || clocks->turn++ % SAMPLE == 0);
}

static void read_clocks(const struct cuttle_clocks *clocks, uint8_t reads, struct cuttle_spent *spent)
{
	spent->gvl = atomic_load_explicit(&clocks->gvl, memory_order_relaxed);
	spent->gc = atomic_load_explicit(&collections_hooked, memory_order_relaxed) ? clocks->gc : collected();
	spent->cpu = reads & bit(CUTTLE_PHASE_CPU) ? cpu_time() : 0;
}

void cuttle_effort_begin(struct cuttle_exchange *exchange, struct cuttle_clocks *clocks, enum cuttle_sharing sharing)
{
	const struct cuttle_core *core = exchange->connection->core;
	struct cuttle_effort *effort = &exchange->effort;

	effort->clocks = clocks;
	effort->reads = 0;
	if (sharing != CUTTLE_FIBERS && cuttle_clocks_tell(CUTTLE_PHASE_GVL))
		effort->reads |= bit(CUTTLE_PHASE_GVL);
	if (sharing != CUTTLE_RACTORS)
		effort->reads |= bit(CUTTLE_PHASE_GC);
	if (sharing == CUTTLE_ALONE && worth_reading(clocks, core))
		effort->reads |= bit(CUTTLE_PHASE_CPU);
	read_clocks(clocks, effort->reads, &effort->began);
}

void cuttle_effort_read(struct cuttle_exchange *exchange, uint64_t now)
{
	struct cuttle_effort *effort = &exchange->effort;
	struct cuttle_clocks *clocks = own_clocks();
	struct cuttle_spent spent;

	effort->known = 0;
	if (!clocks || clocks != effort->clocks)
		return;
	clocks->app = now - exchange->times[CUTTLE_TAKEN_AT];
	read_clocks(clocks, effort->reads, &spent);
	effort->known = effort->reads;
	effort->spent.cpu = spent.cpu - effort->began.cpu;
	effort->spent.gvl = spent.gvl - effort->began.gvl;
	effort->spent.gc = cuttle_between(effort->began.gc, spent.gc); /* earlier, if they have been hooked meanwhile */
	if (effort->spent.gc > clocks->app)
		effort->spent.gc = clocks->app;
}

void cuttle_source_keep_ledger(struct cuttle_source *source, VALUE options)
{
	VALUE object = cuttle_source_option(options, "ledger"), lane = cuttle_source_option(options, "lane");
	struct cuttle_scoreboard *scoreboard;
	struct cuttle_ledger *ledger;

	if (NIL_P(object))
		object = cuttle_source_option(options, "scoreboard");
	if (NIL_P(object))
		return;
	scoreboard = cuttle_scoreboard_of(object);
	if (!scoreboard->own)
		return;
	ledger = cuttle_scoreboard_ledger(scoreboard, (uint32_t)(scoreboard->own - scoreboard->shared->at),
					  NIL_P(lane) ? 0 : NUM2UINT(lane));
	if (!ledger)
		return;
	cuttle_clocks_start(source->loop && source->loop->followers.steady, source->core->limits.server_timing);
	source->core->ledgers = scoreboard;
	source->core->ledger = ledger;
	scoreboard->owners++;
}

/* call-seq: to_h -> Hash
 *
 * Where the request's time went so far: seconds by phase (ledger.h), as far as they are known. The exchange is the
 * env's cuttle.ledger. Raises IOError if it is over. */
static VALUE exchange_to_h(VALUE self)
{
	struct cuttle_held *held = cuttle_held_live(self);
	struct cuttle_phases phases;
	VALUE result = rb_hash_new();
	uint64_t now = cuttle_now();

	if (!held->live->times[CUTTLE_RETURNED])
		cuttle_effort_read(held->live, now);
	cuttle_exchange_phases(held->live, &phases, now);
	for (int phase = 0; phase < CUTTLE_PHASES; phase++)
		if (cuttle_phase_known(phases.known, phase))
			rb_hash_aset(result, ID2SYM(rb_intern(cuttle_phase_name(phase))),
				     DBL2NUM((double)phases.at[phase] / (double)CUTTLE_SECOND));
	return result;
}

void Init_cuttle_ledger(void)
{
	const char *move = getenv("RUBY_MN_THREADS");

	native_threads_move = move && strcmp(move, "0") != 0;
	make_key();
	rb_define_method(cuttle_exchange_class, "to_h", exchange_to_h, 0);
}
