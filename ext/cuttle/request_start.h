/* X-Request-Start: when a router in front of the server received the request, in the formats that routers use. No
 * Ruby. */
#ifndef CUTTLE_REQUEST_START_H
#define CUTTLE_REQUEST_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets *since to the nanoseconds since then, by the real-time clock. Returns false for a value in no known format, more
 * than an hour old, or in the future. */
bool cuttle_request_start(const char *value, size_t length, uint64_t *since);

/* The same at a given time, in nanoseconds since 1970. */
bool cuttle_request_start_at(const char *value, size_t length, uint64_t now, uint64_t *since);

#endif
