/* Intrusive doubly linked lists. A list is a ring of links, and its head is a link too. */
#ifndef CUTTLE_LIST_H
#define CUTTLE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct cuttle_link {
	struct cuttle_link *previous, *next;
};

/* clang-format off */
#define CUTTLE_CONTAINER(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))
/* clang-format on */

/* Makes the link an empty list, or a link that is in no list. */
static inline void cuttle_list_reset(struct cuttle_link *link)
{
	link->previous = link->next = link;
}

static inline bool cuttle_list_empty(const struct cuttle_link *list)
{
	return list->next == list;
}

static inline void cuttle_list_remove(struct cuttle_link *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	cuttle_list_reset(link);
}

/* Appends a link that is in no list. */
static inline void cuttle_list_append(struct cuttle_link *list, struct cuttle_link *link)
{
	link->previous = list->previous;
	link->next = list;
	list->previous->next = link;
	list->previous = link;
}

/* Removes and returns the first link, or NULL when the list is empty. */
static inline struct cuttle_link *cuttle_list_shift(struct cuttle_link *list)
{
	struct cuttle_link *first = list->next;

	if (first == list)
		return NULL;
	cuttle_list_remove(first);
	return first;
}

#endif
