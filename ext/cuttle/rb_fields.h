/* The header fields that an app returned. They are gathered first and rendered then, because gathering may run the
 * app's code (each, to_s) and rendering must not. */
#ifndef RB_CUTTLE_FIELDS_H
#define RB_CUTTLE_FIELDS_H

#include "rb_cuttle.h"
#include "response_head.h"

#define CUTTLE_FIELDS_AT_HAND 64 /* fields that fit without an Array */

/* Lives on the machine stack, where the collector finds it. */
struct cuttle_fields {
	long count;
	bool hijack; /* the app wants the socket after the head (Rack SPEC, partial hijack) */
	VALUE more;  /* Array of alternating names and values beyond at_hand; nil: none */
	VALUE at_hand[CUTTLE_FIELDS_AT_HAND * 2]; /* alternating names and values, Strings */
};

/* Gathers fields from a Hash or another object with each. Values are Strings or Arrays of them. Skips nil values and
 * names that begin with "rack.". Raises Cuttle::InvalidResponse, and what the app's code raises. */
void cuttle_fields_gather(struct cuttle_fields *fields, VALUE headers);

/* Begins a head with a status line and the fields. Runs no code of the app. Raises Cuttle::InvalidResponse, with
 * nothing to free then. */
void cuttle_fields_render(const struct cuttle_fields *fields, int status, struct cuttle_response_head *head);

/* Converts a status as Rack gives it (an Integer, or its three digits). Raises Cuttle::InvalidResponse outside 200 to
 * 599. */
int cuttle_status(VALUE status);

#endif
