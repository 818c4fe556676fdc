/* The fields in which proxies say who their client is: X-Forwarded-For, X-Forwarded-Proto and their like. No Ruby. */
#ifndef CUTTLE_FORWARDED_H
#define CUTTLE_FORWARDED_H

#include "trust.h"

enum cuttle_scheme { CUTTLE_NO_SCHEME, CUTTLE_HTTP, CUTTLE_HTTPS };

/* Whether a field of this name says who a proxy's client is: Forwarded, X-Forwarded-…, Client-IP, X-Real-IP, in any
 * case, and with "_" for "-" too. */
bool cuttle_forwarded_name(const char *name, size_t length);

/* Reads a value of X-Forwarded-For from its end: *client becomes one address after the other, from right to left, up to
 * the first that is not trusted. *found becomes true with the first of them. Returns whether to go on with the field
 * before: false after an address that is not trusted, or where an element is no address. An address may have a port,
 * and be in brackets. */
bool cuttle_forwarded_for(const struct cuttle_trust *trust, const char *value, size_t length,
			  struct cuttle_address *client, bool *found);

/* Returns the scheme of the last element of X-Forwarded-Proto that names one. ws and wss are http and https. */
enum cuttle_scheme cuttle_forwarded_proto(const char *value, size_t length);

#endif
