/* Declarations that the parts of the spooler share: the account and the thread (spool.c), files without a name
 * (temporary_file.c), and the streams with their blocks (spool_stream.c). spool.h has the diagram. */
#ifndef CUTTLE_SPOOL_PARTS_H
#define CUTTLE_SPOOL_PARTS_H

#include "list.h"
#include "spool.h"

#include <pthread.h>
#include <stdatomic.h>

#define CUTTLE_SPOOL_SPARES 32 /* free buffers that are kept; more while there is something to write */

enum cuttle_block_state { CUTTLE_WAITING, CUTTLE_WRITING, CUTTLE_ON_DISK, CUTTLE_KEPT };

struct cuttle_spool_file {
	struct cuttle_link all; /* in spool->files, or in spool->leaving without references */
	int fd;
	unsigned references; /* by blocks, and by the stream that writes to it */
	uint64_t size;       /* octets written */
	uint64_t charged;
};

/* Octets [begin, end) of the stream. In a file they are at base + their index. */
struct cuttle_block {
	struct cuttle_link link;        /* stream->blocks */
	char *octets;                   /* NULL once they are only on the disk */
	struct cuttle_spool_file *file; /* for a block that is being written, or was written */
	int64_t base;
	uint64_t begin, end;
	uint8_t state;
	bool pinned;  /* being sent from memory: the sender frees it */
	bool dropped; /* sent while it was WRITING: the writer frees it */
};

struct cuttle_spool {
	pthread_mutex_t lock;
	pthread_mutex_t reporting; /* held while report runs; taken before any other */
	pthread_cond_t called;
	void (*report)(void *context);
	void *context;
	struct cuttle_link queue;   /* streams with something to write */
	struct cuttle_link reports; /* streams whose await ended */
	struct cuttle_link files, leaving;
	char *spare; /* free buffers for blocks, NULL: none */
	unsigned spares;
	unsigned owners; /* counts the spooler's thread and each stream */
	uint64_t used, most;
	uint64_t quiet_until; /* no further complaint about the limit until then */
	atomic_int complaint;
	bool ails; /* a write failed, and none has succeeded since */
	bool running, ended, forked;
	char directory[];
};

struct cuttle_stream {
	struct cuttle_spool *spool;
	struct cuttle_link queued, reported;
	struct cuttle_link blocks;
	struct cuttle_spool_file *file; /* written to */
	void *owner;
	uint64_t in_memory; /* octets, in any state */
	uint64_t waiting;   /* of these, in WAITING blocks */
	int64_t awaited;    /* octets in memory that the owner waits for, -1: it does not wait */
	int signal, error;
	bool one_file;
	bool busy;   /* the spooler works on it */
	bool closed; /* closed while busy: the spooler frees it */
};

static inline struct cuttle_block *cuttle_block_at(struct cuttle_link *link)
{
	return CUTTLE_CONTAINER(link, struct cuttle_block, link);
}

/* temporary_file.c: makes a file without a name, which only this user may read. Returns its descriptor, or -1 with
 * errno. Takes as long as the disk. */
int cuttle_temporary_file(const char *directory);

/* The following functions are called under the spool's lock. */

/* Charges octets to the account, and removes them. charge returns false if they do not fit. */
bool cuttle_spool_charge(struct cuttle_spool *spool, uint64_t octets);
void cuttle_spool_take_off(struct cuttle_spool *spool, uint64_t octets);
/* Removes an owner. Releases the lock. */
void cuttle_spool_leave(struct cuttle_spool *spool);
/* Removes a reference to a file (may be NULL). A file without references is closed, by the spooler if there is one. */
void cuttle_spool_release_file(struct cuttle_spool *spool, struct cuttle_spool_file *file);

/* Passes the stream to the spooler if it has enough to write. Returns 0, or an errno. */
int cuttle_stream_hand_over(struct cuttle_stream *stream);
/* Writes an octet to the descriptor of the stream, if it has one. */
void cuttle_stream_tell(const struct cuttle_stream *stream);
/* Frees a closed stream, unless the spooler works on it. The caller must be another owner of the spool. */
void cuttle_stream_free(struct cuttle_stream *stream);
/* Called after a failure of the disk: octets in memory stay there and are no longer charged. */
void cuttle_stream_keep(struct cuttle_stream *stream, int error);
/* Returns the block to write next, NULL for none. */
struct cuttle_block *cuttle_stream_first_waiting(struct cuttle_stream *stream);
/* Merges a block that was just written with the one before it, if they are side by side in the file. */
void cuttle_stream_merge(struct cuttle_stream *stream, struct cuttle_block *block);

/* Frees a block that is in no list. */
void cuttle_block_give_back(struct cuttle_spool *spool, struct cuttle_block *block);
/* Frees the memory of a block whose octets are on the disk, or keeps it as spare. */
void cuttle_block_forget_octets(struct cuttle_spool *spool, struct cuttle_block *block);
/* Returns spare memory for a block's octets, NULL if there is none; and frees such memory. */
char *cuttle_spool_take_spare(struct cuttle_spool *spool);
void cuttle_octets_free(char *octets);

#endif
