/* What every kind of response does: whole ones (rb_response.c), ones piece by piece (rb_response_stream.c) and files
 * (rb_response_file.c).
 *
 * The law of all three: a method first runs what may run the app's code (each, to_s). From the look at the exchange on
 * it runs none, so nothing can change between a check and its use. */
#ifndef RB_CUTTLE_RESPONSE_H
#define RB_CUTTLE_RESPONSE_H

#include "rb_exchange.h"
#include "rb_fields.h"

/* The exchange, if it has no response yet. Raises IOError otherwise. */
struct cuttle_held *cuttle_response_unanswered(VALUE self);

/* Makes the status line and fields of a response whose body has length octets (-1: unknown), and decides its framing.
 * Raises before anything was sent. The caller frees the head. */
void cuttle_response_begin(struct cuttle_held *held, struct cuttle_response_head *head, int status,
			   const struct cuttle_fields *fields, int64_t length);

/* Frees the head and raises Cuttle::InvalidResponse. Nothing of the response has left. */
NORETURN(void cuttle_response_give_up(struct cuttle_held *held, struct cuttle_response_head *head, const char *why));

/* Sends copies of parts; what the client doesn't take yet is queued. */
void cuttle_response_send(struct cuttle_held *held, struct iovec *parts, int count);

/* The rest of the body has length octets. If more or fewer were announced, no message can follow on the connection. */
void cuttle_response_settle_length(struct cuttle_held *held, uint64_t length);

/* Follows the chunks that the app makes itself. Returns false if they are malformed, or continue after the last one. */
bool cuttle_response_check_chunks(struct cuttle_framing *framing, const char *octets, size_t length);

#endif
