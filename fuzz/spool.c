/* The spooler without Ruby, with a disk that makes it wait: a client catches up with its stream while the spooler
 * writes for another one. Part of rake sanitize:threads. The disk is cuttle_temporary_file, in place of
 * temporary_file.c. */
#include <clock.h>
#include <spool.h>
#include <spool_parts.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HANG 30 /* seconds without what is awaited */

static char octets[CUTTLE_SPOOL_BLOCK];
static atomic_bool asked, may_go; /* the spooler wants a file; it gets one */

static void demand(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "spool: not kept: %s\n", what);
	exit(1);
}

int cuttle_temporary_file(const char *directory)
{
	char name[64];
	int fd;

	atomic_store(&asked, true);
	while (!atomic_load(&may_go))
		usleep(100);
	snprintf(name, sizeof name, "%s/cuttle-spool-XXXXXX", directory);
	fd = mkstemp(name);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* A client that reads everything at once. */
static ssize_t read_by_client(struct cuttle_transport *transport, const struct iovec *parts, int count)
{
	(void)transport, (void)count;
	return (ssize_t)parts[0].iov_len;
}

static const struct cuttle_transport_type eager = {.write = read_by_client};

/* A stream with a block for the spooler. */
static struct cuttle_stream *stream_with_block(struct cuttle_spool *spool)
{
	struct cuttle_stream *stream = cuttle_stream_open(spool, NULL, false);

	demand(stream && cuttle_stream_append(stream, octets, sizeof octets) == 0, "a stream takes a block");
	return stream;
}

static void await_file_asked(void)
{
	uint64_t end = cuttle_now() + HANG * CUTTLE_SECOND;

	while (!atomic_load(&asked))
		demand(usleep(100) == 0 && cuttle_now() < end, "the spooler asks for a file");
}

static void await_written(struct cuttle_stream *stream)
{
	uint64_t end = cuttle_now() + HANG * CUTTLE_SECOND;

	while (cuttle_stream_in_memory(stream) > 0)
		demand(usleep(100) == 0 && cuttle_now() < end, "a block that waits is written");
}

int main(void)
{
	struct cuttle_transport transport = {.type = &eager, .fd = -1};
	struct cuttle_spool *spool = cuttle_spool_open("/tmp", 0, NULL, NULL);
	struct cuttle_stream *first, *sent, *last;

	demand(spool != NULL, "there is memory");
	first = stream_with_block(spool);
	await_file_asked();
	sent = stream_with_block(spool);
	last = stream_with_block(spool);
	demand(cuttle_stream_send(sent, &transport, sizeof octets) == (ssize_t)sizeof octets, "the client catches up");
	atomic_store(&may_go, true);
	await_written(first);
	await_written(last); /* which stood behind the one that was sent */
	demand(cuttle_stream_append(sent, octets, sizeof octets) == 0, "a stream goes on after that");
	await_written(sent);
	cuttle_stream_close(first);
	cuttle_stream_close(sent);
	cuttle_stream_close(last);
	cuttle_spool_end(spool);
	cuttle_spool_disown(spool);
	puts("spool: a stream that was sent while it waited left the queue");
	return 0;
}
