/* Streams of octets and their blocks, in memory or in files; see spool.h. */
#include "spool_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEND_MOST (2u << 20) /* octets of a file sent at once */

/* Blocks. All of this is called under the lock. */

/* Returns the pages to the system at once. Otherwise the heap would keep the size of the largest burst. */
void cuttle_octets_free(char *octets)
{
#ifdef __linux__
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)octets;
	uintptr_t first = (begin + page - 1) / page * page, last = (begin + CUTTLE_SPOOL_BLOCK) / page * page;

	if (first < last)
		madvise((void *)first, last - first, MADV_DONTNEED);
#endif
	free(octets);
}

/* Spare buffers are linked by their first octets. */
char *cuttle_spool_take_spare(struct cuttle_spool *spool)
{
	char *octets = spool->spare;

	if (octets) {
		memcpy(&spool->spare, octets, sizeof spool->spare);
		spool->spares--;
	}
	return octets;
}

void cuttle_block_forget_octets(struct cuttle_spool *spool, struct cuttle_block *block)
{
	char *octets = block->octets;

	block->octets = NULL;
	if (!octets)
		return;
	if (spool->ended || (spool->spares >= CUTTLE_SPOOL_SPARES && cuttle_list_empty(&spool->queue))) {
		cuttle_octets_free(octets);
		return;
	}
	memcpy(octets, &spool->spare, sizeof spool->spare);
	spool->spare = octets;
	spool->spares++;
}

static struct cuttle_block *new_block(struct cuttle_spool *spool)
{
	struct cuttle_block *block = malloc(sizeof *block);
	char *octets = block ? cuttle_spool_take_spare(spool) : NULL;

	if (block && !octets)
		octets = malloc(CUTTLE_SPOOL_BLOCK);
	if (!octets) {
		free(block);
		return NULL;
	}
	*block = (struct cuttle_block){.octets = octets, .state = CUTTLE_WAITING};
	cuttle_list_reset(&block->link);
	return block;
}

void cuttle_block_give_back(struct cuttle_spool *spool, struct cuttle_block *block)
{
	cuttle_spool_release_file(spool, block->file);
	cuttle_block_forget_octets(spool, block);
	free(block);
}

/* Called when octets of a stream leave memory in any way. */
static void forget(struct cuttle_stream *stream, struct cuttle_block *block, uint64_t count)
{
	if (!block->octets || block->state == CUTTLE_ON_DISK)
		return;
	stream->in_memory -= count;
	if (block->state == CUTTLE_WAITING) {
		stream->waiting -= count;
		cuttle_spool_take_off(stream->spool, count);
	}
}

static void drop_block(struct cuttle_stream *stream, struct cuttle_block *block)
{
	forget(stream, block, block->end - block->begin);
	cuttle_list_remove(&block->link);
	if (block->state == CUTTLE_WRITING && !stream->spool->forked)
		block->dropped = true;
	else
		cuttle_block_give_back(stream->spool, block);
}

void cuttle_stream_keep(struct cuttle_stream *stream, int error)
{
	stream->error = error;
	for (struct cuttle_link *link = stream->blocks.next; link != &stream->blocks; link = link->next)
		if (cuttle_block_at(link)->state == CUTTLE_WAITING)
			cuttle_block_at(link)->state = CUTTLE_KEPT;
	cuttle_spool_take_off(stream->spool, stream->waiting);
	stream->waiting = 0;
}

struct cuttle_block *cuttle_stream_first_waiting(struct cuttle_stream *stream)
{
	for (struct cuttle_link *link = stream->blocks.next; link != &stream->blocks; link = link->next)
		if (cuttle_block_at(link)->state == CUTTLE_WAITING)
			return cuttle_block_at(link);
	return NULL;
}

void cuttle_stream_merge(struct cuttle_stream *stream, struct cuttle_block *block)
{
	struct cuttle_block *before = cuttle_block_at(block->link.previous);

	if (block->link.previous == &stream->blocks || before->state != CUTTLE_ON_DISK || before->octets ||
	    before->file != block->file || before->base + (int64_t)before->end != block->base + (int64_t)block->begin)
		return;
	before->end += block->end - block->begin;
	cuttle_list_remove(&block->link);
	cuttle_block_give_back(stream->spool, block);
}

