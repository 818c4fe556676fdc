/* Arrival schedules; see schedule.h. */
#include "schedule.h"
#include "clock.h"
#include "random.h"
#include <math.h>

#define FAR 1e9 /* seconds, whose nanoseconds can be added to a time of the clock */

static double exponential(struct schedule *schedule)
{
	return -log1p(-random_unit(random_next(&schedule->random)));
}

void schedule_start(struct schedule *schedule, const struct shape *shape, uint64_t seed, size_t part, size_t parts)
{
	schedule->shape = shape;
	schedule->random = random_at(seed, part);
	schedule->step = (double)parts;
	schedule->area = shape->poisson ? schedule->step * exponential(schedule) : (double)part;
	schedule->segment = 0;
	schedule->time = part;
	schedule->time_step = parts;
	schedule->begun_area = schedule->begun = 0;
}

/* Converts a time. NEVER if it is further away than a run can be long. */
static int64_t nanoseconds(double seconds)
{
	return seconds < FAR ? (int64_t)(seconds * 1e9) : NEVER;
}

static double segment_area(const struct segment *segment)
{
	if (isinf(segment->length))
		return segment->from > 0 ? INFINITY : 0;
	return (segment->from + segment->to) / 2 * segment->length;
}

/* Returns the time after the segment's beginning at which the area under the segment is +area+: the root of from*t +
 * slope/2*t^2 = area. */
static double segment_time(const struct segment *segment, double area)
{
	double slope = isinf(segment->length) ? 0 : (segment->to - segment->from) / segment->length;
	double discriminant = segment->from * segment->from + 2 * slope * area;
	double divisor = segment->from + sqrt(discriminant > 0 ? discriminant : 0);

	return divisor > 0 ? 2 * area / divisor : 0;
}

static int64_t next_of_trace(struct schedule *schedule)
{
	const struct shape *shape = schedule->shape;
	double time;

	if (schedule->time >= shape->time_count)
		return NEVER;
	time = shape->times[schedule->time];
	schedule->time += schedule->time_step;
	return nanoseconds(time);
}

int64_t schedule_next(struct schedule *schedule)
{
	const struct shape *shape = schedule->shape;
	double time;

	if (shape->times)
		return next_of_trace(schedule);
	for (; schedule->segment < shape->segment_count; schedule->segment++) {
		const struct segment *segment = &shape->segments[schedule->segment];
		double end = schedule->begun_area + segment_area(segment);

		if (schedule->area < end) {
			time = schedule->begun + segment_time(segment, schedule->area - schedule->begun_area);
			schedule->area += schedule->step * (shape->poisson ? exponential(schedule) : 1);
			return nanoseconds(time);
		}
		schedule->begun_area = end;
		schedule->begun += segment->length;
	}
	return NEVER;
}
