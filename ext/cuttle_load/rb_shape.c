/* Reads arrival shapes; see rb_shape.h. */
#include "rb_shape.h"
#include "core.h"
#include <math.h>
#include <stdlib.h>

static double number(VALUE row, long at)
{
	return NUM2DBL(rb_ary_entry(row, at));
}

/* The rows were checked before, so nothing raises after the allocation, and nothing leaks. */
static void read_segments(VALUE rows, struct shape *shape)
{
	long at, count = RARRAY_LEN(rows);
	struct segment *segments = xcalloc((size_t)count + 1, sizeof(*segments));

	shape->segments = segments;
	shape->segment_count = (size_t)count;
	for (at = 0; at < count; at++) {
		VALUE row = rb_ary_entry(rows, at);

		segments[at].length = NIL_P(rb_ary_entry(row, 0)) ? INFINITY : number(row, 0);
		segments[at].from = number(row, 1);
		segments[at].to = number(row, 2);
	}
}

static void read_times(VALUE times, struct shape *shape)
{
	long at, count = RARRAY_LEN(times);
	double *read = xcalloc((size_t)count + 1, sizeof(*read));

	shape->times = read;
	shape->time_count = (size_t)count;
	for (at = 0; at < count; at++)
		read[at] = number(times, at);
}

static void check_rows(VALUE rows)
{
	long at;

	Check_Type(rows, T_ARRAY);
	for (at = 0; at < RARRAY_LEN(rows); at++) {
		VALUE row = rb_ary_entry(rows, at);
		long column;

		Check_Type(row, T_ARRAY);
		for (column = 0; column < 3; column++)
			if (column || !NIL_P(rb_ary_entry(row, column)))
				number(row, column);
	}
}

static void check_times(VALUE times)
{
	long at;

	Check_Type(times, T_ARRAY);
	for (at = 0; at < RARRAY_LEN(times); at++)
		number(times, at);
}

void shape_from_ruby(VALUE spec, struct shape *shape)
{
	VALUE times = option(spec, "times"), rows = option(spec, "segments");

	shape->poisson = RTEST(option(spec, "poisson"));
	if (NIL_P(times)) {
		check_rows(rows);
		read_segments(rows, shape);
	} else {
		check_times(times);
		read_times(times, shape);
	}
}

void shape_free(struct shape *shape)
{
	xfree((void *)shape->segments);
	xfree((void *)shape->times);
	shape->segments = NULL;
	shape->times = NULL;
}