/* Streams */

struct cuttle_stream *cuttle_stream_open(struct cuttle_spool *spool, void *owner, bool one_file)
{
	struct cuttle_stream *stream = calloc(1, sizeof *stream);

	if (!stream)
		return NULL;
	cuttle_list_reset(&stream->queued);
	cuttle_list_reset(&stream->reported);
	cuttle_list_reset(&stream->blocks);
	stream->spool = cuttle_spool_share(spool);
	stream->owner = owner;
	stream->one_file = one_file;
	stream->awaited = stream->signal = -1;
	return stream;
}

void cuttle_stream_close(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;

	pthread_mutex_lock(&spool->lock);
	spool->owners++;
	cuttle_list_remove(&stream->queued);
	cuttle_list_remove(&stream->reported);
	while (!cuttle_list_empty(&stream->blocks))
		drop_block(stream, cuttle_block_at(stream->blocks.next));
	cuttle_stream_tell(stream);
	stream->closed = true;
	cuttle_stream_free(stream);
	cuttle_spool_leave(spool);
}

/* Copies octets into the last block, as far as it has room. The caller handles the rest. Called under the lock. */
static size_t fill_last(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct cuttle_block *last = cuttle_block_at(stream->blocks.previous);
	size_t room;

	if (cuttle_list_empty(&stream->blocks) || last->state != CUTTLE_WAITING)
		return 0;
	room = (size_t)(CUTTLE_SPOOL_BLOCK - last->end);
	if (count > room)
		count = room;
	memcpy(last->octets + last->end, octets, count);
	last->end += count;
	stream->waiting += count;
	stream->in_memory += count;
	return count;
}

/* Makes blocks with room for count octets, in a separate list. Returns false without memory. Called under the lock. */
static bool make_blocks(struct cuttle_spool *spool, struct cuttle_link *blocks, size_t count)
{
	cuttle_list_reset(blocks);
	for (size_t room = 0; room < count; room += CUTTLE_SPOOL_BLOCK) {
		struct cuttle_block *block = new_block(spool);

		if (!block) {
			while (!cuttle_list_empty(blocks)) {
				struct cuttle_link *link = cuttle_list_shift(blocks);

				cuttle_block_give_back(spool, cuttle_block_at(link));
			}
			return false;
		}
		cuttle_list_append(blocks, &block->link);
	}
	return true;
}

/* Called under the lock. Returns an errno, or 0. */
static int append(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_link blocks, *link;
	size_t filled;

	if (stream->error || spool->ended)
		return stream->error ? stream->error : ECANCELED;
	if (!make_blocks(spool, &blocks, count))
		return ENOMEM;
	if (!cuttle_spool_charge(spool, count)) {
		while ((link = cuttle_list_shift(&blocks)))
			cuttle_block_give_back(spool, cuttle_block_at(link));
		return ENOSPC;
	}
	while (count > 0) {
		filled = fill_last(stream, octets, count);
		octets += filled;
		count -= filled;
		if (count > 0 && (link = cuttle_list_shift(&blocks)))
			cuttle_list_append(&stream->blocks, link);
	}
	while ((link = cuttle_list_shift(&blocks)))
		cuttle_block_give_back(spool, cuttle_block_at(link));
	return 0;
}

int cuttle_stream_append(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct cuttle_spool *spool = stream->spool;
	int error, failed;

	pthread_mutex_lock(&spool->lock);
	error = append(stream, octets, count);
	failed = error ? 0 : cuttle_stream_hand_over(stream);
	if (failed)
		cuttle_stream_keep(stream, failed);
	pthread_mutex_unlock(&spool->lock);
	errno = error;
	return error ? -1 : 0;
}

/* Removes count sent octets from the front. A stream in the queue always has a block to write, so it may have to leave
 * the queue. Called under the lock. */
static void shift(struct cuttle_stream *stream, uint64_t count)
{
	while (count > 0) {
		struct cuttle_block *block = cuttle_block_at(stream->blocks.next);
		uint64_t octets = block->end - block->begin;

		if (octets > count) {
			forget(stream, block, count);
			block->begin += count;
			return;
		}
		count -= octets;
		drop_block(stream, block);
	}
	if (stream->waiting == 0)
		cuttle_list_remove(&stream->queued);
}

