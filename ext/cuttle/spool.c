/* The spooler: the account, and the thread that writes to the files; see spool.h. */
#include "clock.h"
#include "spool_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET (60 * CUTTLE_SECOND) /* between two complaints about the limit */

/* The spool */

struct cuttle_spool *cuttle_spool_open(const char *directory, uint64_t most, void (*report)(void *), void *context)
{
	size_t length = strlen(directory);
	struct cuttle_spool *spool = calloc(1, sizeof *spool + length + 1);

	if (!spool)
		return NULL;
	pthread_mutex_init(&spool->lock, NULL);
	pthread_mutex_init(&spool->reporting, NULL);
	pthread_cond_init(&spool->called, NULL);
	cuttle_list_reset(&spool->queue);
	cuttle_list_reset(&spool->reports);
	cuttle_list_reset(&spool->files);
	cuttle_list_reset(&spool->leaving);
	atomic_init(&spool->complaint, 0);
	spool->report = report;
	spool->context = context;
	spool->most = most;
	spool->owners = 1;
	memcpy(spool->directory, directory, length);
	return spool;
}

static void destroy(struct cuttle_spool *spool)
{
	while (spool->spare)
		cuttle_octets_free(cuttle_spool_take_spare(spool));
	pthread_cond_destroy(&spool->called);
	pthread_mutex_destroy(&spool->reporting);
	pthread_mutex_destroy(&spool->lock);
	free(spool);
}

struct cuttle_spool *cuttle_spool_share(struct cuttle_spool *spool)
{
	pthread_mutex_lock(&spool->lock);
	spool->owners++;
	pthread_mutex_unlock(&spool->lock);
	return spool;
}

void cuttle_spool_leave(struct cuttle_spool *spool)
{
	bool last = --spool->owners == 0;

	pthread_mutex_unlock(&spool->lock);
	if (last)
		destroy(spool);
}

void cuttle_spool_disown(struct cuttle_spool *spool)
{
	pthread_mutex_lock(&spool->lock);
	cuttle_spool_leave(spool);
}

void cuttle_spool_end(struct cuttle_spool *spool)
{
	pthread_mutex_lock(&spool->reporting);
	spool->report = NULL;
	pthread_mutex_unlock(&spool->reporting);
	pthread_mutex_lock(&spool->lock);
	spool->ended = true;
	pthread_cond_signal(&spool->called);
	pthread_mutex_unlock(&spool->lock);
}

/* Makes only async-signal-safe calls. */
static void close_copies(struct cuttle_link *files)
{
	for (struct cuttle_link *link = files->next; link != files; link = link->next) {
		struct cuttle_spool_file *file = CUTTLE_CONTAINER(link, struct cuttle_spool_file, all);

		close(file->fd);
		file->fd = -1;
	}
}

void cuttle_spool_fork_begins(struct cuttle_spool *spool)
{
	pthread_mutex_lock(&spool->reporting);
}

void cuttle_spool_fork(struct cuttle_spool *spool, enum cuttle_fork when)
{
	if (when == CUTTLE_FORK_BEGINS) {
		pthread_mutex_lock(&spool->lock);
		return;
	}
	if (when == CUTTLE_FORK_IN_CHILD) {
		close_copies(&spool->files);
		close_copies(&spool->leaving);
		pthread_cond_init(&spool->called, NULL); /* its thread is not here: to destroy it would wait for ever */
		spool->forked = spool->ended = true;
		spool->report = NULL;
		if (spool->running)
			spool->owners--;
		spool->running = false;
	}
	pthread_mutex_unlock(&spool->lock);
	pthread_mutex_unlock(&spool->reporting);
}

void cuttle_spool_take_off(struct cuttle_spool *spool, uint64_t octets)
{
	spool->used -= octets;
}

/* Records a complaint about the limit, unless there was one recently. Called under the lock. */
static void complain_of_limit(struct cuttle_spool *spool)
{
	uint64_t now = cuttle_now();

	if (now < spool->quiet_until)
		return;
	spool->quiet_until = now + QUIET;
	atomic_store(&spool->complaint, CUTTLE_SPOOL_FULL);
}

bool cuttle_spool_charge(struct cuttle_spool *spool, uint64_t octets)
{
	if (spool->most && octets > spool->most - spool->used) {
		complain_of_limit(spool);
		return false;
	}
	spool->used += octets;
	return true;
}

bool cuttle_spool_has_room(struct cuttle_spool *spool, uint64_t octets)
{
	bool room;

	pthread_mutex_lock(&spool->lock);
	room = cuttle_spool_charge(spool, octets);
	if (room)
		cuttle_spool_take_off(spool, octets);
	pthread_mutex_unlock(&spool->lock);
	return room;
}

