/* The HTTP/1.x request parser: bytes in; a request head, "need more" or an error out, never anything else.
 *
 * Knows nothing of Ruby, sockets or memory: it reads a buffer that its caller keeps, and answers in offsets into it,
 * so a caller may move the buffer between calls. It may be called again with more bytes at the end: a line's octets are
 * checked once as they come, and looked at once more when the line is complete, so its time is linear. Strict after
 * RFC 9112: where two implementations could read a message differently, it rejects. */
#ifndef CUTTLE_PARSER_H
#define CUTTLE_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limits, in octets unless said otherwise; those of lines without their CRLF. */
#define CUTTLE_LIMIT_REQUEST_LINE 16384 /* 414 above (a method of more than 64 octets: 501) */
#define CUTTLE_LIMIT_FIELD_LINE 16384   /* 431 above */
#define CUTTLE_LIMIT_FIELDS 128         /* count; 431 above */
#define CUTTLE_LIMIT_HEAD 65536         /* whole head; 431 above */
#define CUTTLE_LIMIT_CHUNK_LINE 4096    /* a chunk's size and extensions, with CRLF; 400 above */
#define CUTTLE_LIMIT_EXTENSIONS 16384   /* chunk extensions of a body, all together; 400 above */
#define CUTTLE_LIMIT_TRAILER 16384      /* the trailer section of a body, with its CRLFs; 431 above */

/* A run of octets in the buffer. */
struct cuttle_slice {
	uint32_t offset, length;
};

struct cuttle_field {
	struct cuttle_slice name, value; /* value without surrounding white space */
};

/* A request head. Slices are into the buffer that was parsed, counted from the request's first octet. */
struct cuttle_head {
	struct cuttle_slice method, target;
	struct cuttle_slice path, query; /* parts of target; path is "*" for OPTIONS *, empty for "http://host" */
	struct cuttle_slice host, port;  /* of the authority that applies: target's before Host's; port without the colon */
	uint64_t content_length;         /* 0 where there is no body, or it is chunked */
	uint32_t field_count;
	uint8_t minor;                   /* of HTTP/1.minor: 0 or 1 (a higher one reads as 1) */
	bool has_query;                  /* there was a "?", maybe with nothing behind it */
	bool has_host;                   /* false on HTTP/1.0 only; it is never empty (RFC 9110, 4.2.1) */
	bool has_length;                 /* a Content-Length was sent */
	bool chunked;
	bool keep_alive;                 /* the client lets the connection persist */
	bool expect_continue;            /* the client waits for a 100; never on HTTP/1.0 */
	struct cuttle_field fields[CUTTLE_LIMIT_FIELDS];
};

/* What a parser remembers between calls for one head; zero it before the first. The members are the parser's. */
struct cuttle_head_state {
	uint32_t line;    /* offset of the first line that is not parsed yet */
	uint32_t scanned; /* octets of that line already checked */
	uint8_t phase;
	uint8_t part;     /* of the line, where the next octet belongs */
	uint8_t seen;     /* bits: fields that may come once */
};

/* Parses the head that begins at bytes[0].
 * Returns the octets it took (> 0) when the head is complete; 0 when it needs more; -status when the peer broke the
 * protocol, status being what to answer (400, 414, 417, 431, 501, 505). An octet that can't be where it is in a request
 * line or field line (RFC 9112, 3 and 5) is refused at once; what a line says as a whole (the form of the target, the
 * value of a field that is known) is judged at its end. What it returns in the end does not depend on how the octets
 * were cut into pieces. Each call for one head gets the same head, which is only valid after a return > 0; the state is
 * of no use after a return that is not 0. */
int cuttle_parse_head(struct cuttle_head_state *state, struct cuttle_head *head, const char *bytes, size_t length);

/* What the chunk decoder remembers between calls; zero it before a body's first octet. */
struct cuttle_chunk_state {
	uint64_t left;    /* data octets left in this chunk */
	uint32_t line;    /* octets taken of the present size line or trailer section: their limits */
	uint32_t extensions; /* octets taken of the body's extensions: their limit */
	uint8_t phase;
	uint8_t extension;
};

/* Decodes the next piece of a chunked body (RFC 9112, 7.1), in the order of the input.
 * Consumes *length octets at most and sets *length to those consumed; *data is a run of body octets among them
 * (length 0: none), as offset into bytes. Call it again until it consumes nothing.
 * Returns 1 when the body and its trailer section are complete (trailer fields are checked and dropped), 0 to go on,
 * -status when the peer broke the protocol (400, 431); the state is of no use then. */
int cuttle_parse_chunks(struct cuttle_chunk_state *state, const char *bytes, size_t *length, struct cuttle_slice *data);

/* The reason phrase of a status code (RFC 9110, 15), "" for one that is not registered. */
const char *cuttle_reason(int status);

#endif