static ssize_t send_from_file(struct cuttle_stream *stream, struct cuttle_block *block,
			      struct cuttle_transport *transport, uint64_t most)
{
	uint64_t at = (uint64_t)(block->base + (int64_t)block->begin);
	int file = block->file->fd;
	ssize_t sent;

	pthread_mutex_unlock(&stream->spool->lock);
	sent = transport->type->send_file(transport, file, at, (size_t)(most < SEND_MOST ? most : SEND_MOST));
	pthread_mutex_lock(&stream->spool->lock);
	if (sent != 0)
		return sent;
	errno = EPIPE; /* the file became shorter */
	return CUTTLE_FAILED;
}

static ssize_t send_from_memory(struct cuttle_stream *stream, struct cuttle_block *block,
				struct cuttle_transport *transport, uint64_t most)
{
	struct iovec part = {.iov_base = block->octets + block->begin, .iov_len = (size_t)most};
	ssize_t sent;

	block->pinned = true;
	pthread_mutex_unlock(&stream->spool->lock);
	sent = transport->type->write(transport, &part, 1);
	pthread_mutex_lock(&stream->spool->lock);
	block->pinned = false;
	if (block->state == CUTTLE_ON_DISK) /* written meanwhile */
		cuttle_block_forget_octets(stream->spool, block);
	return sent;
}

ssize_t cuttle_stream_send(struct cuttle_stream *stream, struct cuttle_transport *transport, size_t most)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_block *block;
	uint64_t octets;
	ssize_t sent;
	int saved;

	pthread_mutex_lock(&spool->lock);
	block = cuttle_block_at(stream->blocks.next);
	octets = block->end - block->begin < most ? block->end - block->begin : most;
	sent = (block->octets ? send_from_memory : send_from_file)(stream, block, transport, octets);
	saved = errno;
	if (sent > 0)
		shift(stream, (uint64_t)sent);
	pthread_mutex_unlock(&spool->lock);
	errno = saved;
	return sent;
}

uint64_t cuttle_stream_in_memory(struct cuttle_stream *stream)
{
	uint64_t octets;

	pthread_mutex_lock(&stream->spool->lock);
	octets = stream->in_memory;
	pthread_mutex_unlock(&stream->spool->lock);
	return octets;
}

int cuttle_stream_error(struct cuttle_stream *stream)
{
	int error;

	pthread_mutex_lock(&stream->spool->lock);
	error = stream->error;
	pthread_mutex_unlock(&stream->spool->lock);
	return error;
}

bool cuttle_stream_await(struct cuttle_stream *stream, uint64_t octets)
{
	int failed;
	bool over;

	pthread_mutex_lock(&stream->spool->lock);
	cuttle_list_remove(&stream->reported);
	stream->awaited = -1;
	over = stream->error || stream->in_memory <= octets;
	if (!over) {
		stream->awaited = (int64_t)octets;
		failed = cuttle_stream_hand_over(stream);
		over = failed != 0;
		if (failed)
			cuttle_stream_keep(stream, failed);
	}
	pthread_mutex_unlock(&stream->spool->lock);
	return over;
}

void cuttle_stream_signal(struct cuttle_stream *stream, int descriptor)
{
	pthread_mutex_lock(&stream->spool->lock);
	stream->signal = descriptor;
	pthread_mutex_unlock(&stream->spool->lock);
}

int cuttle_stream_take_file(struct cuttle_stream *stream, uint64_t *charged)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_spool_file *file;
	int fd = -1;

	pthread_mutex_lock(&spool->lock);
	file = stream->file;
	if (file && stream->in_memory == 0 && !stream->busy) {
		fd = file->fd;
		*charged = file->charged;
		file->fd = -1;
		file->charged = 0;
		cuttle_list_remove(&file->all); /* a forked child may read it too */
	}
	pthread_mutex_unlock(&spool->lock);
	if (fd < 0)
		errno = EBADF;
	return fd;
}
