/* Octets on their way to temporary files, and back: the spooler.
 *
 * A stream is a queue of octets: a request's body that arrives, or what a response is ahead of its client. Octets are
 * appended to it in memory; a native thread of the source's (the spooler), without any lock of theirs and without the
 * GVL, writes them to files. So nobody waits for a disk but who asks for it: cuttle_stream_await tells a loop, and
 * cuttle_stream_signal a thread that waits for descriptors.
 *
 * A stream's octets are in blocks:
 *
 *             append                writer                    written
 *   (nothing) ------> WAITING ----------------> WRITING --------------------> ON DISK
 *                        |                         |                             |
 *                        |   the disk failed       | failed                      | the memory is free, and
 *                        `-----------> KEPT <------'                             | blocks side by side are one
 *                                       |                                        |
 *   in memory all the time, from where they may be sent at any time       sent from the file
 *
 * Sending takes octets off the front wherever they are, so a response waits for its client only: a disk that is slow
 * or full costs memory, and who streams waits when that becomes too much. Nothing is ever read from a file that was not
 * written. A file is closed, by the spooler, once all that it holds was sent; after CUTTLE_SPOOL_FILE octets a stream
 * goes on in another one, so that one which runs for days holds little.
 *
 * Octets that wait for the disk or are there are charged to the source's account, which has a limit: those that fit no
 * more are refused, and given back when their file is closed. Octets that are kept in memory for good are not charged.
 *
 * Locks: one in here, which guards all of this and is taken last (after a loop's). A stream's owner calls under its own
 * protection (the loop's lock, or the GVL), one thread at a time. */
#ifndef CUTTLE_SPOOL_H
#define CUTTLE_SPOOL_H

#include "transport.h"

#include <stdbool.h>

#define CUTTLE_SPOOL_BLOCK 65536          /* octets that are written at once */
#define CUTTLE_SPOOL_FILE (16 << 20)      /* octets of a file, where a stream may have several */
#define CUTTLE_SPOOL_FULL (-1)            /* complaint: the account's limit is reached */

enum cuttle_fork { CUTTLE_FORK_BEGINS, CUTTLE_FORK_IN_PARENT, CUTTLE_FORK_IN_CHILD };

struct cuttle_spool;
struct cuttle_stream;

/* A source's account and spooler. directory (copied) is where the files are made; most: octets charged at once, 0: any
 * number. report (NULL: none) is called by the spooler, without a lock, when cuttle_spool_reported or
 * cuttle_spool_complaint has something to tell. NULL without memory. */
struct cuttle_spool *cuttle_spool_open(const char *directory, uint64_t most, void (*report)(void *context),
				       void *context);
/* One more owner; one less. */
struct cuttle_spool *cuttle_spool_share(struct cuttle_spool *spool);
void cuttle_spool_disown(struct cuttle_spool *spool);
/* Nothing is reported, and nothing is spooled from now on; the spooler ends once it has no more to do. Does not wait
 * for the disk. Not under a lock. */
void cuttle_spool_end(struct cuttle_spool *spool);
/* Around a fork; in the child the files are closed, and nothing is ever written. */
void cuttle_spool_fork_begins(struct cuttle_spool *spool);
void cuttle_spool_fork(struct cuttle_spool *spool, enum cuttle_fork when);

/* Whether so many octets could be charged now. */
bool cuttle_spool_has_room(struct cuttle_spool *spool, uint64_t octets);
/* Octets charged. */
uint64_t cuttle_spool_used(struct cuttle_spool *spool);
/* Takes octets off the account. */
void cuttle_spool_discharge(struct cuttle_spool *spool, uint64_t octets);
/* What has begun to go wrong since it was last asked: an errno, CUTTLE_SPOOL_FULL or 0. */
int cuttle_spool_complaint(struct cuttle_spool *spool);
const char *cuttle_spool_directory(const struct cuttle_spool *spool);
/* The owner of a stream whose await came to an end; NULL: no more. Under the protection of the streams' owners. */
void *cuttle_spool_reported(struct cuttle_spool *spool);

/* A stream of its owner's, in one file where that is to be taken over; NULL without memory, or when the spool ended. */
struct cuttle_stream *cuttle_stream_open(struct cuttle_spool *spool, void *owner, bool one_file);
/* Gives up everything it has. What the spooler is just writing, it finishes first, and nobody waits for that. */
void cuttle_stream_close(struct cuttle_stream *stream);
/* Appends all of octets, or nothing. Returns 0, or -1 with errno: ENOSPC beyond the account's limit, ENOMEM, or why the
 * disk failed before. */
int cuttle_stream_append(struct cuttle_stream *stream, const char *octets, size_t count);
/* Sends from its front once. Returns as a transport's write does; errno is EPIPE where a file became shorter. */
ssize_t cuttle_stream_send(struct cuttle_stream *stream, struct cuttle_transport *transport, size_t most);
/* Octets that are in memory. */
uint64_t cuttle_stream_in_memory(struct cuttle_stream *stream);
/* The errno of a disk that failed; 0: none. */
int cuttle_stream_error(struct cuttle_stream *stream);
/* Whether at most so many octets are in memory, or the disk has failed. If neither: reported once it is so. 0 lets
 * everything be written; else octets that fill no block may wait for more. */
bool cuttle_stream_await(struct cuttle_stream *stream, uint64_t octets);
/* An octet goes to this descriptor (non-blocking) whenever octets were written, and at the end; -1: to none. */
void cuttle_stream_signal(struct cuttle_stream *stream, int descriptor);
/* The only file of a stream that has nothing in memory, and what is charged for it, which the caller discharges: both
 * are the caller's. -1 with errno where there is none. */
int cuttle_stream_take_file(struct cuttle_stream *stream, uint64_t *charged);
#endif
