/* See rb_pattern.h. Every index is checked here, so that a search need not check it. */
#include "rb_pattern.h"
#include "core.h"
#include <string.h>

#define SET_SIZE 32

static void read_prefix(VALUE prefix, struct pattern *pattern)
{
	StringValue(prefix);
	pattern->prefix = xmalloc((size_t)RSTRING_LEN(prefix) + 1);
	pattern->prefix_length = (size_t)RSTRING_LEN(prefix);
	memcpy(pattern->prefix, RSTRING_PTR(prefix), pattern->prefix_length);
}

static void read_sets(VALUE sets, struct pattern *pattern)
{
	long at;

	Check_Type(sets, T_ARRAY);
	pattern->sets = xcalloc((size_t)RARRAY_LEN(sets) + 1, SET_SIZE);
	for (at = 0; at < RARRAY_LEN(sets); at++) {
		VALUE set = rb_ary_entry(sets, at);

		StringValue(set);
		if (RSTRING_LEN(set) != SET_SIZE)
			rb_raise(rb_eArgError, "pattern: a set of %ld octets", RSTRING_LEN(set));
		memcpy(pattern->sets[at], RSTRING_PTR(set), SET_SIZE);
		pattern->set_count++;
	}
}

static unsigned cell(VALUE row, long at, size_t below)
{
	unsigned long value = NUM2ULONG(rb_ary_entry(row, at));

	if (value >= below)
		rb_raise(rb_eArgError, "pattern: a step's %ld is %lu", at, value);
	return (unsigned)value;
}

static struct step read_step(VALUE row, const struct pattern *pattern, size_t count)
{
	struct step step = {0};

	Check_Type(row, T_ARRAY);
	step.kind = (uint8_t)cell(row, 0, STEPS);
	step.octet = (uint8_t)cell(row, 1, step.kind == STEP_ASSERT ? ASSERTIONS : 256);
	step.to = (uint16_t)cell(row, 2, step.kind == STEP_SET ? pattern->set_count : count);
	step.other = (uint16_t)cell(row, 3, count);
	return step;
}

/* Every step but the last may lead to the next one, so the last step is the match. */
static void read_steps(VALUE steps, struct pattern *pattern)
{
	size_t at, count;

	Check_Type(steps, T_ARRAY);
	count = (size_t)RARRAY_LEN(steps);
	if (count > PATTERN_STEPS)
		rb_raise(rb_eArgError, "pattern: more than %d steps", PATTERN_STEPS);
	pattern->steps = xcalloc(count + 1, sizeof(*pattern->steps));
	for (at = 0; at < count; at++)
		pattern->steps[at] = read_step(rb_ary_entry(steps, (long)at), pattern, count);
	if (count && pattern->steps[count - 1].kind != STEP_MATCH)
		rb_raise(rb_eArgError, "pattern: it does not end with the match");
	pattern->step_count = count;
}

void pattern_from_ruby(VALUE spec, struct pattern *pattern)
{
	Check_Type(spec, T_HASH);
	read_prefix(option(spec, "prefix"), pattern);
	read_sets(option(spec, "sets"), pattern);
	read_steps(option(spec, "steps"), pattern);
	if (pattern->prefix_length == 0 && pattern->step_count == 0)
		rb_raise(rb_eArgError, "pattern: an empty one");
}

void pattern_free(struct pattern *pattern)
{
	xfree(pattern->prefix);
	xfree(pattern->steps);
	xfree(pattern->sets);
	*pattern = (struct pattern){0};
}
