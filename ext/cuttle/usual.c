/* The names that most requests have; see usual.h. */
#include "usual.h"

#include <string.h>

#define MOST_VOTES 16 /* so many requests with other names in a row make a list of theirs */

static bool same(const struct cuttle_usual *usual, const struct cuttle_head *head, const char *octets)
{
	const char *known = usual->names;

	if (head->field_count != usual->count)
		return false;
	for (uint32_t index = 0; index < usual->count; index++) {
		struct cuttle_slice name = head->fields[index].name;

		if (name.length != usual->lengths[index] || memcmp(octets + name.offset, known, name.length) != 0)
			return false;
		known += name.length;
	}
	return true;
}

/* Replaces the list, unless the request has too many names, or too long ones. */
static void remember(struct cuttle_usual *usual, const struct cuttle_head *head, const char *octets, bool trusted)
{
	size_t total = 0;

	if (head->field_count > CUTTLE_USUAL_FIELDS)
		return;
	for (uint32_t index = 0; index < head->field_count; index++)
		total += head->fields[index].name.length;
	if (total > CUTTLE_USUAL_OCTETS)
		return;
	total = 0;
	for (uint32_t index = 0; index < head->field_count; index++) {
		struct cuttle_slice name = head->fields[index].name;

		memcpy(usual->names + total, octets + name.offset, name.length);
		usual->lengths[index] = (uint16_t)name.length;
		total += name.length;
	}
	usual->count = head->field_count;
	usual->trusted = trusted;
	usual->fresh = true;
}

bool cuttle_usual_vote(struct cuttle_usual *usual, const struct cuttle_head *head, const char *octets, bool trusted)
{
	if (trusted == usual->trusted && same(usual, head, octets)) {
		if (usual->votes < MOST_VOTES)
			usual->votes++;
		return true;
	}
	if (usual->votes > 0)
		usual->votes--;
	else
		remember(usual, head, octets, trusted);
	return false;
}
