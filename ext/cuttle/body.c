/* Request bodies; see body.h. */
#include "body.h"

#include <stdlib.h>
#include <string.h>

struct cuttle_body *cuttle_body_open(uint64_t expected, struct cuttle_spool *spool, void *owner)
{
	struct cuttle_body *body = calloc(1, sizeof *body);

	if (!body)
		return NULL;
	body->spool = spool;
	body->owner = owner;
	if (expected > 0 && expected <= CUTTLE_BODY_MEMORY) {
		body->memory = malloc((size_t)expected);
		body->room = body->memory ? (size_t)expected : 0;
	}
	return body;
}

/* Moves what is in memory to a stream. Everything that follows goes there too. */
static int begin_spooling(struct cuttle_body *body)
{
	body->stream = cuttle_stream_open(body->spool, body->owner, true);
	if (!body->stream || cuttle_stream_append(body->stream, body->memory, body->length) < 0)
		return -1;
	free(body->memory);
	body->memory = NULL;
	body->length = body->room = 0;
	return 0;
}

static int grow(struct cuttle_body *body, size_t needed)
{
	size_t room = body->room ? body->room : 4096;
	char *memory;

	while (room < needed)
		room *= 2;
	memory = realloc(body->memory, room);
	if (!memory)
		return -1;
	body->memory = memory;
	body->room = room;
	return 0;
}

int cuttle_body_append(struct cuttle_body *body, const char *octets, size_t count)
{
	if (count == 0)
		return 0;
	if (!body->stream && body->total + count > CUTTLE_BODY_MEMORY && begin_spooling(body) < 0)
		return -1;
	body->total += count;
	if (body->stream)
		return cuttle_stream_append(body->stream, octets, count);
	if (body->length + count > body->room && grow(body, body->length + count) < 0)
		return -1;
	memcpy(body->memory + body->length, octets, count);
	body->length += count;
	return 0;
}

enum cuttle_body_state cuttle_body_look(struct cuttle_body *body, bool complete)
{
	if (!body->stream)
		return CUTTLE_BODY_GOOD;
	if (!complete && cuttle_stream_in_memory(body->stream) <= CUTTLE_BODY_BEHIND)
		return cuttle_stream_error(body->stream) ? CUTTLE_BODY_FAILED : CUTTLE_BODY_GOOD;
	if (!cuttle_stream_await(body->stream, complete ? 0 : CUTTLE_BODY_BEHIND / 2))
		return CUTTLE_BODY_WAITS;
	return cuttle_stream_error(body->stream) ? CUTTLE_BODY_FAILED : CUTTLE_BODY_GOOD;
}

void cuttle_body_close(struct cuttle_body *body)
{
	if (!body)
		return;
	if (body->stream)
		cuttle_stream_close(body->stream);
	free(body->memory);
	free(body);
}
