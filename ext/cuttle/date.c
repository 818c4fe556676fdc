/* The Date field, rendered once a second. */
#include "clock.h"

#include <stdio.h>

size_t cuttle_date_line(const char **line)
{
	static _Thread_local char text[64];
	static _Thread_local time_t rendered;
	static _Thread_local size_t length;
	static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t now = time(NULL);

	if (now != rendered || length == 0) {
		struct tm utc;

		gmtime_r(&now, &utc);
		length = (size_t)snprintf(text, sizeof text, "date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
					  days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900,
					  utc.tm_hour, utc.tm_min, utc.tm_sec);
		rendered = now;
	}
	*line = text;
	return length;
}
