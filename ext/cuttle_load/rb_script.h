/* Reads the scripts of requests and the rules of sessions; see Cuttle::Load::Plan#to_core and Cuttle::Load::Script. */
#ifndef CUTTLE_LOAD_RB_SCRIPT_H
#define CUTTLE_LOAD_RB_SCRIPT_H

#include "session.h"
#include <ruby.h>

/* One script for each request. */
struct scripts {
	struct script *list;
	size_t count;
	const struct request **providers;
	char *origin;
};

/*
 * Reads +rules+ ({ cookies:, follow:, origin:, providers: [a request's number for each value] }, or nil: there are no
 * sessions) and the scripts in +rows+, and sets requests[n].script. Raises ArgumentError; scripts_free then frees what
 * was allocated.
 */
void scripts_from_ruby(VALUE rules, VALUE rows, struct request *requests, size_t count, struct scripts *scripts,
		       struct session_rules *into);
void scripts_free(struct scripts *scripts);

#endif
