/* The Ruby objects that a connection refers to, and the list of the connections that refer to any.
 *
 * Each garbage collection visits what is referred to, so an idle connection must not refer to anything: with thousands
 * of them, every collection would have to pass by each. So references are apart from the connection. They exist only
 * while there is one, and only in a core's list, which is what the collector visits.
 *
 * This file knows objects as numbers. What guards the connection guards them too. */
#ifndef CUTTLE_REFERENCES_H
#define CUTTLE_REFERENCES_H

#include "list.h"

#include <stdint.h>

struct cuttle_connection;

enum cuttle_reference {
	CUTTLE_TO_PARSER, /* a Ruby parser that has begun the request; until the exchange ends */
	CUTTLE_TO_THREAD, /* the thread and the fiber that run a TAKEN request; only with an app_timeout */
	CUTTLE_TO_FIBER,
	CUTTLE_TO_FACTS, /* what a secured transport tells the app; until the connection ends */
	CUTTLE_REFERENCES,
};

struct cuttle_references {
	struct cuttle_link link;              /* core->referring */
	uintptr_t objects[CUTTLE_REFERENCES]; /* 0: none; one of them is not */
};

/* Makes a connection refer to an object. Returns 0, or -1 without memory. In rb_*.c, take cuttle_source_refer. */
int cuttle_connection_refer(struct cuttle_connection *connection, enum cuttle_reference which, uintptr_t object);

/* Drops those of a connection's references from first to last. It has some. */
void cuttle_connection_forget(struct cuttle_connection *connection, enum cuttle_reference first,
			      enum cuttle_reference last);

#endif
