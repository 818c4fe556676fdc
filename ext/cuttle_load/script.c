/* See script.h. */
#include "script.h"

#define DIGITS 20
#define ESCAPED 3 /* octets that one octet becomes at most */

static const char COOKIE_FIELD[] = "Cookie: \r\n";

size_t template_room(const struct template *template)
{
	size_t at, room = 0;

	for (at = 0; at < template->count; at++) {
		switch (template->parts[at].kind) {
		case PART_TEXT:
			room += template->parts[at].length;
			break;
		case PART_VALUE:
			room += ESCAPED * VALUE_ROOM;
			break;
		case PART_LENGTH:
			room += DIGITS;
			break;
		case PART_COOKIES:
			room += sizeof(COOKIE_FIELD) + COOKIES_ROOM;
			break;
		default: /* PART_LOCATION */
			room += ESCAPED * LOCATION_ROOM;
		}
	}
	return room;
}
