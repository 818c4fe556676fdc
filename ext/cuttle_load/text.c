/* Growing octets; see text.h. */
#include "text.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 4096

/* Makes room for +length+ octets, which must not exceed the limit. */
static bool grow(struct text *text, size_t length)
{
	size_t room = text->room ? text->room : LEAST;
	char *octets;

	while (room < length)
		room *= 2;
	if (room > text->limit)
		room = text->limit;
	octets = realloc(text->octets, room);
	if (!octets)
		return false;
	text->octets = octets;
	text->room = room;
	return true;
}

void text_put(struct text *text, const char *octets, size_t length)
{
	if (length > text->limit - text->length)
		length = text->limit - text->length;
	if (length == 0 || (text->length + length > text->room && !grow(text, text->length + length)))
		return;
	memcpy(text->octets + text->length, octets, length);
	text->length += length;
}

void text_free(struct text *text)
{
	free(text->octets);
	text->octets = NULL;
	text->length = text->room = 0;
}
