/* The names of the fields that most requests have lately had, in their order.
 *
 * A client sends the same fields in each request, and so do many clients of one kind. So one list of names is
 * remembered. Each request votes for it or against it; a list without votes gives way to that of the next request
 * (Boyer and Moore's majority vote). A limit on the votes lets the list follow a change. No Ruby. */
#ifndef CUTTLE_USUAL_H
#define CUTTLE_USUAL_H

#include "parser.h"

#define CUTTLE_USUAL_FIELDS 32  /* a request with more fields is never usual */
#define CUTTLE_USUAL_OCTETS 512 /* nor is one whose names are longer altogether */

/* Zero it before the first vote: then the usual request has no field. */
struct cuttle_usual {
	uint32_t count;
	uint16_t lengths[CUTTLE_USUAL_FIELDS];
	char names[CUTTLE_USUAL_OCTETS]; /* one behind the other */
	bool trusted;                    /* those of peers that may say who their client is */
	uint8_t votes;
	bool fresh; /* the list has changed since the caller last cleared this */
};

/* Lets a request vote. octets: what its head's slices refer to; trusted: as in the list. Returns whether it has these
 * names, each as it is written there. */
bool cuttle_usual_vote(struct cuttle_usual *usual, const struct cuttle_head *head, const char *octets, bool trusted);

#endif
