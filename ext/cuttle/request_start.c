/* X-Request-Start is a time since 1970, with or without a leading "t=". It counts seconds with a fraction (nginx:
 * t=${msec}), milliseconds (Heroku) or microseconds (Apache: t=%t). The number's size tells which. See
 * request_start.h. */
#include "request_start.h"
#include "clock.h"

#define OLDEST (3600 * CUTTLE_SECOND)
#define MOST_DIGITS 19 /* nanoseconds until the year 2286 */

/* Parses a decimal number. *fraction becomes its fraction in billionths. Returns its length in octets, 0 if there is
 * none. */
static size_t number(const char *text, size_t length, uint64_t *whole, uint64_t *fraction)
{
	uint64_t unit = CUTTLE_SECOND / 10;
	size_t at = 0;

	*whole = *fraction = 0;
	for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
		if (at == MOST_DIGITS)
			return 0;
		*whole = *whole * 10 + (uint64_t)(text[at] - '0');
	}
	if (at == 0 || at == length || text[at] != '.')
		return at;
	for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
		*fraction += (uint64_t)(text[at] - '0') * unit;
		unit /= 10;
	}
	return at;
}

/* Returns the unit of a number of that size, in nanoseconds; 0 if the number is no time of this age. */
static uint64_t unit_of(uint64_t whole)
{
	const uint64_t seconds = UINT64_C(1000000000); /* 2001; ten times that is 2286 */

	for (uint64_t unit = CUTTLE_SECOND, least = seconds; unit; unit /= 1000, least *= 1000)
		if (whole >= least && whole / 10 < least)
			return unit;
	return 0;
}

bool cuttle_request_start_at(const char *value, size_t length, uint64_t now, uint64_t *since)
{
	uint64_t whole, fraction, unit, start;
	size_t size;

	if (length > 2 && value[0] == 't' && value[1] == '=') {
		value += 2;
		length -= 2;
	}
	size = number(value, length, &whole, &fraction);
	unit = size ? unit_of(whole) : 0;
	if (!unit || (size < length && value[size] != ',' && value[size] != ' '))
		return false;
	start = whole * unit + fraction / (CUTTLE_SECOND / unit);
	if (start > now || now - start > OLDEST)
		return false;
	*since = now - start;
	return true;
}

bool cuttle_request_start(const char *value, size_t length, uint64_t *since)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return cuttle_request_start_at(value, length, (uint64_t)now.tv_sec * CUTTLE_SECOND + (uint64_t)now.tv_nsec,
				       since);
}
