/* The output queue of a connection; see outbox.h. */
#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_PARTS 64

/* A piece of memory has its octets behind this header; other pieces have room 0. A spooled piece stands for the next
 * octets of the stream. */
struct cuttle_piece {
	struct cuttle_piece *next;
	struct cuttle_lent *lent; /* NULL: another kind of piece */
	int file;                 /* the app's file, -1: none */
	bool spooled;
	uint64_t offset; /* of the first octet not sent */
	uint64_t length; /* octets not sent */
	size_t room;
	char octets[];
};

static void push(struct cuttle_outbox *outbox, struct cuttle_piece *piece)
{
	piece->next = NULL;
	if (outbox->last)
		outbox->last->next = piece;
	else
		outbox->first = piece;
	outbox->last = piece;
}

static void shift(struct cuttle_outbox *outbox)
{
	struct cuttle_piece *piece = outbox->first;

	outbox->first = piece->next;
	if (!outbox->first)
		outbox->last = NULL;
	if (piece->file >= 0)
		close(piece->file);
	if (piece->lent)
		cuttle_lent_return(piece->lent);
	free(piece);
}

void cuttle_outbox_begin(struct cuttle_outbox *outbox, struct cuttle_spool *spool)
{
	*outbox = (struct cuttle_outbox){.spool = spool, .signal = -1};
}

static void close_stream(struct cuttle_outbox *outbox)
{
	if (outbox->stream)
		cuttle_stream_close(outbox->stream);
	outbox->stream = NULL;
}

static void signal_waiter(const struct cuttle_outbox *outbox)
{
	int saved = errno;

	if (outbox->signal >= 0)
		(void)!write(outbox->signal, "", 1);
	errno = saved;
}

void cuttle_outbox_clear(struct cuttle_outbox *outbox)
{
	while (outbox->first)
		shift(outbox);
	close_stream(outbox);
	outbox->queued = outbox->memory = outbox->spooled = 0;
	signal_waiter(outbox);
}

bool cuttle_outbox_crowded(const struct cuttle_outbox *outbox, bool still)
{
	uint64_t most = still ? CUTTLE_OUTBOX_MOST / 4 * 3 : CUTTLE_OUTBOX_MOST, count = outbox->memory;

	if (outbox->memory + outbox->spooled <= most)
		return false;
	if (outbox->stream)
		count += cuttle_stream_in_memory(outbox->stream);
	return count > most;
}

void cuttle_outbox_signal(struct cuttle_outbox *outbox, int descriptor)
{
	signal_waiter(outbox);
	outbox->signal = descriptor;
	if (outbox->stream)
		cuttle_stream_signal(outbox->stream, descriptor);
}

static struct cuttle_piece *new_piece(int file, uint64_t offset, uint64_t length, size_t room)
{
	struct cuttle_piece *piece = malloc(sizeof *piece + room);

	if (piece) {
		piece->lent = NULL;
		piece->file = file;
		piece->spooled = false;
		piece->offset = offset;
		piece->length = length;
		piece->room = room;
	}
	return piece;
}

/* Returns the last piece of memory if it has room, otherwise a new one for up to count octets. NULL without memory. */
static struct cuttle_piece *memory_piece(struct cuttle_outbox *outbox, size_t count)
{
	struct cuttle_piece *last = outbox->last;

	if (last && last->room > 0 && last->offset + last->length < last->room)
		return last;
	last = new_piece(-1, 0, 0, count > 16384 ? count : 16384);
	if (last)
		push(outbox, last);
	return last;
}

static int append_memory(struct cuttle_outbox *outbox, const char *octets, size_t count)
{
	while (count > 0) {
		struct cuttle_piece *piece = memory_piece(outbox, count);
		size_t used, room;

		if (!piece)
			return -1;
		used = (size_t)(piece->offset + piece->length);
		room = piece->room - used < count ? piece->room - used : count;
		memcpy(piece->octets + used, octets, room);
		piece->length += room;
		outbox->queued += room;
		outbox->memory += room;
		octets += room;
		count -= room;
	}
	return 0;
}

/* Returns false if the spooler refuses the octets. */
static bool append_spooled(struct cuttle_outbox *outbox, const char *octets, size_t count)
{
	struct cuttle_piece *last = outbox->last;

	if (!outbox->stream) {
		outbox->stream = cuttle_stream_open(outbox->spool, NULL, false);
		if (!outbox->stream)
			return false;
		cuttle_stream_signal(outbox->stream, outbox->signal);
	}
	if (!last || !last->spooled)
		last = new_piece(-1, 0, 0, 0);
	if (!last || cuttle_stream_append(outbox->stream, octets, count) < 0) {
		if (last != outbox->last)
			free(last);
		if (outbox->spooled == 0)
			close_stream(outbox);
		return false;
	}
	if (last != outbox->last) {
		last->spooled = true;
		push(outbox, last);
	}
	last->length += count;
	outbox->queued += count;
	outbox->spooled += count;
	return true;
}

