/* A request's body: in memory up to 64 KB, in an unlinked temporary file beyond that (spool.h). */
#ifndef CUTTLE_BODY_H
#define CUTTLE_BODY_H

#include "spool.h"

#define CUTTLE_BODY_MEMORY 65536       /* octets; a longer body is spooled */
#define CUTTLE_BODY_BEHIND (4 * 65536) /* octets waiting for the disk beyond which its connection stops reading */

struct cuttle_body {
	char *memory;
	size_t length, room; /* in memory */
	uint64_t total;      /* octets so far, wherever they are */
	struct cuttle_spool *spool;
	void *owner;
	struct cuttle_stream *stream; /* NULL while the body is in memory */
};

/* Opens an empty body for the expected number of octets (0: unknown). The spool reports the owner. Returns NULL if out
 * of memory. */
struct cuttle_body *cuttle_body_open(uint64_t expected, struct cuttle_spool *spool, void *owner);

/* Appends octets. Returns 0, or -1 with errno if they could not be kept. */
int cuttle_body_append(struct cuttle_body *body, const char *octets, size_t count);

enum cuttle_body_state {
	CUTTLE_BODY_GOOD,   /* the disk keeps up; for a complete body: everything is stored */
	CUTTLE_BODY_WAITS,  /* for the disk: the spool reports the owner when the disk has caught up or failed */
	CUTTLE_BODY_FAILED, /* the disk failed: the body can't be kept */
};

/* How the body stands with the disk. */
enum cuttle_body_state cuttle_body_look(struct cuttle_body *body, bool complete);

/* Does nothing with NULL. */
void cuttle_body_close(struct cuttle_body *body);

#endif
