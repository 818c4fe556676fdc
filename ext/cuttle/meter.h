/* Whether octets move fast enough, and all the way. A transfer may fall behind its minimum rate by 10 seconds at its
 * start, and by 30 once it was faster for a while; it is late when it is further behind, or when nothing moved for the
 * time of a stall. Times are nanoseconds on the monotonic clock. */
#ifndef CUTTLE_METER_H
#define CUTTLE_METER_H

#include "clock.h"

#include <stdbool.h>

#define CUTTLE_METER_GRACE ((int64_t)(10 * CUTTLE_SECOND))
#define CUTTLE_METER_CREDIT ((int64_t)(30 * CUTTLE_SECOND))

struct cuttle_meter {
	uint64_t began;  /* 0: no transfer */
	uint64_t looked; /* the last time that it was asked, */
	uint64_t octets; /* and what had moved by then */
	uint64_t moved;  /* when something was last seen to have moved */
	int64_t slack;   /* how long it may still be slower than its rate */
};

static inline void cuttle_meter_start(struct cuttle_meter *meter, uint64_t octets, uint64_t now)
{
	*meter = (struct cuttle_meter){
		.began = now, .looked = now, .octets = octets, .moved = now, .slack = CUTTLE_METER_GRACE};
}

/* The time since the last look doesn't count: it was not the peer's. */
static inline void cuttle_meter_excuse(struct cuttle_meter *meter, uint64_t octets, uint64_t now)
{
	meter->looked = meter->moved = now;
	meter->octets = octets;
}

/* octets have moved in all. rate: the fewest octets a second (0: any); stall: the longest time without any (0: none). */
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
