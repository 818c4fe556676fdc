/*
 * A histogram of times in HdrHistogram's log-linear layout, for 1 us to 1 h with 3 significant digits.
 *
 * Law: slots are 1 ns wide up to 2047 ns. Above, each doubling has 1024 slots, so a slot is never wider than 1/1024 of
 * its values. Merging adds slots and loses nothing. Only one thread writes a histogram. No Ruby.
 */
#ifndef CUTTLE_LOAD_HISTOGRAM_H
#define CUTTLE_LOAD_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_HALF_BITS 10
#define HISTOGRAM_MAX INT64_C(3600000000000)
/* HISTOGRAM_MAX is in doubling number 31 (2^41 to 2^42 ns). Each doubling has 1024 slots, the first has 1024 more. */
#define HISTOGRAM_SLOTS ((31 + 2) << HISTOGRAM_HALF_BITS)

struct histogram {
	uint64_t count;
	uint64_t clipped; /* values above HISTOGRAM_MAX, counted as HISTOGRAM_MAX */
	int64_t min, max; /* exact; meaningless while count is 0 */
	int64_t sum;
	double squares;         /* sum of squares, ns^2 */
	size_t lowest, highest; /* all slots in use lie between them */
	uint64_t slots[HISTOGRAM_SLOTS];
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *into, const struct histogram *from, uint64_t times);

/* Adds +count+ values to slot +index+, which must be below HISTOGRAM_SLOTS. The caller sets min, max and the sums. */
void histogram_fill(struct histogram *histogram, size_t index, uint64_t count);

/* Returns the value that +percentile+ (0..100) of the values don't exceed, by nearest rank: the highest of its slot. */
int64_t histogram_value_at(const struct histogram *histogram, double percentile);

/* Returns the number of values in the slot of +value+ or below. */
uint64_t histogram_count_to(const struct histogram *histogram, int64_t value);

double histogram_mean(const struct histogram *histogram);
double histogram_deviation(const struct histogram *histogram);

static inline size_t histogram_index(int64_t value)
{
	int doubling = 63 - __builtin_clzll((uint64_t)value | 2047) - HISTOGRAM_HALF_BITS;

	return ((size_t)doubling << HISTOGRAM_HALF_BITS) + (size_t)(value >> doubling);
}

/* Return the lowest and the highest value of slot +index+. */
static inline int64_t histogram_lowest(size_t index)
{
	int doubling = (int)(index >> HISTOGRAM_HALF_BITS) - 1;

	if (doubling <= 0)
		return (int64_t)index;
	return (int64_t)((index & 1023) + 1024) << doubling;
}

static inline int64_t histogram_highest(size_t index)
{
	return histogram_lowest(index + 1) - 1;
}

static inline void histogram_record(struct histogram *histogram, int64_t value)
{
	size_t index;

	if (__builtin_expect(value < 0, 0))
		value = 0;
	if (__builtin_expect(value > HISTOGRAM_MAX, 0)) {
		value = HISTOGRAM_MAX;
		histogram->clipped++;
	}
	index = histogram_index(value);
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	if (index < histogram->lowest)
		histogram->lowest = index;
	if (index > histogram->highest)
		histogram->highest = index;
	histogram->count++;
	histogram->sum += value;
	histogram->squares += (double)value * (double)value;
	histogram->slots[index]++;
}

#endif
