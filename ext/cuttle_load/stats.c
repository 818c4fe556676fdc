/* Windows and gaps. See stats.h. */
#include "stats.h"
#include <stdlib.h>
#include <string.h>

/* A single name needs no entry: its figures are those of the run. */
static bool make_entries(struct stats *stats, size_t count)
{
	size_t at;

	if (count < 2)
		return true;
	stats->entries = calloc(count, sizeof(*stats->entries)); /* the kernel gives only pages that are used */
	stats->entry_count = stats->entries ? count : 0;
	for (at = 0; at < stats->entry_count; at++)
		histogram_clear(&stats->entries[at].response);
	return stats->entries != NULL;
}

struct stats *stats_new(size_t entries)
{
	struct stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return NULL;
	histogram_clear(&stats->response);
	histogram_clear(&stats->service);
	histogram_clear(&stats->lag);
	histogram_clear(&stats->connect);
	histogram_clear(&stats->first_byte);
	histogram_clear(&stats->transfer);
	stats->first = stats->last = calloc(1, sizeof(struct window)); /* an empty head of the list */
	stats->waited = -1;
	if (stats->first && make_entries(stats, entries))
		return stats;
	stats_free(stats);
	return NULL;
}

void stats_free(struct stats *stats)
{
	struct window *window, *next;

	if (!stats)
		return;
	for (window = stats->first; window; window = next) {
		next = atomic_load_explicit(&window->next, memory_order_acquire);
		free(window);
	}
	free(stats->entries);
	free(stats);
}

static size_t used_slots(const struct histogram *histogram)
{
	size_t index, used = 0;

	for (index = histogram->lowest; histogram->count && index <= histogram->highest; index++)
		used += histogram->slots[index] != 0;
	return used;
}

static void copy_slots(struct window *window, const struct histogram *histogram)
{
	size_t index, at = 0;

	for (index = histogram->lowest; histogram->count && index <= histogram->highest; index++) {
		if (!histogram->slots[index])
			continue;
		window->slots[at++] = index;
		window->slots[at++] = histogram->slots[index];
	}
}

bool stats_publish(struct stats *stats, int64_t end)
{
	const struct histogram *histogram = &stats->response;
	size_t used = used_slots(histogram);
	struct window *window = malloc(sizeof(*window) + 2 * used * sizeof(uint64_t));

	if (window) {
		memcpy(window, &stats->current, sizeof(*window));
		atomic_init(&window->next, NULL);
		window->end = end;
		window->count = histogram->count;
		window->clipped = histogram->clipped;
		window->min = histogram->min;
		window->max = histogram->max;
		window->sum = histogram->sum;
		window->squares = histogram->squares;
		window->slot_count = used;
		copy_slots(window, histogram);
		atomic_store_explicit(&stats->last->next, window, memory_order_release);
		stats->last = window;
	}
	memset(&stats->current, 0, sizeof(stats->current));
	stats->current.begin = end;
	histogram_clear(&stats->response);
	return window != NULL;
}

/* Keeps a gap if it is one of the longest. */
static void keep_gap(struct stats *stats, struct gap gap)
{
	size_t at, shortest = 0;

	if (stats->gap_count < GAPS) {
		stats->gaps[stats->gap_count++] = gap;
		return;
	}
	for (at = 1; at < GAPS; at++)
		if (stats->gaps[at].end - stats->gaps[at].begin <
		    stats->gaps[shortest].end - stats->gaps[shortest].begin)
			shortest = at;
	if (gap.end - gap.begin > stats->gaps[shortest].end - stats->gaps[shortest].begin)
		stats->gaps[shortest] = gap;
}

void stats_gap(struct stats *stats, int64_t now)
{
	if (now - stats->gap_begin >= GAP_THRESHOLD)
		keep_gap(stats, (struct gap){stats->gap_begin, now});
	stats->gap_begin = now;
}
