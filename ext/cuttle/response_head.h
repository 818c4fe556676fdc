/* Renders a response's head and checks each octet of it (RFC 9112, 4 and 5). It knows nothing of Ruby.
 *
 * Fields that describe how the message is framed state the app's wish, and the caller writes them: Content-Length,
 * Transfer-Encoding, "Connection: close" and "keep-alive", Keep-Alive. A Connection field with other options is written
 * as it is. A "Status" field is meant for CGI and is left out. */
#ifndef CUTTLE_RESPONSE_HEAD_H
#define CUTTLE_RESPONSE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuttle_response_head {
	char *at;
	size_t length, room;
	uint64_t content_length;           /* as the app gave it */
	size_t upgrade_at, upgrade_length; /* the value of the first Upgrade field in the text; at 0 there is none */
	bool has_length, has_date, close;
	bool upgrade_option; /* Connection has it */
	bool chunked;        /* the app encodes the chunks itself */
	char fixed[4096];    /* holds the text unless it is longer */
};

/* What is wrong with a field, or with the machine. */
enum cuttle_fault {
	CUTTLE_NO_FAULT,
	CUTTLE_FAULT_NAME,     /* is not a token */
	CUTTLE_FAULT_VALUE,    /* has a control character */
	CUTTLE_FAULT_LENGTH,   /* Content-Length is not a number */
	CUTTLE_FAULT_LENGTHS,  /* two different lengths */
	CUTTLE_FAULT_ENCODING, /* Transfer-Encoding other than chunked */
	CUTTLE_FAULT_MEMORY,
};

/* Begins a head with its status line. cuttle_response_head_free releases what exceeds the fixed room. */
void cuttle_response_head_begin(struct cuttle_response_head *head, int status);
void cuttle_response_head_free(struct cuttle_response_head *head);

/* Adds a field. A value with newlines becomes several fields (Rack 2). */
enum cuttle_fault cuttle_response_head_field(struct cuttle_response_head *head, const char *name, size_t name_length,
					     const char *value, size_t length);

/* Adds octets without checking them. Returns false if out of memory. */
bool cuttle_response_head_add(struct cuttle_response_head *head, const char *octets, size_t length);
/* Adds a Content-Length field. Returns false if out of memory. */
bool cuttle_response_head_add_length(struct cuttle_response_head *head, uint64_t length);

#endif
