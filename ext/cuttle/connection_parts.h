/* What connection.c, connection_input.c and connection_output.c share. */
#ifndef CUTTLE_CONNECTION_PARTS_H
#define CUTTLE_CONNECTION_PARTS_H

#include "connection.h"

/* Makes a connection over a plain socket, which it owns. If out of memory, closes the descriptor and returns NULL. */
struct cuttle_connection *cuttle_connection_make(struct cuttle_core *core, int fd, const struct cuttle_peer *client,
						 uint64_t accepted);
/* Adds it to the connections of its core. */
void cuttle_connection_begin(struct cuttle_connection *connection, uint64_t now);

/* Ends the request and its response. The ledger counts a request that a thread took, however it ended. */
void cuttle_connection_end_exchange(struct cuttle_connection *connection);

/* Ends the output after our last octets. */
static inline void cuttle_connection_end_output(struct cuttle_connection *connection)
{
	struct cuttle_transport *transport = &connection->transport;

	if (transport->type->farewell)
		transport->type->farewell(transport);
	transport->type->finish(transport);
}

/* Returns an inbox that is no longer needed. */
static inline void cuttle_connection_give_back_inbox(struct cuttle_connection *connection)
{
	if (connection->inbox) {
		cuttle_inbox_return(&connection->core->pool, connection->inbox);
		connection->inbox = NULL;
	}
}

/* Secures the transport of a connection whose security is due. octets were read from it already. Returns 0, or -1
 * without memory. */
int cuttle_connection_secure(struct cuttle_connection *connection, const char *octets, size_t count);

/* Whether the body is over its time, or arrives more slowly than the minimum rate and its slack allow. Measures it. */
bool cuttle_connection_body_is_late(struct cuttle_connection *connection, uint64_t now);

/* connection_input.c: reads once and processes what is buffered as far as it goes. */
enum cuttle_step cuttle_connection_receive(struct cuttle_connection *connection, uint64_t now);
/* Processes what is buffered, without reading. */
enum cuttle_step cuttle_connection_advance(struct cuttle_connection *connection, uint64_t now);
/* Goes on after the spooler has written or failed, or the peer has gone. */
enum cuttle_step cuttle_connection_end_spooling(struct cuttle_connection *connection, uint64_t now);
/* Reads once and discards the input, after our last octets. */
enum cuttle_step cuttle_connection_throw_away(struct cuttle_connection *connection);

/* connection_output.c: sends queued octets while the request still arrives (a 100) or while the app adds to the
 * response. */
enum cuttle_step cuttle_connection_flush_early(struct cuttle_connection *connection);
/* Sends queued octets of a complete response. */
enum cuttle_step cuttle_connection_drain(struct cuttle_connection *connection, uint64_t now);
/* Answers in place of the app, which never saw the request, and closes. */
enum cuttle_step cuttle_connection_fail(struct cuttle_connection *connection, int status, uint64_t now);
/* Answers a peer that sent plain HTTP where TLS is spoken, and closes. */
enum cuttle_step cuttle_connection_turn_away(struct cuttle_connection *connection, uint64_t now);
/* Answers in place of an app that has used up its time. */
enum cuttle_step cuttle_connection_answer_for_app(struct cuttle_connection *connection, uint64_t now);

#endif
