/*
 * Octets that can grow up to a limit.
 *
 * Law: octets that don't fit, or for which there is no memory, are left out. The memory is reused for the next text.
 */
#ifndef CUTTLE_LOAD_TEXT_H
#define CUTTLE_LOAD_TEXT_H

#include <stddef.h>

struct text {
	char *octets;
	size_t length, room, limit;
};

void text_put(struct text *text, const char *octets, size_t length);
void text_free(struct text *text);

static inline void text_clear(struct text *text)
{
	text->length = 0;
}

#endif
