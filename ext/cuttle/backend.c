/* The table of back ends. */
#include "backend.h"

#include <stddef.h>
#include <string.h>

static const struct cuttle_backend_type *const backends[] = {
#ifdef __linux__
	&cuttle_epoll_backend,
#endif
	&cuttle_poll_backend,
};

const struct cuttle_backend_type *cuttle_backend_named(const char *name)
{
	size_t index;

	if (!name)
		return backends[0];
	for (index = 0; index < sizeof backends / sizeof *backends; index++)
		if (strcmp(backends[index]->name, name) == 0)
			return backends[index];
	return NULL;
}
