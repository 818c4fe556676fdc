/* What the two halves of the spooler share: the account, the files and the thread (spool.c), and the streams with their
 * blocks (spool_stream.c). The picture is in spool.h. */
#ifndef CUTTLE_SPOOL_PARTS_H
#define CUTTLE_SPOOL_PARTS_H

#include "list.h"
#include "spool.h"

#include <pthread.h>
#include <stdatomic.h>

#define CUTTLE_SPOOL_SPARES 32 /* octets of blocks kept for the next; more while there is something to write */

enum cuttle_block_state { CUTTLE_WAITING, CUTTLE_WRITING, CUTTLE_ON_DISK, CUTTLE_KEPT };

struct cuttle_spool_file {
	struct cuttle_link all; /* spool->files, or spool->leaving once nobody refers to it */
	int fd;
	unsigned references; /* blocks, and the stream that writes to it */
	uint64_t size;       /* octets written */
	uint64_t charged;
};

/* Octets [begin, end) of the stream. In a file they are at base + their index. */
struct cuttle_block {
	struct cuttle_link link; /* stream->blocks */
	char *octets;            /* NULL once they are only on the disk */
	struct cuttle_spool_file *file; /* of a block that is being written, or was */
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
	char *spare;         /* octets for the next blocks, NULL: none */
	unsigned spares;
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
	struct cuttle_spool_file *file; /* written to */
	void *owner;
	uint64_t in_memory; /* octets, whatever becomes of them */
	uint64_t waiting;   /* of these, in WAITING blocks */
	int64_t awaited;    /* octets in memory that the owner waits for, -1: it doesn't */
	int signal, error;
	bool one_file;
	bool busy;   /* the spooler is at it */
	bool closed; /* meanwhile: the spooler frees it */
};

static inline struct cuttle_block *cuttle_block_at(struct cuttle_link *link)
{
	return CUTTLE_CONTAINER(link, struct cuttle_block, link);
}

/* All of the following are called under the spool's lock. */

/* Charges octets to the account; false where they do not fit. And takes them off again. */
bool cuttle_spool_charge(struct cuttle_spool *spool, uint64_t octets);
void cuttle_spool_take_off(struct cuttle_spool *spool, uint64_t octets);
/* One owner less. Releases the lock. */
void cuttle_spool_leave(struct cuttle_spool *spool);
/* One reference to a file less (NULL: none): it is closed after the last, by the spooler if there is one. */
void cuttle_spool_release_file(struct cuttle_spool *spool, struct cuttle_spool_file *file);

/* Hands the stream to the spooler where it has enough to write. Returns 0, or an errno. */
int cuttle_stream_hand_over(struct cuttle_stream *stream);
/* Tells whoever waits for a descriptor. */
void cuttle_stream_tell(const struct cuttle_stream *stream);
/* Frees a closed stream, unless the spooler is at it. Its caller owns the spool too. */
void cuttle_stream_free(struct cuttle_stream *stream);
/* The disk failed: what is in memory stays there, and is charged no longer. */
void cuttle_stream_keep(struct cuttle_stream *stream, int error);
/* What is to be written next; NULL: nothing. */
struct cuttle_block *cuttle_stream_first_waiting(struct cuttle_stream *stream);
/* A block that was just written becomes part of the one before, if it goes on where that ends. */
void cuttle_stream_merge(struct cuttle_stream *stream, struct cuttle_block *block);

/* Gives a block back that is in no list. */
void cuttle_block_give_back(struct cuttle_spool *spool, struct cuttle_block *block);
/* Its octets are on the disk. Their memory is for other ones, or the system's. */
void cuttle_block_forget_octets(struct cuttle_spool *spool, struct cuttle_block *block);
/* Memory for a block's octets, NULL where none is spare; and what becomes of it. */
char *cuttle_spool_take_spare(struct cuttle_spool *spool);
void cuttle_octets_free(char *octets);

#endif
