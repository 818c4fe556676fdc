/* The spooler; see spool.h. */
#include "spool.h"
#include "clock.h"
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FREE_BLOCKS 32         /* kept for the next octets */
#define QUIET (60 * CUTTLE_SECOND) /* between two complaints of the limit */
#define SEND_MOST (2u << 20)   /* octets of a file sent at once */

enum block_state { WAITING, WRITING, ON_DISK, KEPT };

struct file {
	struct cuttle_link all; /* spool->files, or spool->leaving once nobody refers to it */
	int fd;
	unsigned references; /* blocks, and the stream that writes to it */
	uint64_t size;       /* octets written */
	uint64_t charged;
};

/* Octets [begin, end) of the stream. In a file they are at base + their index. */
struct block {
	struct cuttle_link link; /* stream->blocks, or spool->free */
	char *octets;            /* NULL once they are only on the disk */
	struct file *file;       /* of a block that is being written, or was */
	int64_t base;
	uint64_t begin, end;
	uint8_t state;
	bool pinned;  /* being sent from memory: whoever sends frees it */
	bool dropped; /* sent while it was WRITING: the writer frees it */
};

struct cuttle_spool {
	pthread_mutex_t lock;
	pthread_mutex_t reporting; /* held while report runs; taken before any other */
	pthread_cond_t called;
	void (*report)(void *context);
	void *context;
	struct cuttle_link queue;   /* streams with something to write */
	struct cuttle_link reports; /* streams whose await came to an end */
	struct cuttle_link files, leaving;
	struct cuttle_link free;    /* blocks */
	unsigned free_count;
	unsigned owners;     /* with the spooler's thread, and each stream */
	uint64_t used, most;
	uint64_t quiet_until; /* after the limit was complained of */
	atomic_int complaint;
	bool ails;           /* a write failed, and none has succeeded since */
	bool running, ended, forked;
	char directory[];
};

struct cuttle_stream {
	struct cuttle_spool *spool;
	struct cuttle_link queued, reported;
	struct cuttle_link blocks;
	struct file *file;  /* written to */
	void *owner;
	uint64_t in_memory; /* octets, whatever becomes of them */
	uint64_t waiting;   /* of these, in WAITING blocks */
	int64_t awaited;    /* octets in memory that the owner waits for, -1: it doesn't */
	int signal, error;
	bool one_file;
	bool busy;   /* the spooler is at it */
	bool closed; /* meanwhile: the spooler frees it */
};

static struct block *block_at(struct cuttle_link *link)
{
	return CUTTLE_CONTAINER(link, struct block, link);
}

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
	cuttle_list_reset(&spool->free);
	atomic_init(&spool->complaint, 0);
	spool->report = report;
	spool->context = context;
	spool->most = most;
	spool->owners = 1;
	memcpy(spool->directory, directory, length);
	return spool;
}

static void free_block(struct block *block)
{
	free(block->octets);
	free(block);
}

