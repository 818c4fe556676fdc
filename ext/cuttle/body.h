/* A request's body: in memory up to 64 KB, in an unlinked temporary file above. */
#ifndef CUTTLE_BODY_H
#define CUTTLE_BODY_H

#include <stdint.h>
#include <stddef.h>

#define CUTTLE_BODY_MEMORY 65536 /* octets; a longer body is spooled */

struct cuttle_body {
	char *memory;
	size_t length, room; /* in memory */
	uint64_t total;      /* octets so far, wherever they are */
	int file;            /* -1: none yet */
};

/* An empty body for expected octets (0: not known); NULL without memory. */
struct cuttle_body *cuttle_body_open(uint64_t expected);

/* Appends octets. Returns 0, or -1 with errno when they could not be kept. */
int cuttle_body_append(struct cuttle_body *body, const char *octets, size_t count);

void cuttle_body_close(struct cuttle_body *body);

/* A new temporary file without a name, in TMPDIR; -1 with errno. */
int cuttle_temporary_file(void);

/* Writes all of octets at the end of a file. Returns 0, or -1 with errno. */
int cuttle_write_fully(int file, const char *octets, size_t count);

#endif
