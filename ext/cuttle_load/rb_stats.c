/* See rb_stats.h. */
#include "rb_stats.h"
#include "core.h"

static void set(VALUE hash, const char *key, VALUE value)
{
	rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

static VALUE failures_to_ruby(const uint64_t *failures)
{
	static const char *const NAMES[FAILURES] = {
		"connect",  "reset",      "early_close", "timeout",           "malformed",
		"length",   "status_4xx", "status_5xx",  "status_unexpected", "check",
		"redirect", "dropped",    "local",
	};
	VALUE hash = rb_hash_new();
	size_t at;

	for (at = 0; at < FAILURES; at++)
		set(hash, NAMES[at], ULL2NUM(failures[at]));
	return hash;
}

static VALUE window_histogram(const struct window *window)
{
	VALUE hash = rb_hash_new(), slots = rb_ary_new_capa((long)(2 * window->slot_count));
	size_t at;

	for (at = 0; at < 2 * window->slot_count; at++)
		rb_ary_push(slots, ULL2NUM(window->slots[at]));
	set(hash, "count", ULL2NUM(window->count));
	set(hash, "min", window->count ? LL2NUM(window->min) : INT2FIX(0));
	set(hash, "max", LL2NUM(window->max));
	set(hash, "sum", LL2NUM(window->sum));
	set(hash, "squares", DBL2NUM(window->squares));
	set(hash, "clipped", ULL2NUM(window->clipped));
	set(hash, "slots", slots);
	return hash;
}

VALUE window_to_ruby(const struct window *window)
{
	VALUE hash = rb_hash_new();

	set(hash, "from", LL2NUM(window->begin));
	set(hash, "to", LL2NUM(window->end));
	set(hash, "draining", window->draining ? Qtrue : Qfalse);
	set(hash, "sent", ULL2NUM(window->sent));
	set(hash, "responses", ULL2NUM(window->responses));
	set(hash, "octets", ULL2NUM(window->octets));
	set(hash, "abandoned", ULL2NUM(window->abandoned));
	set(hash, "errors", failures_to_ruby(window->failures));
	set(hash, "latency", window_histogram(window));
	return hash;
}

/* { status => responses } */
static VALUE statuses_to_ruby(const struct stats *stats)
{
	VALUE hash = rb_hash_new();
	int status;

	for (status = 0; status < STATUSES; status++)
		if (stats->statuses[status])
			rb_hash_aset(hash, INT2NUM(status), ULL2NUM(stats->statuses[status]));
	return hash;
}

static VALUE entries_to_ruby(const struct stats *stats)
{
	VALUE entries = rb_ary_new();
	size_t at;

	for (at = 0; at < stats->entry_count; at++) {
		VALUE hash = rb_hash_new();

		set(hash, "responses", ULL2NUM(stats->entries[at].responses));
		set(hash, "errors", failures_to_ruby(stats->entries[at].failures));
		set(hash, "latency", histogram_to_ruby(&stats->entries[at].response));
		rb_ary_push(entries, hash);
	}
	return entries;
}

static VALUE gaps_to_ruby(const struct stats *stats)
{
	VALUE gaps = rb_ary_new();
	size_t at;

	for (at = 0; at < stats->gap_count; at++)
		rb_ary_push(gaps, rb_assoc_new(LL2NUM(stats->gaps[at].begin), LL2NUM(stats->gaps[at].end)));
	return gaps;
}

VALUE stats_to_ruby(const struct stats *stats)
{
	VALUE hash = rb_hash_new();

	set(hash, "service", histogram_to_ruby(&stats->service));
	set(hash, "lag", histogram_to_ruby(&stats->lag));
	set(hash, "connect", histogram_to_ruby(&stats->connect));
	set(hash, "first_byte", histogram_to_ruby(&stats->first_byte));
	set(hash, "transfer", histogram_to_ruby(&stats->transfer));
	set(hash, "statuses", statuses_to_ruby(stats));
	set(hash, "entries", entries_to_ruby(stats));
	set(hash, "opened", ULL2NUM(stats->opened));
	set(hash, "unfinished", ULL2NUM(stats->unfinished));
	set(hash, "overdue", ULL2NUM(stats->overdue));
	set(hash, "longest_wait", LL2NUM(stats->longest_wait));
	set(hash, "retried", ULL2NUM(stats->retried));
	set(hash, "late", ULL2NUM(stats->late_responses));
	set(hash, "last_response", LL2NUM(stats->last_response));
	set(hash, "cpu", LL2NUM(stats->cpu));
	set(hash, "wall", LL2NUM(stats->wall));
	set(hash, "waited", stats->waited < 0 ? Qnil : LL2NUM(stats->waited));
	set(hash, "gaps", gaps_to_ruby(stats));
	set(hash, "full", stats->full ? Qtrue : Qfalse);
	set(hash, "connect_error", INT2NUM(stats->connect_error));
	set(hash, "local_error", INT2NUM(stats->local_error));
	set(hash, "tls_error", rb_str_new_cstr(stats->tls_error));
	set(hash, "sample", rb_str_new(stats->sample, (long)stats->sample_length));
	return hash;
}
