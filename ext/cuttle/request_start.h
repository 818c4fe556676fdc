/* X-Request-Start: when a router in front of us got the request, in the formats that routers have for it. No Ruby. */
#ifndef CUTTLE_REQUEST_START_H
#define CUTTLE_REQUEST_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The nanoseconds since then, by the real-time clock. False for a value that is none of the formats, more than an hour
 * old, or in the future. */
bool cuttle_request_start(const char *value, size_t length, uint64_t *since);

/* The same at a given time, which is nanoseconds since 1970. */
bool cuttle_request_start_at(const char *value, size_t length, uint64_t now, uint64_t *since);

#endif
