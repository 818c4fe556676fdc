/* Renders the Date field once a second. It avoids the C library's calendar: gmtime_r reads TZ and takes a lock, and
 * threads without the GVL call this while Ruby changes the environment or forks. */
#include "clock.h"

#include <stdio.h>

#define DAY 86400
#define ERA 146097 /* days in 400 years */

size_t cuttle_date_render(int64_t time, char text[CUTTLE_DATE_ROOM])
{
	static const char days[7][4] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"}; /* from 1 January 1970 on */
	static const char months[12][4] = {"Mar", "Apr", "May", "Jun", "Jul", "Aug",
					   "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"};
	const uint64_t now = time > 0 ? (uint64_t)time : 0, second = now % DAY, today = now / DAY;
	/* Years begin in March here, which makes a leap day the last day. 1 March of the year 0 is 719,468 days before
	 * 1970. */
	const uint64_t day = today + 719468, day_of_era = day % ERA;
	const uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	const uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	const uint64_t month = (5 * day_of_year + 2) / 153;
	const uint64_t year = day / ERA * 400 + year_of_era + (month >= 10);

	return (size_t)snprintf(text, CUTTLE_DATE_ROOM, "date: %s, %02u %s %04llu %02u:%02u:%02u GMT\r\n",
				days[today % 7], (unsigned)(day_of_year - (153 * month + 2) / 5 + 1), months[month],
				(unsigned long long)year, (unsigned)(second / 3600), (unsigned)(second / 60 % 60),
				(unsigned)(second % 60));
}

size_t cuttle_date_line(const char **line)
{
	static _Thread_local char text[CUTTLE_DATE_ROOM];
	static _Thread_local time_t rendered;
	static _Thread_local size_t length;
	time_t now = time(NULL);

	if (now != rendered || length == 0) {
		length = cuttle_date_render(now, text);
		rendered = now;
	}
	*line = text;
	return length;
}
