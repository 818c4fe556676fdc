/* Request targets (RFC 9112, 3.2) and authorities (RFC 3986, 3.2). */
#ifndef CUTTLE_TARGET_H
#define CUTTLE_TARGET_H

#include "parser.h"

/* Takes head->target apart, whose method is known. Returns 0 or what to answer. */
int cuttle_parse_target(struct cuttle_head *head, const char *base);

/* A Host field's value. It applies unless the target named an authority; it must be a valid one in any case, and must
 * not be empty where it applies: an http URI has a host (RFC 9110, 4.2.1), and RFC 9112, 3.3 lets a server refuse one
 * that has none. Returns 0 or what to answer. */
int cuttle_parse_host(struct cuttle_head *head, const char *base, const char *value, size_t length);

#endif
