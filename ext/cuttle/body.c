/* Request bodies, and the temporary files that long ones are spooled to. */
#include "body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuttle_temporary_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[512];
	int length, file;

	length = snprintf(path, sizeof path, "%s/cuttle-XXXXXX", directory && *directory ? directory : "/tmp");
	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	file = mkstemp(path);
	if (file >= 0) {
		unlink(path);
		fcntl(file, F_SETFD, FD_CLOEXEC);
	}
	return file;
}

int cuttle_write_fully(int file, const char *octets, size_t count)
{
	while (count > 0) {
		ssize_t written = write(file, octets, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		octets += written;
		count -= (size_t)written;
	}
	return 0;
}

struct cuttle_body *cuttle_body_open(uint64_t expected)
{
	struct cuttle_body *body = calloc(1, sizeof *body);

	if (!body)
		return NULL;
	body->file = -1;
	if (expected > 0 && expected <= CUTTLE_BODY_MEMORY) {
		body->memory = malloc((size_t)expected);
		body->room = body->memory ? (size_t)expected : 0;
	}
	return body;
}

static int spool(struct cuttle_body *body)
{
	body->file = cuttle_temporary_file();
	if (body->file < 0 || cuttle_write_fully(body->file, body->memory, body->length) < 0)
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
	if (body->file < 0 && body->total + count > CUTTLE_BODY_MEMORY && spool(body) < 0)
		return -1;
	body->total += count;
	if (body->file >= 0)
		return cuttle_write_fully(body->file, octets, count);
	if (body->length + count > body->room && grow(body, body->length + count) < 0)
		return -1;
	memcpy(body->memory + body->length, octets, count);
	body->length += count;
	return 0;
}

void cuttle_body_close(struct cuttle_body *body)
{
	if (!body)
		return;
	if (body->file >= 0)
		close(body->file);
	free(body->memory);
	free(body);
}