static void destroy(struct cuttle_spool *spool)
{
	struct cuttle_link *link;

	while ((link = cuttle_list_shift(&spool->free)))
		free_block(block_at(link));
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

/* Under the lock, which it releases. */
static void disown(struct cuttle_spool *spool)
{
	bool last = --spool->owners == 0;

	pthread_mutex_unlock(&spool->lock);
	if (last)
		destroy(spool);
}

void cuttle_spool_disown(struct cuttle_spool *spool)
{
	pthread_mutex_lock(&spool->lock);
	disown(spool);
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

/* Only async-signal-safe calls. */
static void close_copies(struct cuttle_link *files)
{
	for (struct cuttle_link *link = files->next; link != files; link = link->next) {
		struct file *file = CUTTLE_CONTAINER(link, struct file, all);

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
		spool->forked = spool->ended = true;
		spool->report = NULL;
		if (spool->running)
			spool->owners--;
		spool->running = false;
	}
	pthread_mutex_unlock(&spool->lock);
	pthread_mutex_unlock(&spool->reporting);
}

/* Under the lock. */
static void discharge(struct cuttle_spool *spool, uint64_t octets)
{
	spool->used -= octets;
}

/* One complaint is enough for a while. Under the lock. */
static void complain_of_limit(struct cuttle_spool *spool)
{
	uint64_t now = cuttle_now();

	if (now < spool->quiet_until)
		return;
	spool->quiet_until = now + QUIET;
	atomic_store(&spool->complaint, CUTTLE_SPOOL_FULL);
}

/* Under the lock. */
static bool charge(struct cuttle_spool *spool, uint64_t octets)
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
	room = charge(spool, octets);
	if (room)
		discharge(spool, octets);
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
	discharge(spool, octets);
	pthread_mutex_unlock(&spool->lock);
}

int cuttle_spool_complaint(struct cuttle_spool *spool)
{
	if (atomic_load_explicit(&spool->complaint, memory_order_relaxed) == 0)
		return 0;
	return atomic_exchange(&spool->complaint, 0);
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

/* A file without a name, which only we may read. */
static int temporary_file(const char *directory)
{
#ifdef O_TMPFILE
	int file = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

	if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
		return file;
#endif
	return named_temporary_file(directory);
}

/* Without the lock. */
static struct file *open_file(struct cuttle_spool *spool)
{
	struct file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	cuttle_list_reset(&file->all);
	file->fd = temporary_file(spool->directory);
	if (file->fd >= 0)
		return file;
	free(file);
	return NULL;
}

/* Closing a file frees its place on the disk, which may take as long as writing did. */
static void close_file(struct cuttle_spool *spool, struct file *file)
{
	cuttle_list_remove(&file->all);
	if (file->fd >= 0) {
		pthread_mutex_unlock(&spool->lock);
		close(file->fd);
		pthread_mutex_lock(&spool->lock);
	}
	discharge(spool, file->charged);
	free(file);
}

/* One reference less: the spooler closes it if there is one. Under the lock. */
static void release_file(struct cuttle_spool *spool, struct file *file)
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

/* Blocks; all under the lock */

static struct block *new_block(struct cuttle_spool *spool)
{
	struct cuttle_link *link = cuttle_list_shift(&spool->free);
	struct block *block = link ? block_at(link) : malloc(sizeof *block);
	char *octets = link ? block->octets : malloc(CUTTLE_SPOOL_BLOCK);

	if (!block || !octets) {
		free(block);
		free(octets);
		return NULL;
	}
	if (link)
		spool->free_count--;
	*block = (struct block){.octets = octets, .state = WAITING};
	cuttle_list_reset(&block->link);
	return block;
}

/* The block is in no list. */
static void give_back(struct cuttle_spool *spool, struct block *block)
{
	release_file(spool, block->file);
	if (!block->octets || spool->free_count >= FREE_BLOCKS || spool->ended) {
		free_block(block);
		return;
	}
	block->file = NULL;
	cuttle_list_append(&spool->free, &block->link);
	spool->free_count++;
}

/* Octets of it that are in memory leave, by whatever way. */
static void forget(struct cuttle_stream *stream, struct block *block, uint64_t count)
{
	if (!block->octets || block->state == ON_DISK)
		return;
	stream->in_memory -= count;
	if (block->state == WAITING) {
		stream->waiting -= count;
		discharge(stream->spool, count);
	}
}

static void drop_block(struct cuttle_stream *stream, struct block *block)
{
	forget(stream, block, block->end - block->begin);
	cuttle_list_remove(&block->link);
	if (block->state == WRITING && !stream->spool->forked)
		block->dropped = true;
	else
		give_back(stream->spool, block);
}

/* The disk failed: what is in memory stays there, and is charged no longer. */
static void keep(struct cuttle_stream *stream, int error)
{
	stream->error = error;
	for (struct cuttle_link *link = stream->blocks.next; link != &stream->blocks; link = link->next)
		if (block_at(link)->state == WAITING)
			block_at(link)->state = KEPT;
	discharge(stream->spool, stream->waiting);
	stream->waiting = 0;
}

static struct block *first_waiting(struct cuttle_stream *stream)
{
	for (struct cuttle_link *link = stream->blocks.next; link != &stream->blocks; link = link->next)
		if (block_at(link)->state == WAITING)
			return block_at(link);
	return NULL;
}

/* A block that was just written becomes part of the one before, if it goes on where that ends. */
static void merge(struct cuttle_stream *stream, struct block *block)
{
	struct block *before = block_at(block->link.previous);

	if (block->link.previous == &stream->blocks || before->state != ON_DISK || before->octets ||
	    before->file != block->file || before->base + (int64_t)before->end != block->base + (int64_t)block->begin)
		return;
	before->end += block->end - block->begin;
	cuttle_list_remove(&block->link);
	give_back(stream->spool, block);
}

/* Writing */

static void signal_owner(const struct cuttle_stream *stream)
{
	int saved = errno;

	if (stream->signal >= 0)
		(void)!write(stream->signal, "", 1);
	errno = saved;
}

/* Whether there is enough to write. */
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

/* The file that the stream writes to next. Without the lock, but for entering a new one. */
static struct file *file_to_write(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;
	struct file *file = stream->file;

	if (file && (stream->one_file || file->size < CUTTLE_SPOOL_FILE))
		return file;
	file = open_file(spool);
	if (!file)
		return NULL;
	pthread_mutex_lock(&spool->lock);
	cuttle_list_append(&spool->files, &file->all);
	release_file(spool, stream->file);
	file->references = 1;
	stream->file = file;
	pthread_mutex_unlock(&spool->lock);
	return file;
}

/* Writes octets of a WRITING block, without the lock. Returns the errno, 0: they are written. */
static int write_block(struct cuttle_stream *stream, struct block *block, uint64_t from, uint64_t count)
{
	struct file *file;
	int error;

	errno = 0;
	file = file_to_write(stream);
	if (!file)
		return errno ? errno : ENOMEM;
	error = write_fully(file->fd, block->octets + from, (size_t)count, file->size);
	if (error)
		(void)!ftruncate(file->fd, (off_t)file->size); /* gives back what a short write took */
	return error;
}

static void note_outcome(struct cuttle_spool *spool, int error)
{
	if (error && !spool->ails)
		atomic_store(&spool->complaint, error);
	spool->ails = error != 0;
}

/* The block was written, or not. Under the lock. */
static void settle_block(struct cuttle_stream *stream, struct block *block, uint64_t from, uint64_t count, int error)
{
	struct cuttle_spool *spool = stream->spool;
	struct file *file = stream->file;

	if (error) {
		discharge(spool, count);
		if (!block->dropped)
			block->state = KEPT;
		keep(stream, error);
	} else {
		block->base = (int64_t)file->size - (int64_t)from;
		block->state = ON_DISK;
		block->file = file;
		file->references++;
		file->size += count;
		file->charged += count;
		if (!block->dropped)
			stream->in_memory -= block->end - block->begin;
	}
	if (block->dropped) {
		give_back(spool, block);
		return;
	}
	if (error)
		return;
	if (!block->pinned) {
		free(block->octets);
		block->octets = NULL;
	}
	merge(stream, block);
}

/* Frees a closed stream, unless the spooler is at it. Its caller owns the spool too. */
static void free_stream(struct cuttle_stream *stream)
{
	if (stream->busy && !stream->spool->forked)
		return;
	release_file(stream->spool, stream->file);
	stream->spool->owners--;
	free(stream);
}

/* The owner's await may be over. */
static bool report_if_due(struct cuttle_stream *stream)
{
	if (stream->awaited < 0 || (!stream->error && stream->in_memory > (uint64_t)stream->awaited))
		return false;
	stream->awaited = -1;
	cuttle_list_remove(&stream->reported);
	cuttle_list_append(&stream->spool->reports, &stream->reported);
	return true;
}

/* Writes one block of a stream that is in no queue and has one to write. Under the lock, which it releases meanwhile.
 * Returns whether the owner is to hear of it; the stream may be gone. */
static bool write_one(struct cuttle_stream *stream)
{
	struct cuttle_spool *spool = stream->spool;
	struct block *block = first_waiting(stream);
	uint64_t from = block->begin, count = block->end - from;
	bool ailed = spool->ails;
	int error;

	block->state = WRITING;
	stream->waiting -= count;
	stream->busy = true;
	pthread_mutex_unlock(&spool->lock);
	error = write_block(stream, block, from, count);
	pthread_mutex_lock(&spool->lock);
	stream->busy = false;
	note_outcome(spool, error);
	settle_block(stream, block, from, count, error);
	if (stream->closed) {
		free_stream(stream);
		return false;
	}
	signal_owner(stream);
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

static void *work(void *argument)
{
	struct cuttle_spool *spool = argument;
	struct cuttle_link *link;

	pthread_mutex_lock(&spool->lock);
	for (;;) {
		if ((link = cuttle_list_shift(&spool->leaving))) {
			close_file(spool, CUTTLE_CONTAINER(link, struct file, all));
		} else if ((link = cuttle_list_shift(&spool->queue))) {
			if (write_one(CUTTLE_CONTAINER(link, struct cuttle_stream, queued)))
				tell(spool);
		} else if (spool->ended) {
			break;
		} else {
			pthread_cond_wait(&spool->called, &spool->lock);
		}
	}
	spool->running = false;
	disown(spool);
	return NULL;
}

/* Starts the spooler unless it runs. Under the lock. Returns 0, or an errno. */
static int start(struct cuttle_spool *spool)
{
	pthread_t thread;
	sigset_t all, before;
	int failed;

	if (spool->running)
		return 0;
	if (spool->ended)
		return ECANCELED;
	sigfillset(&all); /* signals are Ruby's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, NULL, work, spool);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	note_outcome(spool, failed);
	if (failed)
		return failed;
	pthread_detach(thread); /* it owns what it needs: nobody waits for a disk at the end */
	spool->running = true;
	spool->owners++;
	return 0;
}

/* Hands the stream to the spooler where it has enough to write. Under the lock. Returns 0, or an errno. */
static int hand_over(struct cuttle_stream *stream)
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
		drop_block(stream, block_at(stream->blocks.next));
	signal_owner(stream);
	stream->closed = true;
	free_stream(stream);
	disown(spool);
}

/* Copies octets behind the last block's as far as it has room; the rest is the caller's. Under the lock. */
static size_t fill_last(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct block *last = block_at(stream->blocks.previous);
	size_t room;

	if (cuttle_list_empty(&stream->blocks) || last->state != WAITING)
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

/* Blocks with room for count octets, in a list of their own; false without memory. Under the lock. */
static bool make_blocks(struct cuttle_spool *spool, struct cuttle_link *blocks, size_t count)
{
	cuttle_list_reset(blocks);
	for (size_t room = 0; room < count; room += CUTTLE_SPOOL_BLOCK) {
		struct block *block = new_block(spool);

		if (!block) {
			while (!cuttle_list_empty(blocks)) {
				struct cuttle_link *link = cuttle_list_shift(blocks);

				give_back(spool, block_at(link));
			}
			return false;
		}
		cuttle_list_append(blocks, &block->link);
	}
	return true;
}

/* Under the lock. Returns the errno. */
static int append(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct cuttle_spool *spool = stream->spool;
	struct cuttle_link blocks, *link;
	size_t filled;

	if (stream->error || spool->ended)
		return stream->error ? stream->error : ECANCELED;
	if (!make_blocks(spool, &blocks, count))
		return ENOMEM;
	if (!charge(spool, count)) {
		while ((link = cuttle_list_shift(&blocks)))
			give_back(spool, block_at(link));
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
		give_back(spool, block_at(link));
	return 0;
}

int cuttle_stream_append(struct cuttle_stream *stream, const char *octets, size_t count)
{
	struct cuttle_spool *spool = stream->spool;
	int error, failed;

	pthread_mutex_lock(&spool->lock);
	error = append(stream, octets, count);
	failed = error ? 0 : hand_over(stream);
	if (failed)
		keep(stream, failed);
	pthread_mutex_unlock(&spool->lock);
	errno = error;
	return error ? -1 : 0;
}

/* Takes count sent octets off the front. Under the lock. */
static void shift(struct cuttle_stream *stream, uint64_t count)
{
	while (count > 0) {
		struct block *block = block_at(stream->blocks.next);
		uint64_t octets = block->end - block->begin;

		if (octets > count) {
			forget(stream, block, count);
			block->begin += count;
			return;
		}
		count -= octets;
		drop_block(stream, block);
	}
}

static ssize_t send_from_file(struct cuttle_stream *stream, struct block *block, struct cuttle_transport *transport,
			      uint64_t most)
{
	uint64_t at = (uint64_t)(block->base + (int64_t)block->begin);
	int file = block->file->fd;
	ssize_t sent;

	pthread_mutex_unlock(&stream->spool->lock);
	sent = transport->type->send_file(transport, file, at, (size_t)(most < SEND_MOST ? most : SEND_MOST));
	pthread_mutex_lock(&stream->spool->lock);
	if (sent != 0)
		return sent;
	errno = EPIPE; /* the file is shorter than what was written */
	return CUTTLE_FAILED;
}

static ssize_t send_from_memory(struct cuttle_stream *stream, struct block *block, struct cuttle_transport *transport,
				uint64_t most)
{
	struct iovec part = {.iov_base = block->octets + block->begin, .iov_len = (size_t)most};
	ssize_t sent;

	block->pinned = true;
	pthread_mutex_unlock(&stream->spool->lock);
	sent = transport->type->write(transport, &part, 1);
	pthread_mutex_lock(&stream->spool->lock);
	block->pinned = false;
	if (block->state == ON_DISK) { /* written meanwhile */
		free(block->octets);
		block->octets = NULL;
	}
	return sent;
}

ssize_t cuttle_stream_send(struct cuttle_stream *stream, struct cuttle_transport *transport, size_t most)
{
	struct cuttle_spool *spool = stream->spool;
	struct block *block;
	uint64_t octets;
	ssize_t sent;
	int saved;

	pthread_mutex_lock(&spool->lock);
	block = block_at(stream->blocks.next);
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
		failed = hand_over(stream);
		over = failed != 0;
		if (failed)
			keep(stream, failed);
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
	struct file *file;
	int fd = -1;

	pthread_mutex_lock(&spool->lock);
	file = stream->file;
	if (file && stream->in_memory == 0 && !stream->busy) {
		fd = file->fd;
		*charged = file->charged;
		file->fd = -1;
		file->charged = 0;
		cuttle_list_remove(&file->all); /* a forked child may read it as its parent does */
	}
	pthread_mutex_unlock(&spool->lock);
	if (fd < 0)
		errno = EBADF;
	return fd;
}
