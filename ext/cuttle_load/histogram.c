/* The histogram's slow functions: clearing, merging, percentiles. See histogram.h. */
#include "histogram.h"
#include <math.h>
#include <string.h>

void histogram_clear(struct histogram *histogram)
{
	if (histogram->highest >= histogram->lowest && histogram->highest < HISTOGRAM_SLOTS)
		memset(histogram->slots + histogram->lowest, 0,
		       (histogram->highest - histogram->lowest + 1) * sizeof(*histogram->slots));
	histogram->count = histogram->clipped = 0;
	histogram->min = INT64_MAX;
	histogram->max = 0;
	histogram->sum = 0;
	histogram->squares = 0;
	histogram->lowest = HISTOGRAM_SLOTS;
	histogram->highest = 0;
}

static void widen(struct histogram *histogram, size_t lowest, size_t highest)
{
	if (lowest < histogram->lowest)
		histogram->lowest = lowest;
	if (highest > histogram->highest)
		histogram->highest = highest;
}

void histogram_fill(struct histogram *histogram, size_t index, uint64_t count)
{
	if (count == 0)
		return;
	histogram->slots[index] += count;
	histogram->count += count;
	widen(histogram, index, index);
}

void histogram_add(struct histogram *into, const struct histogram *from, uint64_t times)
{
	size_t index;

	if (from->count == 0 || times == 0)
		return;
	for (index = from->lowest; index <= from->highest; index++)
		into->slots[index] += times * from->slots[index];
	widen(into, from->lowest, from->highest);
	into->count += times * from->count;
	into->clipped += times * from->clipped;
	into->sum += (int64_t)times * from->sum;
	into->squares += (double)times * from->squares;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

int64_t histogram_value_at(const struct histogram *histogram, double percentile)
{
	uint64_t rank, seen = 0;
	size_t index;

	if (histogram->count == 0)
		return 0;
	/* A rounding error may lift the product above a whole number, which must not increase the rank. */
	rank = (uint64_t)ceil(percentile / 100.0 * (double)histogram->count * (1 - 1e-12));
	if (rank < 1)
		return histogram->min;
	if (rank >= histogram->count)
		return histogram->max;
	for (index = histogram->lowest; index <= histogram->highest; index++) {
		seen += histogram->slots[index];
		if (seen >= rank)
			break;
	}
	return histogram_highest(index) < histogram->max ? histogram_highest(index) : histogram->max;
}

uint64_t histogram_count_to(const struct histogram *histogram, int64_t value)
{
	uint64_t seen = 0;
	size_t index, last;

	if (histogram->count == 0 || value < 0)
		return 0;
	last = histogram_index(value > HISTOGRAM_MAX ? HISTOGRAM_MAX : value);
	for (index = histogram->lowest; index <= histogram->highest && index <= last; index++)
		seen += histogram->slots[index];
	return seen;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

double histogram_deviation(const struct histogram *histogram)
{
	double mean = histogram_mean(histogram), variance;

	if (histogram->count == 0)
		return 0;
	variance = histogram->squares / (double)histogram->count - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}
