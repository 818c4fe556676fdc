/* Cuttle::Malloc: requests to glibc's malloc, for the whole process. */
#include "rb_cuttle.h"

#include <ruby/thread.h>

#if defined(__linux__) && defined(__GLIBC__)
#define GLIBC
#include <malloc.h>
#endif

/* call-seq: Malloc.limit_arenas(count) -> true or false
 *
 * Lets malloc make at most +count+ arenas. Those that there are already stay. Call it before the process has several
 * threads: once malloc has compared its arenas with a limit, it keeps that limit. Forked children inherit it, a program
 * that is executed does not. Returns false if malloc isn't glibc's. */
static VALUE malloc_limit_arenas(VALUE self, VALUE count)
{
	int most = NUM2INT(count);

	if (most < 1)
		rb_raise(rb_eArgError, "give at least 1 arena");
#ifdef GLIBC
	return RBOOL(mallopt(M_ARENA_MAX, most) == 1);
#else
	return Qfalse;
#endif
}

#ifdef GLIBC
static void *trim(void *unused)
{
	malloc_trim(0);
	return unused;
}
#endif

/* call-seq: Malloc.trim -> true or false
 *
 * Gives the pages of free memory back to the system, in all arenas. Takes milliseconds for a heap of 100 MB; a thread
 * that allocates meanwhile may wait. Returns false if malloc isn't glibc's. */
static VALUE malloc_trim_all(VALUE self)
{
#ifdef GLIBC
	rb_thread_call_without_gvl(trim, NULL, NULL, NULL);
	return Qtrue;
#else
	return Qfalse;
#endif
}

void Init_cuttle_malloc(void)
{
	VALUE module = rb_define_module_under(cuttle_module, "Malloc");

	rb_define_singleton_method(module, "limit_arenas", malloc_limit_arenas, 1);
	rb_define_singleton_method(module, "trim", malloc_trim_all, 0);
}
