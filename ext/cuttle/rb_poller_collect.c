/* Major garbage collections between requests.
 *
 * A major collection visits every object: 50 ms or more for a large app. Ruby makes it when it needs memory, which is
 * in a request. But it decides that earlier, at the end of a minor collection, when there are too many old objects, or
 * too many that each minor collection visits. From then on, a thread that finds no request collects before it waits, if
 * no request is in the app. Meanwhile the io thread gives the requests that come to other workers. So one of them must
 * have a free thread. */
#include "rb_poller.h"

#define LIMITS 2

/* Names of GC.stat: a count, and what it may be before the next collection is a major one. */
static const char *const names[LIMITS][2] = {
	{"old_objects", "old_objects_limit"},
	{"remembered_wb_unprotected_objects", "remembered_wb_unprotected_objects_limit"},
};

static VALUE keys[LIMITS][2]; /* Symbols, which live for ever */
static VALUE reason;          /* the key of GC.latest_gc_info that says why the next one will be a major one */
static bool has_reason, has_limits;

/* Whether the next collection will be a major one. Ruby 3.1 does not say that, but it has counted what decides. */
static bool is_due(void)
{
	if (has_reason)
		return !NIL_P(rb_gc_latest_gc_info(reason));
	for (int index = 0; has_limits && index < LIMITS; index++)
		if (rb_gc_stat(keys[index][0]) > rb_gc_stat(keys[index][1]))
			return true;
	return false;
}

bool cuttle_poller_begin_collection(struct cuttle_poller *poller)
{
	struct cuttle_loop *loop = poller->source.loop;
	size_t collections = rb_gc_count();
	bool may;

	if (poller->leaves_garbage)
		return false;
	if (loop->followers.steady) /* ractors, which run at the same time, and collect together */
		return false;
	if (collections != poller->collections) { /* only a collection changes the counts */
		poller->collections = collections;
		poller->collection_due = is_due();
	}
	if (!poller->collection_due)
		return false;
	pthread_mutex_lock(&loop->lock);
	may = cuttle_loop_begin_rest(loop);
	pthread_mutex_unlock(&loop->lock);
	return may;
}

static VALUE collect(VALUE nothing)
{
	rb_gc();
	return nothing;
}

static VALUE end(VALUE data)
{
	struct cuttle_poller *poller = (struct cuttle_poller *)data;

	poller->collection_due = false;
	poller->collections = rb_gc_count();
	pthread_mutex_lock(&poller->source.loop->lock);
	cuttle_loop_end_rest(poller->source.loop);
	pthread_mutex_unlock(&poller->source.loop->lock);
	return Qnil;
}

VALUE cuttle_poller_collect(VALUE poller)
{
	return rb_ensure(collect, Qnil, end, poller);
}

/* call-seq: leave_garbage
 *
 * From now on no thread collects garbage between requests. For a poller beside another one in the process, whose
 * requests it would delay. */
VALUE cuttle_poller_leave_garbage(VALUE self)
{
	cuttle_poller_of(self)->leaves_garbage = true;
	return Qnil;
}

static bool has(VALUE hash, VALUE key)
{
	return rb_hash_lookup2(hash, key, Qundef) != Qundef;
}

void Init_cuttle_poller_collect(void)
{
	VALUE counts = rb_funcall(rb_mGC, rb_intern("stat"), 0);

	reason = ID2SYM(rb_intern("need_major_by"));
	has_reason = has(rb_funcall(rb_mGC, rb_intern("latest_gc_info"), 0), reason);
	has_limits = true;
	for (int index = 0; index < LIMITS; index++)
		for (int side = 0; side < 2; side++) {
			keys[index][side] = ID2SYM(rb_intern(names[index][side]));
			has_limits = has_limits && has(counts, keys[index][side]);
		}
}