/* Returns whether octets go to the spooler, to keep little in memory. Octets behind spooled ones always do. */
static bool belongs_on_disk(const struct cuttle_outbox *outbox, size_t count)
{
	return outbox->spooled > 0 || outbox->memory + count > CUTTLE_OUTBOX_MEMORY;
}

/* Queues the octets of a lent part from octets on. Returns false if the part can't be lent as a whole. */
static bool append_lent(struct cuttle_outbox *outbox, uintptr_t object, const struct iovec *part, const char *octets)
{
	uint64_t offset = (uint64_t)(octets - (const char *)part->iov_base);
	struct cuttle_piece *piece = new_piece(-1, offset, part->iov_len - offset, 0);

	if (!piece)
		return false;
	piece->lent = cuttle_lend(object, part->iov_base, part->iov_len);
	if (!piece->lent) {
		free(piece);
		return false;
	}
	push(outbox, piece);
	outbox->queued += piece->length;
	return true;
}

int cuttle_outbox_append(struct cuttle_outbox *outbox, const struct iovec *parts, const uintptr_t *objects, int count,
			 size_t skip)
{
	for (int index = 0; index < count; index++) {
		const char *octets = parts[index].iov_base;
		size_t length = parts[index].iov_len;

		if (skip >= length) {
			skip -= length;
			continue;
		}
		octets += skip;
		length -= skip;
		skip = 0;
		if (objects && objects[index] && append_lent(outbox, objects[index], &parts[index], octets))
			continue;
		if (belongs_on_disk(outbox, length) && append_spooled(outbox, octets, length))
			continue;
		if (append_memory(outbox, octets, length) < 0)
			return -1;
	}
	return 0;
}

int cuttle_outbox_append_file(struct cuttle_outbox *outbox, int file, uint64_t offset, uint64_t length)
{
	struct cuttle_piece *piece = length > 0 ? new_piece(file, offset, length, 0) : NULL;

	if (!piece) {
		close(file);
		if (length > 0)
			errno = ENOMEM;
		return length > 0 ? -1 : 0;
	}
	push(outbox, piece);
	outbox->queued += length;
	return 0;
}

/* Removes count sent octets from the front, and the pieces that are finished. */
static void advance(struct cuttle_outbox *outbox, uint64_t count)
{
	outbox->queued -= count;
	while (outbox->first) {
		struct cuttle_piece *first = outbox->first;
		uint64_t octets = count < first->length ? count : first->length;

		first->offset += octets;
		first->length -= octets;
		count -= octets;
		if (first->room > 0)
			outbox->memory -= octets;
		if (first->spooled)
			outbox->spooled -= octets;
		if (first->length > 0)
			break;
		shift(outbox);
	}
	if (outbox->spooled == 0)
		close_stream(outbox);
	signal_waiter(outbox);
}

static ssize_t send_memory(struct cuttle_outbox *outbox, struct cuttle_transport *transport)
{
	struct iovec parts[FLUSH_PARTS];
	int count = 0;

	for (struct cuttle_piece *piece = outbox->first; piece && count < FLUSH_PARTS; piece = piece->next) {
		const char *octets = piece->lent ? piece->lent->octets : piece->octets;

		if (piece->room == 0 && !piece->lent)
			break;
		parts[count++] =
			(struct iovec){.iov_base = (char *)octets + piece->offset, .iov_len = (size_t)piece->length};
	}
	return transport->type->write(transport, parts, count);
}

static ssize_t send_piece_of_file(struct cuttle_piece *piece, struct cuttle_transport *transport)
{
	size_t count = piece->length < CUTTLE_OUTBOX_TURN ? (size_t)piece->length : CUTTLE_OUTBOX_TURN;
	ssize_t sent = transport->type->send_file(transport, piece->file, piece->offset, count);

	if (sent == 0)
		errno = EPIPE; /* the file became shorter, so the message can't be completed */
	return sent == 0 ? -1 : sent;
}

static ssize_t send_first(struct cuttle_outbox *outbox, struct cuttle_transport *transport)
{
	struct cuttle_piece *first = outbox->first;

	if (first->spooled)
		return cuttle_stream_send(outbox->stream, transport, (size_t)first->length);
	return first->file >= 0 ? send_piece_of_file(first, transport) : send_memory(outbox, transport);
}

enum cuttle_flush cuttle_outbox_flush(struct cuttle_outbox *outbox, struct cuttle_transport *transport, uint64_t *sent)
{
	uint64_t turn = 0;

	while (outbox->first) {
		ssize_t count = send_first(outbox, transport);

		if (count == CUTTLE_WANT_WRITE)
			return CUTTLE_FLUSH_BLOCKED;
		if (count == CUTTLE_WANT_READ)
			return CUTTLE_FLUSH_WANTS_READ;
		if (count < 0)
			return CUTTLE_FLUSH_BROKEN;
		advance(outbox, (uint64_t)count);
		*sent += (uint64_t)count;
		turn += (uint64_t)count;
		if (turn >= CUTTLE_OUTBOX_TURN && outbox->first)
			return CUTTLE_FLUSH_TURN;
	}
	return CUTTLE_FLUSHED;
}
