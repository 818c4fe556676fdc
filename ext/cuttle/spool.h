/* The spooler: writes octets to temporary files and sends them from there.
 *
 * A stream is a queue of octets: a request's body that arrives, or the part of a response that its client has not read
 * yet. Octets are appended to it in memory. A native thread of the source (the spooler) writes them to files, without
 * the owner's locks and without the GVL. So only a thread that asks for it waits for a disk: cuttle_stream_await
 * notifies a loop, and cuttle_stream_signal a thread that waits for descriptors.
 *
 * A stream's octets are in blocks:
 *
 *             append                writer                    written
 *   (nothing) ------> WAITING ----------------> WRITING --------------------> ON DISK
 *                        |                         |                             |
 *                        |   the disk failed       | failed                      | the memory is free, and
 *                        `-----------> KEPT <------'                             | blocks side by side are one
 *                                       |                                        |
 *   in memory all the time, and may be sent from there at any time        sent from the file
 *
 * Sending takes octets from the front, in memory or in a file. So a response waits only for its client. A slow or full
 * disk costs memory, and an app that streams waits when it costs too much. Only octets that were written are read from
 * a file. The spooler closes a file when all of its octets were sent. After CUTTLE_SPOOL_FILE octets a stream continues
 * in another file, so that a stream that runs for days holds little.
 *
 * Octets that wait for the disk or are on it are charged to the source's account. The account has a limit, and refuses
 * octets beyond it. A file's octets are discharged when it is closed. Octets that stay in memory are not charged.
 *
 * Locks: one lock guards all of this. It is taken last (after a loop's). A stream's owner makes its calls under its own
 * protection (the loop's lock, or the GVL), one thread at a time. */
#ifndef CUTTLE_SPOOL_H
#define CUTTLE_SPOOL_H

#include "transport.h"

#include <stdbool.h>

#define CUTTLE_SPOOL_BLOCK 65536     /* octets that are written at once */
#define CUTTLE_SPOOL_FILE (16 << 20) /* octets of a file, if a stream may have several */
#define CUTTLE_SPOOL_FULL (-1)       /* complaint: the account's limit is reached */

enum cuttle_fork { CUTTLE_FORK_BEGINS, CUTTLE_FORK_IN_PARENT, CUTTLE_FORK_IN_CHILD };

struct cuttle_spool;
struct cuttle_stream;

/* A source's account and spooler. Files are made in directory (copied). most limits the octets charged at the same
 * time; 0: no limit. The spooler calls report (NULL: none), without a lock, when cuttle_spool_reported or
 * cuttle_spool_complaint has news. Returns NULL without memory. */
struct cuttle_spool *cuttle_spool_open(const char *directory, uint64_t most, void (*report)(void *context),
				       void *context);
/* Adds an owner, and removes one. */
struct cuttle_spool *cuttle_spool_share(struct cuttle_spool *spool);
void cuttle_spool_disown(struct cuttle_spool *spool);
/* Ends reporting and spooling. The spooler ends when it has no more work. Does not wait for the disk. Must not be
 * called under a lock. */
void cuttle_spool_end(struct cuttle_spool *spool);
/* Called around a fork. The child closes the files and never writes. */
void cuttle_spool_fork_begins(struct cuttle_spool *spool);
void cuttle_spool_fork(struct cuttle_spool *spool, enum cuttle_fork when);

/* Returns whether so many octets could be charged now. */
bool cuttle_spool_has_room(struct cuttle_spool *spool, uint64_t octets);
/* Returns the octets that are charged. */
uint64_t cuttle_spool_used(struct cuttle_spool *spool);
/* Removes octets from the account. */
void cuttle_spool_discharge(struct cuttle_spool *spool, uint64_t octets);
/* Whether cuttle_spool_complaint has a problem to return. */
bool cuttle_spool_complains(const struct cuttle_spool *spool);
/* Returns the problem that began since the last call: an errno, CUTTLE_SPOOL_FULL, or 0 for none. */
int cuttle_spool_complaint(struct cuttle_spool *spool);
const char *cuttle_spool_directory(const struct cuttle_spool *spool);
/* Returns the owner of a stream whose await ended, NULL if there is no more. Called under the protection of the
 * streams' owners. */
void *cuttle_spool_reported(struct cuttle_spool *spool);

/* Opens a stream. one_file: the caller will take its only file over. Returns NULL without memory, or if the spool
 * ended. */
struct cuttle_stream *cuttle_stream_open(struct cuttle_spool *spool, void *owner, bool one_file);
/* Frees the stream and its octets. The spooler first finishes the block that it is writing; the caller does not wait
 * for that. */
void cuttle_stream_close(struct cuttle_stream *stream);
/* Appends all of octets, or nothing. Returns 0, or -1 with errno: ENOSPC beyond the account's limit, ENOMEM, or the
 * earlier error of the disk. */
int cuttle_stream_append(struct cuttle_stream *stream, const char *octets, size_t count);
/* Sends octets from the front, with one call of the transport. Returns what that returns; errno is EPIPE if a file
 * became shorter. */
ssize_t cuttle_stream_send(struct cuttle_stream *stream, struct cuttle_transport *transport, size_t most);
/* Returns the octets that are in memory. */
uint64_t cuttle_stream_in_memory(struct cuttle_stream *stream);
/* Returns the error of the disk, 0 for none. */
int cuttle_stream_error(struct cuttle_stream *stream);
/* Returns whether at most so many octets are in memory, or the disk has failed. If neither is true, it is reported
 * later. With 0 everything is written; otherwise octets that do not fill a block may wait for more. */
bool cuttle_stream_await(struct cuttle_stream *stream, uint64_t octets);
/* From now on this descriptor (non-blocking, -1: none) gets an octet whenever octets were written, and at the end. */
void cuttle_stream_signal(struct cuttle_stream *stream, int descriptor);
/* Gives the caller the only file of a stream that has nothing in memory, and the charge for it, which the caller must
 * discharge. Returns -1 with errno if there is no such file. */
int cuttle_stream_take_file(struct cuttle_stream *stream, uint64_t *charged);
#endif
