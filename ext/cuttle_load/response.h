/*
 * The response parser: octets in; a complete response, "more", or "malformed" out.
 *
 * Law: strict RFC 9112 (CRLF only, no folding, one framing that makes sense), incremental (any split of the octets
 * gives the same answer), and nothing is kept but what framing needs. No Ruby, no allocation; one thread uses one.
 *
 *	STATUS -> FIELD* -> LENGTH   (Content-Length)        -> done
 *	                 -> CHUNK* -> TRAILER*  (chunked)    -> done
 *	                 -> CLOSE    (until the end)         -> done at the end of the connection
 *	                 -> done     (HEAD, 204, 304); -> STATUS again after 1xx
 */
#ifndef CUTTLE_LOAD_RESPONSE_H
#define CUTTLE_LOAD_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_HEAD_LIMIT 65536 /* octets in a head, or in a trailer */

enum response_result { RESPONSE_MORE, RESPONSE_DONE, RESPONSE_MALFORMED };

/* What the end of the connection means for the response that was under way. */
enum response_end {
	RESPONSE_END_BETWEEN, /* none of its octets had come */
	RESPONSE_END_DONE, /* the end was its delimiter: it is complete */
	RESPONSE_END_SHORT, /* fewer octets than its Content-Length said */
	RESPONSE_END_EARLY /* in the midst of its head or of its chunks */
};

struct response_head {
	int64_t length; /* Content-Length, or -1 */
	int status;
	bool chunked, coded, keep_alive, old; /* coded: Transfer-Encoding was there; old: HTTP/1.0 */
};

struct response {
	struct response_head head;
	int64_t left; /* of the body or the chunk */
	uint32_t octets; /* of the head or the trailer so far */
	uint8_t state, place; /* place: within a state's fixed text, or digits so far */
	uint8_t name_length, value_length, field;
	bool for_head; /* answers a HEAD request */
	bool begun, overlong;
	char name[20], value[128];
};

/*
 * The last head parsed in one piece. Most responses of a server begin with the same octets, and the same octets parse
 * to the same head: comparing them is far cheaper than parsing them.
 */
struct response_memo {
	size_t length;
	struct response_head head;
	char octets[1024];
};

/* Begins a new response. */
void response_start(struct response *response, bool for_head);

/*
 * Parses +length+ octets; *taken is how many belonged to this response (all of them when there must be more).
 * After RESPONSE_DONE, response->head has the status and whether the connection persists. memo may be NULL.
 */
enum response_result response_feed(struct response *response, struct response_memo *memo, const char *octets,
				   size_t length, size_t *taken);

enum response_end response_end(const struct response *response);

#endif
