/* Measures whether a transfer is fast enough. A transfer may fall behind its minimum rate by 10 seconds at its start,
 * and by up to 30 after it was faster for a while. It is late when it falls further behind, or when nothing moves for
 * the stall time. Times are nanoseconds on the monotonic clock. */
#ifndef CUTTLE_METER_H
#define CUTTLE_METER_H

#include "clock.h"

#include <stdbool.h>

#define CUTTLE_METER_GRACE ((int64_t)(10 * CUTTLE_SECOND))
#define CUTTLE_METER_CREDIT ((int64_t)(30 * CUTTLE_SECOND))

struct cuttle_meter {
	uint64_t began;  /* 0: no transfer */
	uint64_t looked; /* the last measurement */
	uint64_t octets; /* how many had moved by then */
	uint64_t moved;  /* when octets were last seen to have moved */
	int64_t slack;   /* nanoseconds that it may still fall behind its rate */
};

static inline void cuttle_meter_start(struct cuttle_meter *meter, uint64_t octets, uint64_t now)
{
	*meter = (struct cuttle_meter){
		.began = now, .looked = now, .octets = octets, .moved = now, .slack = CUTTLE_METER_GRACE};
}

/* Excludes the time since the last measurement, because the delay was not the peer's. */
static inline void cuttle_meter_excuse(struct cuttle_meter *meter, uint64_t octets, uint64_t now)
{
	meter->looked = meter->moved = now;
	meter->octets = octets;
}

/* Returns whether the transfer is late. octets: how many have moved in all; rate: minimum octets per second (0: none);
 * stall: the longest time without progress (0: no limit). */
static inline bool cuttle_meter_late(struct cuttle_meter *meter, uint64_t octets, uint64_t rate, uint64_t stall,
				     uint64_t now)
{
	double earned = rate ? (double)(octets - meter->octets) / (double)rate * (double)CUTTLE_SECOND : 0;
	double slack = (double)meter->slack + earned - (double)(now - meter->looked);

	if (octets != meter->octets)
		meter->moved = now;
	meter->slack = slack > (double)CUTTLE_METER_CREDIT ? CUTTLE_METER_CREDIT : (int64_t)slack;
	meter->looked = now;
	meter->octets = octets;
	return (rate && meter->slack < 0) || (stall && now - meter->moved >= stall);
}

#endif
