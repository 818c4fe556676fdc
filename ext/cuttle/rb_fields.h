/* The header fields that an app returned, gathered first and rendered then: to gather them may run the app's code
 * (each, to_s), to render them doesn't. */
#ifndef RB_CUTTLE_FIELDS_H
#define RB_CUTTLE_FIELDS_H

#include "rb_cuttle.h"
#include "response_head.h"

#define CUTTLE_FIELDS_AT_HAND 64 /* fields that need no Array */

/* On the machine's stack, where the collector finds it. */
struct cuttle_fields {
	long count;
	bool hijack; /* the app wants the socket behind the head (Rack SPEC, partial hijack) */
	VALUE more;  /* Array of what at_hand has no room for, by turns name and value; nil without */
	VALUE at_hand[CUTTLE_FIELDS_AT_HAND * 2]; /* by turns name and value, Strings */
};

/* Gathers fields: a Hash, or what has each. Values are Strings, or Arrays of them; nil is left out, as are names that
 * begin with "rack.". Raises Cuttle::InvalidResponse, and what the app's code raises. */
void cuttle_fields_gather(struct cuttle_fields *fields, VALUE headers);

/* Begins a head with a status line and the fields. Raises Cuttle::InvalidResponse; then there is nothing to free. Runs
 * no code of the app's before that. */
void cuttle_fields_render(const struct cuttle_fields *fields, int status, struct cuttle_response_head *head);

/* A status as Rack gives it (Integer, or its three digits): 200 to 599, else Cuttle::InvalidResponse. */
int cuttle_status(VALUE status);

#endif
