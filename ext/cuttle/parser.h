/* The HTTP/1.x request parser. Bytes go in; a request head, "need more" or an error comes out, never anything else.
 *
 * The parser knows nothing of Ruby, sockets or memory allocation. It reads a buffer that the caller keeps and answers
 * in offsets into it, so the caller may move the buffer between calls. The caller may call again with more bytes at the
 * end. Each octet of a line is checked once when it arrives and read once more when the line is complete, so the time
 * is linear. The parser follows RFC 9112 strictly: it rejects any message that two implementations could read
 * differently. */
#ifndef CUTTLE_PARSER_H
#define CUTTLE_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limits, in octets unless stated otherwise. Line limits exclude the CRLF. */
#define CUTTLE_LIMIT_REQUEST_LINE 16384 /* 414 above (501 if the method is longer than 64 octets) */
#define CUTTLE_LIMIT_FIELD_LINE 16384   /* 431 above */
#define CUTTLE_LIMIT_FIELDS 128         /* number of fields; 431 above */
#define CUTTLE_LIMIT_HEAD 65536         /* the whole head; 431 above */
#define CUTTLE_LIMIT_CHUNK_LINE 4096    /* a chunk's size and extensions, with the CRLF; 400 above */
#define CUTTLE_LIMIT_EXTENSIONS 16384   /* all chunk extensions of a body; 400 above */
#define CUTTLE_LIMIT_TRAILER 16384      /* a body's trailer section, with its CRLFs; 431 above */

/* A run of octets in the buffer. */
struct cuttle_slice {
	uint32_t offset, length;
};

struct cuttle_field {
	struct cuttle_slice name, value; /* value without surrounding white space */
};

/* A request head. Slices are offsets into the parsed buffer, counted from the request's first octet. */
struct cuttle_head {
	struct cuttle_slice method, target;
	struct cuttle_slice path, query; /* parts of target; path is "*" for OPTIONS *, empty for "http://host" */
	struct cuttle_slice host, port;  /* of the authority that applies: target's before Host's; port: no colon */
	uint64_t content_length;         /* 0 for a chunked body or none */
	uint32_t field_count;
	uint8_t minor;   /* of HTTP/1.minor: 0 or 1 (a higher one is reported as 1) */
	bool has_query;  /* there was a "?", maybe with nothing after it */
	bool has_host;   /* false only on HTTP/1.0; a host is never empty (RFC 9110, 4.2.1) */
	bool has_length; /* the request has a Content-Length */
	bool chunked;
	bool keep_alive;      /* the client allows the connection to persist */
	bool expect_continue; /* the client waits for a 100; never on HTTP/1.0 */
	struct cuttle_field fields[CUTTLE_LIMIT_FIELDS];
};

/* What the parser remembers between calls for one head. Zero it before the first call. The members are private to the
 * parser. */
struct cuttle_head_state {
	uint32_t line;    /* offset of the first line that is not parsed yet */
	uint32_t scanned; /* octets of that line already checked */
	uint8_t phase;
	uint8_t part; /* the part of the line that the next octet belongs to */
	uint8_t seen; /* bits: which of the fields that may occur once have occurred */
};

/* Parses the head that begins at bytes[0].
 * Returns the number of octets consumed (> 0) when the head is complete, 0 when it needs more octets, and -status when
 * the peer broke the protocol; status is what to answer (400, 414, 417, 431, 501, 505). An octet that is not allowed at
 * its place in a request line or field line (RFC 9112, 3 and 5) is refused at once. What depends on the whole line (the
 * target's form, a known field's value) is judged at the line's end. The final result does not depend on how the octets
 * were split into calls. Pass the same head to every call for one request; it is valid only after a return > 0. The
 * state is useless after any return other than 0. */
int cuttle_parse_head(struct cuttle_head_state *state, struct cuttle_head *head, const char *bytes, size_t length);

/* What the chunk decoder remembers between calls. Zero it before a body's first octet. */
struct cuttle_chunk_state {
	uint64_t left;       /* data octets left in this chunk */
	uint32_t line;       /* octets of the current size line or trailer section, for their limits */
	uint32_t extensions; /* octets of all the body's extensions so far, for their limit */
	uint8_t phase;
	uint8_t extension;
};

/* Decodes the next piece of a chunked body (RFC 9112, 7.1), in the order of the input.
 * Consumes at most *length octets and sets *length to the number consumed. *data is the run of body octets among them,
 * as an offset into bytes; its length is 0 if there are none. Call it again until it consumes nothing.
 * Returns 1 when the body and its trailer section are complete (trailer fields are checked and dropped), 0 to go on,
 * and -status when the peer broke the protocol (400, 431). The state is useless after an error. */
int cuttle_parse_chunks(struct cuttle_chunk_state *state, const char *bytes, size_t *length, struct cuttle_slice *data);

/* Returns the reason phrase of a status code (RFC 9110, 15), or "" for an unregistered one. */
const char *cuttle_reason(int status);

#endif