uint64_t cuttle_spool_used(struct cuttle_spool *spool)
{
	uint64_t used;

	pthread_mutex_lock(&spool->lock);
	used = spool->used;
	pthread_mutex_unlock(&spool->lock);
	return used;
}

void cuttle_spool_discharge(struct cuttle_spool *spool, uint64_t octets)
{
	pthread_mutex_lock(&spool->lock);
	cuttle_spool_take_off(spool, octets);
	pthread_mutex_unlock(&spool->lock);
}

bool cuttle_spool_complains(const struct cuttle_spool *spool)
{
	return atomic_load_explicit(&spool->complaint, memory_order_relaxed) != 0;
}

int cuttle_spool_complaint(struct cuttle_spool *spool)
{
	return cuttle_spool_complains(spool) ? atomic_exchange(&spool->complaint, 0) : 0;
}

const char *cuttle_spool_directory(const struct cuttle_spool *spool)
{
	return spool->directory;
}

void *cuttle_spool_reported(struct cuttle_spool *spool)
{
	struct cuttle_link *link;

	pthread_mutex_lock(&spool->lock);
	link = cuttle_list_shift(&spool->reports);
	pthread_mutex_unlock(&spool->lock);
	return link ? CUTTLE_CONTAINER(link, struct cuttle_stream, reported)->owner : NULL;
}

/* Files */

/* Called without the lock. */
static struct cuttle_spool_file *open_file(struct cuttle_spool *spool)
{
	struct cuttle_spool_file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	cuttle_list_reset(&file->all);
	file->fd = cuttle_temporary_file(spool->directory);
	if (file->fd >= 0)
		return file;
	free(file);
	return NULL;
}

/* Closing a file frees its space on the disk, which may take as long as writing it. */
static void close_file(struct cuttle_spool *spool, struct cuttle_spool_file *file)
{
	cuttle_list_remove(&file->all);
	if (file->fd >= 0) {
		pthread_mutex_unlock(&spool->lock);
		close(file->fd);
		pthread_mutex_lock(&spool->lock);
	}
	cuttle_spool_take_off(spool, file->charged);
	free(file);
}

void cuttle_spool_release_file(struct cuttle_spool *spool, struct cuttle_spool_file *file)
{
	if (!file || --file->references > 0)
		return;
	if (!spool->running) {
		close_file(spool, file);
		return;
	}
	cuttle_list_remove(&file->all);
	cuttle_list_append(&spool->leaving, &file->all);
	pthread_cond_signal(&spool->called);
}

/* Writing */

void cuttle_stream_tell(const struct cuttle_stream *stream)
{
	int saved = errno;

	if (stream->signal >= 0)
		(void)!write(stream->signal, "", 1);
	errno = saved;
}

/* Returns whether there is enough to write. */
static bool ripe(const struct cuttle_stream *stream)
{
	return stream->waiting >= CUTTLE_SPOOL_BLOCK || (stream->waiting > 0 && stream->awaited == 0);
}

static int write_fully(int file, const char *octets, size_t count, uint64_t at)
{
	while (count > 0) {
		ssize_t written = pwrite(file, octets, count, (off_t)at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? errno : EIO;
		octets += written;
		at += (uint64_t)written;
		count -= (size_t)written;
	}
	return 0;
}

/* Returns the file that the stream writes to next. Called without the lock; takes it to enter a new file. */
static struct cuttle_spool_file *file_to_write(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_spool_file *file = stream->file;

	if (file && (stream->one_file || file->size < CUTTLE_SPOOL_FILE))
		return file;
	file = open_file(spool);
	if (!file)
		return NULL;
	pthread_mutex_lock(&spool->lock);
	cuttle_list_append(&spool->files, &file->all);
	cuttle_spool_release_file(spool, stream->file);
	file->references = 1;
	stream->file = file;
	pthread_mutex_unlock(&spool->lock);
	return file;
}

/* Writes octets of a WRITING block, without the lock. Returns an errno, or 0 if they were written. */
static int write_block(struct cuttle_stream *stream, struct cuttle_block *block, uint64_t from, uint64_t count)
{
	struct cuttle_spool_file *file;
	int error;

	errno = 0;
	file = file_to_write(stream);
	if (!file)
		return errno ? errno : ENOMEM;
	error = write_fully(file->fd, block->octets + from, (size_t)count, file->size);
	if (error)
		(void)!ftruncate(file->fd, (off_t)file->size); /* frees the space of a short write */
	return error;
}

static void note_outcome(struct cuttle_spool *spool, int error)
{
	if (error && !spool->ails)
		atomic_store(&spool->complaint, error);
	spool->ails = error != 0;
}

/* Called after the attempt to write a block, under the lock. */
static void settle_block(struct cuttle_stream *stream, struct cuttle_block *block, uint64_t from, uint64_t count,
			 int error)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_spool_file *file = stream->file;

	if (error) {
		cuttle_spool_take_off(spool, count);
		if (!block->dropped)
			block->state = CUTTLE_KEPT;
		cuttle_stream_keep(stream, error);
	} else {
		block->base = (int64_t)file->size - (int64_t)from;
		block->state = CUTTLE_ON_DISK;
		block->file = file;
		file->references++;
		file->size += count;
		file->charged += count;
		if (!block->dropped)
			stream->in_memory -= block->end - block->begin;
	}
	if (block->dropped) {
		cuttle_block_give_back(spool, block);
		return;
	}
	if (error)
		return;
	if (!block->pinned)
		cuttle_block_forget_octets(spool, block);
	cuttle_stream_merge(stream, block);
}

