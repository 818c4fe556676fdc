/*
 * The response parser: octets in; a complete response, "more", or "malformed" out.
 *
 * Law: the parser is strict RFC 9112 (CRLF only, no folding, one valid framing) and incremental (the result is the same
 * for any split of the octets). It keeps only what framing needs and what +kept+ requests. No Ruby; only one thread
 * uses a parser.
 *
 *	STATUS -> FIELD* -> LENGTH   (Content-Length)        -> done
 *	                 -> CHUNK* -> TRAILER*  (chunked)    -> done
 *	                 -> CLOSE    (until the end)         -> done at the end of the connection
 *	                 -> done     (HEAD, 204, 304); -> STATUS again after 1xx
 */
#ifndef CUTTLE_LOAD_RESPONSE_H
#define CUTTLE_LOAD_RESPONSE_H

#include "text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_HEAD_LIMIT 65536 /* most octets of a head or a trailer */

enum response_result { RESPONSE_MORE, RESPONSE_DONE, RESPONSE_MALFORMED };

/* What the connection's end means for the current response. */
enum response_end {
	RESPONSE_END_BETWEEN, /* none of its octets had arrived */
	RESPONSE_END_DONE,    /* the end delimits it: it is complete */
	RESPONSE_END_SHORT,   /* fewer octets than its Content-Length */
	RESPONSE_END_EARLY    /* within its head or its chunks */
};

struct response_head {
	int64_t length; /* Content-Length, or -1 */
	int status;
	bool chunked, coded, keep_alive, old; /* coded: it has a Transfer-Encoding; old: HTTP/1.0 */
};

/* What is kept of a response on request: its body, without chunk framing, and its fields Set-Cookie and Location, each
 * as a line of a letter and the value. */
#define KEPT_COOKIE 's'
#define KEPT_LOCATION 'l'

struct response_kept {
	bool wants_body, wants_fields;
	struct text body, fields;
};

struct response {
	struct response_kept *kept; /* NULL: nothing is wanted. Set it before response_start */
	struct response_head head;
	int64_t left;         /* octets left of the body or the chunk */
	uint32_t octets;      /* of the head or the trailer so far */
	uint8_t state, place; /* place: position in a state's fixed text, or digits so far */
	uint8_t name_length, value_length, field;
	bool for_head; /* it answers a HEAD request */
	bool begun, overlong;
	char name[20], value[128];
};

/*
 * The last head that was parsed in one piece. Most responses of a server begin with the same octets, which parse to the
 * same head. Comparing octets is far cheaper than parsing them.
 */
struct response_memo {
	size_t length;
	struct response_head head;
	char octets[1024];
};

/* Begins a new response. */
void response_start(struct response *response, bool for_head);

/*
 * Parses +length+ octets. *taken is how many belonged to this response (all of them when it needs more). After
 * RESPONSE_DONE, response->head has the status and whether the connection persists. memo may be NULL.
 */
enum response_result response_feed(struct response *response, struct response_memo *memo, const char *octets,
				   size_t length, size_t *taken);

enum response_end response_end(const struct response *response);

#endif
