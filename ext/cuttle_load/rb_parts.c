/* The response parser and the schedules alone, for tests and for code that needs arrivals in advance. Also a core's
 * speed. */
#include "clock.h"
#include "core.h"
#include "rb_pattern.h"
#include "response.h"
#include "rb_shape.h"
#include "speed.h"

static VALUE end_name(const struct response *response)
{
	static const char *const NAMES[] = {"early_close", "done", "length", "early_close"};

	return ID2SYM(rb_intern(NAMES[response_end(response)]));
}

static VALUE head_to_ruby(const struct response *response, size_t taken)
{
	return rb_ary_new_from_args(3, INT2NUM(response->head.status), response->head.keep_alive ? Qtrue : Qfalse,
				    SIZET2NUM(taken));
}

/*
 * parse(pieces, head) -> [status, keep alive, octets taken] of the first response in the pieces (Strings, parsed one
 * after the other); :malformed; or, if the pieces end before the response does, what the connection's end means:
 * :early_close, :length, :done.
 */
static VALUE parse(VALUE module, VALUE pieces, VALUE head)
{
	struct response_memo memo = {0};
	struct response response = {.kept = NULL};
	size_t total = 0, taken;
	long at;

	Check_Type(pieces, T_ARRAY);
	response_start(&response, RTEST(head));
	for (at = 0; at < RARRAY_LEN(pieces); at++) {
		VALUE piece = rb_ary_entry(pieces, at);
		enum response_result result;

		StringValue(piece);
		result = response_feed(&response, &memo, RSTRING_PTR(piece), (size_t)RSTRING_LEN(piece), &taken);
		total += taken;
		if (result == RESPONSE_MALFORMED)
			return ID2SYM(rb_intern("malformed"));
		if (result == RESPONSE_DONE)
			return head_to_ruby(&response, total);
	}
	return end_name(&response);
}

/* statuses(octets) -> the status of each response in +octets+, parsed in turn with one memo */
static VALUE statuses(VALUE module, VALUE octets)
{
	struct response_memo memo = {0};
	struct response response = {.kept = NULL};
	VALUE result = rb_ary_new();
	size_t at = 0, taken;

	StringValue(octets);
	while (at < (size_t)RSTRING_LEN(octets)) {
		response_start(&response, false);
		if (response_feed(&response, &memo, RSTRING_PTR(octets) + at, (size_t)RSTRING_LEN(octets) - at,
				  &taken) != RESPONSE_DONE)
			break;
		at += taken;
		rb_ary_push(result, INT2NUM(response.head.status));
	}
	return result;
}

/* arrivals(shape, seed, part, parts, most) -> times of at most +most+ arrivals in nanoseconds; shape as for Run */
static VALUE arrivals(VALUE module, VALUE spec, VALUE seed, VALUE part, VALUE parts, VALUE most)
{
	struct shape shape = {0};
	struct schedule schedule;
	VALUE result = rb_ary_new();
	long left = NUM2LONG(most);

	shape_from_ruby(spec, &shape);
	schedule_start(&schedule, &shape, NUM2ULL(seed), NUM2SIZET(part), NUM2SIZET(parts));
	while (left-- > 0) {
		int64_t time = schedule_next(&schedule);

		if (time == NEVER)
			break;
		rb_ary_push(result, LL2NUM(time));
	}
	shape_free(&shape);
	return result;
}

/* core_speed(core, milliseconds) -> an interpreter's steps per second of CPU time on that core, or nil if this process
 * may not run there. Computes for that time (1 to 1,000) with the GVL. The number is comparable only with others of
 * this function. */
static VALUE speed_of_core(VALUE module, VALUE core, VALUE milliseconds)
{
	int length = NUM2INT(milliseconds);
	double speed;

	if (length < 1 || length > 1000)
		rb_raise(rb_eArgError, "1 to 1000 ms");
	speed = core_speed(NUM2INT(core), length * MILLISECOND);
	return speed < 0 ? Qnil : DBL2NUM(speed);
}

static VALUE span_to_ruby(const struct span *span)
{
	if (span->begin == NOWHERE || span->end == NOWHERE)
		return Qtrue;
	return rb_assoc_new(SIZET2NUM(span->begin), SIZET2NUM(span->end));
}

/* search(pattern, octets) -> [begin, end) of the pattern's group, in octets; true if the pattern has no group or the
 * group took no part in the match; nil if the pattern does not occur. pattern: as for Run. */
static VALUE search(VALUE module, VALUE spec, VALUE octets)
{
	struct pattern pattern = {0};
	struct span span = {NOWHERE, NOWHERE};
	struct matcher *matcher;
	bool found;

	StringValue(octets);
	pattern_from_ruby(spec, &pattern); /* an invalid pattern leaks here: only tests make one */
	matcher = xcalloc(1, sizeof(*matcher));
	found = pattern_search(&pattern, matcher, RSTRING_PTR(octets), (size_t)RSTRING_LEN(octets), &span);
	xfree(matcher);
	pattern_free(&pattern);
	return found ? span_to_ruby(&span) : Qnil;
}

void init_parts(VALUE module)
{
	VALUE parts = rb_define_module_under(module, "Parts");

	rb_define_singleton_method(parts, "parse", parse, 2);
	rb_define_singleton_method(parts, "statuses", statuses, 1);
	rb_define_singleton_method(parts, "search", search, 2);
	rb_define_singleton_method(parts, "arrivals", arrivals, 5);
	rb_define_singleton_method(parts, "core_speed", speed_of_core, 2);
}