void cuttle_stream_free(struct cuttle_stream *stream)
{
	if (stream->busy && !stream->spool->forked)
		return;
	cuttle_spool_release_file(stream->spool, stream->file);
	stream->spool->owners--;
	free(stream);
}

/* Checks whether the owner's await ended. */
static bool report_if_due(struct cuttle_stream *stream)
{
	if (stream->awaited < 0 || (!stream->error && stream->in_memory > (uint64_t)stream->awaited))
		return false;
	stream->awaited = -1;
	cuttle_list_remove(&stream->reported);
	cuttle_list_append(&stream->spool->reports, &stream->reported);
	return true;
}

/* Writes one block of a stream that is in no queue and has a block to write. Called under the lock, and releases it
 * meanwhile. Returns whether to report to the owner. The stream may have been freed. */
static bool write_one(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_block *block = cuttle_stream_first_waiting(stream);
	uint64_t from = block->begin, count = block->end - from;
	bool ailed = spool->ails;
	int error;

	block->state = CUTTLE_WRITING;
	stream->waiting -= count;
	stream->busy = true;
	pthread_mutex_unlock(&spool->lock);
	error = write_block(stream, block, from, count);
	pthread_mutex_lock(&spool->lock);
	stream->busy = false;
	note_outcome(spool, error);
	settle_block(stream, block, from, count, error);
	if (stream->closed) {
		cuttle_stream_free(stream);
		return false;
	}
	cuttle_stream_tell(stream);
	if (ripe(stream))
		cuttle_list_append(&spool->queue, &stream->queued);
	return report_if_due(stream) || (error && !ailed);
}

static void tell(struct cuttle_spool *spool)
{
	pthread_mutex_unlock(&spool->lock);
	pthread_mutex_lock(&spool->reporting);
	if (spool->report)
		spool->report(spool->context);
	pthread_mutex_unlock(&spool->reporting);
	pthread_mutex_lock(&spool->lock);
}

/* Returns the memory of a burst to the system. Called without the lock, because this takes time. */
static void free_spare(struct cuttle_spool *spool)
{
	char *octets = cuttle_spool_take_spare(spool);

	pthread_mutex_unlock(&spool->lock);
	cuttle_octets_free(octets);
	pthread_mutex_lock(&spool->lock);
}

static void *work(void *argument)
{
	struct cuttle_spool *spool = argument;
	struct cuttle_link *link;

	pthread_mutex_lock(&spool->lock);
	for (;;) {
		if ((link = cuttle_list_shift(&spool->leaving))) {
			close_file(spool, CUTTLE_CONTAINER(link, struct cuttle_spool_file, all));
		} else if ((link = cuttle_list_shift(&spool->queue))) {
			if (write_one(CUTTLE_CONTAINER(link, struct cuttle_stream, queued)))
				tell(spool);
		} else if (spool->ended) {
			break;
		} else if (spool->spares > CUTTLE_SPOOL_SPARES) {
			free_spare(spool);
		} else {
			pthread_cond_wait(&spool->called, &spool->lock);
		}
	}
	spool->running = false;
	cuttle_spool_leave(spool);
	return NULL;
}

/* Starts the spooler if it does not run. Called under the lock. Returns 0, or an errno. */
static int start(struct cuttle_spool *spool)
{
	pthread_t thread;
	sigset_t all, before;
	int failed;

	if (spool->running)
		return 0;
	if (spool->ended)
		return ECANCELED;
	sigfillset(&all); /* Ruby handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, NULL, work, spool);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	note_outcome(spool, failed);
	if (failed)
		return failed;
	pthread_detach(thread); /* it owns what it needs; no thread has to wait for a disk at the end */
	spool->running = true;
	spool->owners++;
	return 0;
}

int cuttle_stream_hand_over(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;
	int failed;

	if (stream->busy || !cuttle_list_empty(&stream->queued) || !ripe(stream))
		return 0;
	failed = start(spool);
	if (failed)
		return failed;
	cuttle_list_append(&spool->queue, &stream->queued);
	pthread_cond_signal(&spool->called);
	return 0;
}
