/* What rb_poller.c, rb_poller_next.c, rb_poller_stuck.c and rb_poller_growth.c share. */
#ifndef RB_CUTTLE_POLLER_H
#define RB_CUTTLE_POLLER_H

#include "rb_source.h"

struct cuttle_poller {
	struct cuttle_source source;
	bool listeners_closed;
	atomic_bool called;  /* wake was called: next returns false */
	size_t collections;  /* of garbage, when the next was found out: */
	bool collection_due; /* the next one will be a major one */
	bool leaves_garbage; /* leave_garbage was called */
};

extern const rb_data_type_t cuttle_poller_type;

/* Raises ArgumentError if the object was not initialized. */
static inline struct cuttle_poller *cuttle_poller_of(VALUE self)
{
	struct cuttle_poller *poller;

	TypedData_Get_Struct(self, struct cuttle_poller, &cuttle_poller_type, poller);
	if (!poller->source.loop)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Poller");
	return poller;
}

/* Shuts down after stop. The listeners close before any client is sent away, so that none comes back to them. */
void cuttle_poller_shut(struct cuttle_poller *poller);

/* Begins a major garbage collection, if one is due and this is a time for it. The calling thread has found no work. If
 * this returns true, it calls cuttle_poller_collect, which may raise an interrupt of the thread. */
bool cuttle_poller_begin_collection(struct cuttle_poller *poller);
VALUE cuttle_poller_collect(VALUE poller);
VALUE cuttle_poller_leave_garbage(VALUE self);

/* Methods defined in files of their own. */
VALUE cuttle_poller_next(int argc, VALUE *argv, VALUE self);
VALUE cuttle_poller_stuck(VALUE self);
VALUE cuttle_poller_stranded_p(VALUE self);
VALUE cuttle_poller_await_shortage(int argc, VALUE *argv, VALUE self);

/* The Hash of Poller#stats. */
VALUE cuttle_poller_stats_of(const struct cuttle_counts *counts);

#endif
