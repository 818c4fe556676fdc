/*
 * Arrival schedules: when each request of an open loop is meant to be sent.
 *
 * Law: a schedule is a rate over time (pieces that are straight lines), and arrival k is where the area under it
 * reaches k; with poisson, where it reaches a sum of exponential draws, so every shape has its Poisson twin. A trace is
 * a list of times. Thread +part+ of +parts+ takes every parts-th arrival (of a Poisson schedule its share of the rate), so the
 * threads' arrivals together are the schedule's, however many there are. No Ruby; one thread asks one schedule.
 */
#ifndef CUTTLE_LOAD_SCHEDULE_H
#define CUTTLE_LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment {
	double length; /* seconds; INFINITY for the last one of a schedule without an end, which must be level */
	double from, to; /* arrivals per second at its beginning and at its end */
};

struct shape {
	const struct segment *segments;
	size_t segment_count;
	const double *times; /* a trace: seconds, ascending; then there are no segments */
	size_t time_count;
	bool poisson;
};

struct schedule {
	const struct shape *shape;
	uint64_t random;
	double area; /* under the rate, where the next arrival is */
	double step; /* between two arrivals of this part */
	size_t segment, time, time_step;
	double begun_area, begun; /* area and time at which the segment begins */
};

void schedule_start(struct schedule *schedule, const struct shape *shape, uint64_t seed, size_t part, size_t parts);

/* Nanoseconds from the schedule's start to the next arrival, or NEVER when there is none left. */
int64_t schedule_next(struct schedule *schedule);

#endif
