/* References to Ruby objects; see references.h. */
#include "connection.h"

#include <stdlib.h>

int cuttle_connection_refer(struct cuttle_connection *connection, enum cuttle_reference which, uintptr_t object)
{
	struct cuttle_references *references = connection->references;

	if (!references) {
		references = calloc(1, sizeof *references);
		if (!references)
			return -1;
		cuttle_list_append(&connection->core->referring, &references->link);
		connection->references = references;
	}
	references->objects[which] = object;
	return 0;
}

void cuttle_connection_forget(struct cuttle_connection *connection, enum cuttle_reference first,
			      enum cuttle_reference last)
{
	struct cuttle_references *references = connection->references;
	uintptr_t left = 0;

	for (int which = 0; which < CUTTLE_REFERENCES; which++) {
		if (which >= (int)first && which <= (int)last)
			references->objects[which] = 0;
		left |= references->objects[which];
	}
	if (left)
		return;
	cuttle_list_remove(&references->link);
	connection->references = NULL;
	free(references);
}
