/* A request's body: in memory up to 64 KB, in an unlinked temporary file above (spool.h). */
#ifndef CUTTLE_BODY_H
#define CUTTLE_BODY_H

#include "spool.h"

#define CUTTLE_BODY_MEMORY 65536           /* octets; a longer body is spooled */
#define CUTTLE_BODY_BEHIND (4 * 65536)     /* octets that wait for the disk before its connection reads no more */

struct cuttle_body {
	char *memory;
	size_t length, room; /* in memory */
	uint64_t total;      /* octets so far, wherever they are */
	struct cuttle_spool *spool;
	void *owner;
	struct cuttle_stream *stream; /* NULL while it is in memory */
};

/* An empty body for expected octets (0: not known), whose owner the spool reports; NULL without memory. */
struct cuttle_body *cuttle_body_open(uint64_t expected, struct cuttle_spool *spool, void *owner);

/* Appends octets. Returns 0, or -1 with errno when they could not be kept. */
int cuttle_body_append(struct cuttle_body *body, const char *octets, size_t count);

enum cuttle_body_state {
	CUTTLE_BODY_GOOD,   /* the disk follows; of a complete body: everything is where it belongs */
	CUTTLE_BODY_WAITS,  /* for the disk: its owner is reported when that has followed, or failed */
	CUTTLE_BODY_FAILED, /* the disk did: it can't be kept */
};

/* How it stands with the disk. */
enum cuttle_body_state cuttle_body_look(struct cuttle_body *body, bool complete);

/* NULL: nothing to close. */
void cuttle_body_close(struct cuttle_body *body);

#endif
