/* Connections that move from one process to another with a complete request; see connection.h. */
#include "connection_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(CUTTLE_PARCEL_ROOM <= CUTTLE_INBOX_ROOM, "what a parcel brings fits into an inbox");

/* Whether the body can be sent again as it came: it is in memory, has not been decoded from chunks, and its client was
 * not asked for it. */
static bool can_repeat(const struct cuttle_exchange *exchange, const struct cuttle_head *head)
{
	return !exchange->body || (!exchange->body->stream && !head->chunked && !exchange->continued);
}

/* Whether the octets of the request are all that there is: nothing of TLS or of a Ruby parser, no news of the peer's
 * end. */
static bool is_plain(const struct cuttle_connection *connection)
{
	return !connection->secured && !connection->references && !connection->core->foreign_parser &&
	       !connection->eof && !connection->hangup && !connection->suspect && !connection->broken &&
	       can_repeat(connection->exchange, &connection->inbox->head);
}

bool cuttle_connection_pack(const struct cuttle_connection *connection, struct cuttle_parcel *parcel,
			    struct iovec parts[CUTTLE_PARCEL_PARTS])
{
	struct cuttle_inbox *inbox = connection->inbox;
	const struct cuttle_exchange *exchange = connection->exchange;
	const struct cuttle_body *body = exchange->body;
	size_t size = cuttle_inbox_size(inbox) + (body ? body->length : 0);

	if (!is_plain(connection) || size > CUTTLE_PARCEL_ROOM)
		return false;
	*parcel = (struct cuttle_parcel){
		.client = connection->client,
		.accepted = connection->accepted,
		.first_octet = exchange->times[CUTTLE_FIRST_OCTET],
		.complete = exchange->times[CUTTLE_COMPLETE_AT],
		.backlog = connection->backlog,
		.served = connection->served,
		.size = (uint32_t)size,
		.timed = connection->timed,
		.trusted = connection->trusted,
		.secure = connection->secure,
	};
	parts[0] = (struct iovec){.iov_base = cuttle_inbox_unused(inbox), .iov_len = exchange->head_size};
	parts[1] = (struct iovec){.iov_base = body ? body->memory : NULL, .iov_len = body ? body->length : 0};
	parts[2] = (struct iovec){.iov_base = cuttle_inbox_unused(inbox) + exchange->head_size,
				  .iov_len = cuttle_inbox_size(inbox) - exchange->head_size};
	return true;
}

struct cuttle_connection *cuttle_connection_unpack(struct cuttle_core *core, int fd, const struct cuttle_parcel *parcel,
						   const char *octets, uint64_t now)
{
	struct cuttle_connection *connection = cuttle_connection_make(core, fd, &parcel->client, parcel->accepted);
	struct cuttle_inbox *inbox;

	if (!connection)
		return NULL;
	inbox = cuttle_inbox_borrow(&core->pool);
	if (!inbox) {
		close(fd);
		free(connection);
		return NULL;
	}
	memcpy(inbox->octets, octets, parcel->size);
	inbox->length = parcel->size;
	connection->inbox = inbox;
	connection->timed = parcel->timed;
	connection->backlog = parcel->backlog;
	connection->trusted = parcel->trusted;
	connection->secure = parcel->secure;
	connection->served = parcel->served - 1; /* the process that read this request has counted it */
	cuttle_connection_begin(connection, now);
	return connection;
}

/* Sets the time at which a thread must have taken the request, counted from when it was complete. Those behind it in
 * the queue may have more time. */
static void hurry(struct cuttle_connection *connection, uint64_t complete)
{
	struct cuttle_link *queue = &connection->core->deadlines[CUTTLE_UNTIL_TAKEN], *behind = queue;

	if (!connection->deadline)
		return;
	cuttle_connection_set_deadline(connection, CUTTLE_UNTIL_TAKEN, complete);
	cuttle_list_remove(&connection->timer);
	while (behind->previous != queue &&
	       CUTTLE_CONTAINER(behind->previous, struct cuttle_connection, timer)->deadline > connection->deadline)
		behind = behind->previous;
	cuttle_list_append(behind, &connection->timer);
}

enum cuttle_step cuttle_connection_settle(struct cuttle_connection *connection, const struct cuttle_parcel *parcel,
					  uint64_t now)
{
	enum cuttle_step step = cuttle_connection_advance(connection, now);

	if (connection->state != CUTTLE_READY)
		return step;
	connection->exchange->times[CUTTLE_FIRST_OCTET] = parcel->first_octet;
	connection->exchange->times[CUTTLE_COMPLETE_AT] = parcel->complete;
	connection->exchange->relayed = now;
	hurry(connection, parcel->complete);
	return step;
}
