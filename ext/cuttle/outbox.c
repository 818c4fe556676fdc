/* The output queue of a connection. */
#include "outbox.h"
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_PARTS 64

/* File pieces have room 0; memory pieces keep their octets behind the header. */
struct cuttle_piece {
	struct cuttle_piece *next;
	int file;        /* -1: in memory */
	bool spooled;    /* a temporary file of ours, which may grow at its end */
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
	free(piece);
}

void cuttle_outbox_clear(struct cuttle_outbox *outbox)
{
	while (outbox->first)
		shift(outbox);
	outbox->queued = 0;
}

static struct cuttle_piece *new_piece(int file, uint64_t offset, uint64_t length, size_t room)
{
	struct cuttle_piece *piece = malloc(sizeof *piece + room);

	if (piece) {
		piece->file = file;
		piece->spooled = false;
		piece->offset = offset;
		piece->length = length;
		piece->room = room;
	}
	return piece;
}

/* The memory piece at the end with room for some of count octets, made where there is none. */
static struct cuttle_piece *memory_piece(struct cuttle_outbox *outbox, size_t count)
{
	struct cuttle_piece *last = outbox->last;

	if (last && last->file < 0 && last->offset + last->length < last->room)
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
		octets += room;
		count -= room;
	}
	return 0;
}

static int append_spooled(struct cuttle_outbox *outbox, const char *octets, size_t count)
{
	struct cuttle_piece *last = outbox->last;

	if (!last || !last->spooled) {
		int file = cuttle_temporary_file();

		if (file < 0)
			return -1;
		last = new_piece(file, 0, 0, 0);
		if (!last) {
			close(file);
			return -1;
		}
		last->spooled = true;
		push(outbox, last);
	}
	if (cuttle_write_fully(last->file, octets, count) < 0)
		return -1;
	last->length += count;
	outbox->queued += count;
	return 0;
}

int cuttle_outbox_append(struct cuttle_outbox *outbox, const struct iovec *parts, int count, size_t skip)
{
	for (int index = 0; index < count; index++) {
		const char *octets = parts[index].iov_base;
		size_t length = parts[index].iov_len;
		int failed;

		if (skip >= length) {
			skip -= length;
			continue;
		}
		octets += skip;
		length -= skip;
		skip = 0;
		failed = outbox->queued + length > CUTTLE_OUTBOX_MEMORY ? append_spooled(outbox, octets, length)
									 : append_memory(outbox, octets, length);
		if (failed)
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

/* Takes count sent octets off the front, with the pieces they finish. */
static void advance(struct cuttle_outbox *outbox, size_t count)
{
	outbox->queued -= count;
	while (outbox->first && count >= outbox->first->length) {
		count -= (size_t)outbox->first->length;
		shift(outbox);
	}
	if (outbox->first) {
		outbox->first->offset += count;
		outbox->first->length -= count;
	}
}

static ssize_t send_memory(struct cuttle_outbox *outbox, struct cuttle_transport *transport)
{
	struct iovec parts[FLUSH_PARTS];
	int count = 0;

	for (struct cuttle_piece *piece = outbox->first; piece && piece->file < 0 && count < FLUSH_PARTS;
	     piece = piece->next)
		parts[count++] = (struct iovec){.iov_base = piece->octets + piece->offset,
						.iov_len = (size_t)piece->length};
	return transport->type->write(transport, parts, count);
}

static ssize_t send_piece_of_file(struct cuttle_piece *piece, struct cuttle_transport *transport)
{
	size_t count = piece->length < CUTTLE_OUTBOX_TURN ? (size_t)piece->length : CUTTLE_OUTBOX_TURN;
	ssize_t sent = transport->type->send_file(transport, piece->file, piece->offset, count);

	if (sent == 0)
		errno = EPIPE; /* the file became shorter: the message can't be completed */
	return sent == 0 ? -1 : sent;
}

enum cuttle_flush cuttle_outbox_flush(struct cuttle_outbox *outbox, struct cuttle_transport *transport, uint64_t *sent)
{
	uint64_t turn = 0;

	while (outbox->first) {
		bool file = outbox->first->file >= 0;
		ssize_t count = file ? send_piece_of_file(outbox->first, transport) : send_memory(outbox, transport);

		if (count == CUTTLE_WANT_WRITE)
			return CUTTLE_FLUSH_BLOCKED;
		if (count == CUTTLE_WANT_READ)
			return CUTTLE_FLUSH_WANTS_READ;
		if (count < 0)
			return CUTTLE_FLUSH_BROKEN;
		advance(outbox, (size_t)count);
		*sent += (uint64_t)count;
		turn += (uint64_t)count;
		if (turn >= CUTTLE_OUTBOX_TURN && outbox->first)
			return CUTTLE_FLUSH_TURN;
	}
	return CUTTLE_FLUSHED;
}
