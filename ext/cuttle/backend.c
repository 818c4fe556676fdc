/* The table of back ends. No other file names one: docs/contributing.md has the recipe for a new one. */
#include "backend.h"

#include <stddef.h>
#include <string.h>

/* Each one is defined in its own file, if the system has it. */
extern const struct cuttle_backend_type cuttle_epoll_backend;
extern const struct cuttle_backend_type cuttle_poll_backend;

/* The best one first. */
static const struct cuttle_backend_type *const backends[] = {
#ifdef __linux__
	&cuttle_epoll_backend,
#endif
	&cuttle_poll_backend,
	NULL,
};

const struct cuttle_backend_type *const *cuttle_backends(void)
{
	return backends;
}

const struct cuttle_backend_type *cuttle_backend_named(const char *name)
{
	const struct cuttle_backend_type *const *backend = backends;

	if (!name)
		return backends[0];
	while (*backend && strcmp((*backend)->name, name) != 0)
		backend++;
	return *backend;
}
