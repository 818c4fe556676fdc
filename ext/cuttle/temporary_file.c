/* Files without a name, as the system has them: made without one, or unlinked at once. */
#include "spool_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int named_temporary_file(const char *directory)
{
	size_t room = strlen(directory) + sizeof "/cuttle-XXXXXX";
	char *path = malloc(room);
	int file;

	if (!path)
		return -1;
	snprintf(path, room, "%s/cuttle-XXXXXX", directory);
#ifdef __linux__
	file = mkostemp(path, O_CLOEXEC);
#else
	file = mkstemp(path);
	if (file >= 0)
		fcntl(file, F_SETFD, FD_CLOEXEC);
#endif
	if (file >= 0)
		unlink(path);
	free(path);
	return file;
}

int cuttle_temporary_file(const char *directory)
{
#ifdef O_TMPFILE
	int file = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

	if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
		return file;
#endif
	return named_temporary_file(directory);
}
