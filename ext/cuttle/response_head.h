/* A response's head on its way into octets, each of them checked (RFC 9112, 4 and 5). Knows nothing of Ruby.
 *
 * Fields that say how the message goes over the wire are taken as the application's wish, and written by the caller:
 * Content-Length, Transfer-Encoding, "Connection: close" and "keep-alive", Keep-Alive. A "Status" field is for CGI, and
 * is left out. */
#ifndef CUTTLE_RESPONSE_HEAD_H
#define CUTTLE_RESPONSE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuttle_response_head {
	char *at;
	size_t length, room;
	uint64_t content_length; /* as the application gave it */
	bool has_length, has_date, close;
	bool chunked; /* by the application itself */
	char fixed[4096]; /* holds the text unless it is longer */
};

enum cuttle_fault { /* what is wrong with a field, or with the machine */
	CUTTLE_NO_FAULT,
	CUTTLE_FAULT_NAME,     /* no token */
	CUTTLE_FAULT_VALUE,    /* a control character */
	CUTTLE_FAULT_LENGTH,   /* Content-Length is no number */
	CUTTLE_FAULT_LENGTHS,  /* two different ones */
	CUTTLE_FAULT_ENCODING, /* Transfer-Encoding is not chunked */
	CUTTLE_FAULT_MEMORY,
};

/* Begins a head with its status line. What it may come to hold beyond its fixed room is freed by the second. */
void cuttle_response_head_begin(struct cuttle_response_head *head, int status);
void cuttle_response_head_free(struct cuttle_response_head *head);

/* Adds a field; a value with newlines means several fields (Rack 2). */
enum cuttle_fault cuttle_response_head_field(struct cuttle_response_head *head, const char *name, size_t name_length,
					     const char *value, size_t length);

/* Adds octets as they are. Returns false without memory. */
bool cuttle_response_head_add(struct cuttle_response_head *head, const char *octets, size_t length);
/* Adds a Content-Length field. */
bool cuttle_response_head_add_length(struct cuttle_response_head *head, uint64_t length);

#endif
