/*
 * Arrival schedules: the intended time of each request in an open loop.
 *
 * Law: a schedule is a rate over time, made of straight lines. Arrival k is where the area under the rate reaches k;
 * with poisson, where it reaches a sum of exponential draws, so every shape has a Poisson counterpart. A trace is a
 * list of times. Thread +part+ of +parts+ takes every parts-th arrival (of a Poisson schedule, its share of the rate),
 * so the threads' arrivals together are the schedule's, for any number of threads. No Ruby; only one thread uses a
 * schedule.
 */
#ifndef CUTTLE_LOAD_SCHEDULE_H
#define CUTTLE_LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment {
	double length;   /* seconds; INFINITY for the last one of an endless schedule, which must be level */
	double from, to; /* arrivals per second at its beginning and its end */
};

struct shape {
	const struct segment *segments;
	size_t segment_count;
	const double *times; /* a trace: seconds, ascending; NULL: segments */
	size_t time_count;
	bool poisson;
};

struct schedule {
	const struct shape *shape;
	uint64_t random;
	double area; /* under the rate, up to the next arrival */
	double step; /* between two arrivals of this part */
	size_t segment, time, time_step;
	double begun_area, begun; /* area and time at the current segment's beginning */
};

void schedule_start(struct schedule *schedule, const struct shape *shape, uint64_t seed, size_t part, size_t parts);

/* Returns the nanoseconds from the schedule's start to the next arrival, NEVER if there is none left. */
int64_t schedule_next(struct schedule *schedule);

#endif
