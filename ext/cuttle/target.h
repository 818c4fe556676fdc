/* Request targets (RFC 9112, 3.2) and authorities (RFC 3986, 3.2). */
#ifndef CUTTLE_TARGET_H
#define CUTTLE_TARGET_H

#include "parser.h"

/* Splits head->target into its parts; the method must be known already. Returns 0 or the status to answer. */
int cuttle_parse_target(struct cuttle_head *head, const char *base);

/* Parses a Host field's value. It applies unless the target named an authority. It must be valid in either case. Where
 * it applies it must not be empty: an http URI has a host (RFC 9110, 4.2.1), and RFC 9112, 3.3 lets a server refuse a
 * request without one. Returns 0 or the status to answer. */
int cuttle_parse_host(struct cuttle_head *head, const char *base, const char *value, size_t length);

#endif
