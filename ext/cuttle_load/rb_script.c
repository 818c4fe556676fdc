/* See rb_script.h. Every number of a value or a request is checked here, so that the threads need not check it. */
#include "rb_script.h"
#include "core.h"
#include "rb_pattern.h"
#include <string.h>

static size_t below(VALUE number, size_t limit, const char *what)
{
	size_t value = NUM2SIZET(number);

	if (value >= limit)
		rb_raise(rb_eArgError, "%s: %zu of %zu", what, value, limit);
	return value;
}

/* --- templates --- */

/* row: [kind, coding, value, octets or nil] */
static void read_part(VALUE row, size_t values, struct part *part)
{
	VALUE octets = rb_ary_entry(row, 3);

	part->kind = (enum part_kind)below(rb_ary_entry(row, 0), PARTS, "part");
	part->coding = (enum coding)below(rb_ary_entry(row, 1), CODINGS, "coding");
	if (part->kind == PART_VALUE)
		part->value = below(rb_ary_entry(row, 2), values, "value");
	if (part->kind != PART_TEXT)
		return;
	StringValue(octets);
	part->octets = xmalloc((size_t)RSTRING_LEN(octets) + 1);
	part->length = (size_t)RSTRING_LEN(octets);
	memcpy(part->octets, RSTRING_PTR(octets), part->length);
}

/* spec: { parts: [row, …], body: number of the first part of the body }, or nil. */
static void read_template(VALUE spec, size_t values, struct template *template)
{
	VALUE parts;
	long at;

	if (NIL_P(spec))
		return;
	parts = option(spec, "parts");
	Check_Type(parts, T_ARRAY);
	template->body = below(option(spec, "body"), (size_t)RARRAY_LEN(parts) + 1, "body");
	template->parts = xcalloc((size_t)RARRAY_LEN(parts) + 1, sizeof(*template->parts));
	for (at = 0; at < RARRAY_LEN(parts); at++) {
		VALUE row = rb_ary_entry(parts, at);

		Check_Type(row, T_ARRAY);
		template->count++;
		read_part(row, values, &template->parts[at]);
	}
}

static void free_template(struct template *template)
{
	size_t at;

	for (at = 0; at < template->count; at++)
		xfree(template->parts[at].octets);
	xfree(template->parts);
}

/* --- what is asked of responses --- */

static void read_checks(VALUE checks, struct script *script)
{
	long at;

	Check_Type(checks, T_ARRAY);
	script->checks = xcalloc((size_t)RARRAY_LEN(checks) + 1, sizeof(*script->checks));
	for (at = 0; at < RARRAY_LEN(checks); at++) {
		script->check_count++;
		pattern_from_ruby(rb_ary_entry(checks, at), &script->checks[at]);
	}
}

/* rows: [[value, pattern], …] */
static void read_takes(VALUE rows, size_t values, struct script *script)
{
	long at;

	Check_Type(rows, T_ARRAY);
	script->takes = xcalloc((size_t)RARRAY_LEN(rows) + 1, sizeof(*script->takes));
	for (at = 0; at < RARRAY_LEN(rows); at++) {
		VALUE row = rb_ary_entry(rows, at);

		Check_Type(row, T_ARRAY);
		script->takes[at].value = below(rb_ary_entry(row, 0), values, "take");
		script->take_count++;
		pattern_from_ruby(rb_ary_entry(row, 1), &script->takes[at].pattern);
	}
}

static void read_needs(VALUE needs, size_t values, struct script *script)
{
	long at;

	Check_Type(needs, T_ARRAY);
	script->needs = xcalloc((size_t)RARRAY_LEN(needs) + 1, sizeof(*script->needs));
	for (at = 0; at < RARRAY_LEN(needs); at++)
		script->needs[script->need_count++] = below(rb_ary_entry(needs, at), values, "need");
}

static void read_script(VALUE spec, size_t values, struct script *script)
{
	Check_Type(spec, T_HASH);
	script->posts = RTEST(option(spec, "posts"));
	read_template(option(spec, "sent"), values, &script->sent);
	read_template(option(spec, "see_other"), values, &script->see_other);
	read_template(option(spec, "again"), values, &script->again);
	read_checks(option(spec, "checks"), script);
	read_takes(option(spec, "takes"), values, script);
	read_needs(option(spec, "needs"), values, script);
}

static void free_script(struct script *script)
{
	size_t at;

	free_template(&script->sent);
	free_template(&script->see_other);
	free_template(&script->again);
	for (at = 0; at < script->check_count; at++)
		pattern_free(&script->checks[at]);
	for (at = 0; at < script->take_count; at++)
		pattern_free(&script->takes[at].pattern);
	xfree(script->checks);
	xfree(script->takes);
	xfree(script->needs);
}

/* --- rules --- */

static void read_origin(VALUE origin, struct scripts *scripts, struct session_rules *rules)
{
	StringValue(origin);
	scripts->origin = xmalloc((size_t)RSTRING_LEN(origin) + 1);
	memcpy(scripts->origin, RSTRING_PTR(origin), (size_t)RSTRING_LEN(origin));
	rules->origin = scripts->origin;
	rules->origin_length = (size_t)RSTRING_LEN(origin);
	if (!memchr(rules->origin, ':', rules->origin_length))
		rb_raise(rb_eArgError, "origin: without a scheme");
}

static void read_providers(VALUE providers, struct request *requests, size_t count, struct scripts *scripts,
			   struct session_rules *rules)
{
	long at;

	Check_Type(providers, T_ARRAY);
	scripts->providers = xcalloc((size_t)RARRAY_LEN(providers) + 1, sizeof(*scripts->providers));
	rules->providers = scripts->providers;
	rules->value_count = (size_t)RARRAY_LEN(providers);
	for (at = 0; at < RARRAY_LEN(providers); at++)
		scripts->providers[at] = &requests[below(rb_ary_entry(providers, at), count, "provider")];
}

static size_t greatest(size_t one, size_t other)
{
	return one > other ? one : other;
}

static size_t room_of(const struct script *script)
{
	size_t redirected = greatest(template_room(&script->see_other), template_room(&script->again));

	return greatest(template_room(&script->sent), redirected);
}

void scripts_from_ruby(VALUE spec, VALUE rows, struct request *requests, size_t count, struct scripts *scripts,
		       struct session_rules *rules)
{
	size_t at;

	if (NIL_P(spec))
		return;
	Check_Type(spec, T_HASH);
	rules->cookies = RTEST(option(spec, "cookies"));
	rules->follow = NUM2UINT(option(spec, "follow"));
	read_origin(option(spec, "origin"), scripts, rules);
	read_providers(option(spec, "providers"), requests, count, scripts, rules);
	scripts->list = xcalloc(count, sizeof(*scripts->list));
	for (at = 0; at < count; at++) {
		struct script *script = &scripts->list[scripts->count++];

		read_script(option(rb_ary_entry(rows, (long)at), "script"), rules->value_count, script);
		requests[at].script = script;
		rules->room = greatest(rules->room, room_of(script));
	}
	rules->used = true;
}

void scripts_free(struct scripts *scripts)
{
	size_t at;

	for (at = 0; at < scripts->count; at++)
		free_script(&scripts->list[at]);
	xfree(scripts->list);
	xfree(scripts->providers);
	xfree(scripts->origin);
	*scripts = (struct scripts){0};
}
