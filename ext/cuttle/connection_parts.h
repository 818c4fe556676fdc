/* What the files of the connection share (connection.c, connection_input.c, connection_output.c). */
#ifndef CUTTLE_CONNECTION_PARTS_H
#define CUTTLE_CONNECTION_PARTS_H

#include "connection.h"

/* After stop: connections end as soon as they may. */
static inline bool cuttle_connection_stopping(const struct cuttle_connection *connection)
{
	return atomic_load_explicit(&connection->core->stopping, memory_order_relaxed);
}

/* The request and its response are done with. */
static inline void cuttle_connection_end_exchange(struct cuttle_connection *connection)
{
	if (connection->exchange) {
		cuttle_exchange_end(&connection->core->exchanges, connection->exchange);
		connection->exchange = NULL;
	}
}

/* Nothing is buffered any more. */
static inline void cuttle_connection_give_back_inbox(struct cuttle_connection *connection)
{
	if (connection->inbox) {
		cuttle_inbox_return(&connection->core->pool, connection->inbox);
		connection->inbox = NULL;
	}
}

/* connection_input.c: reads once, and makes of all that is buffered what it is enough for. */
enum cuttle_step cuttle_connection_receive(struct cuttle_connection *connection, uint64_t now);
/* The same without reading. */
enum cuttle_step cuttle_connection_advance(struct cuttle_connection *connection, uint64_t now);
/* The spooler has written, or failed; or the peer has gone. */
enum cuttle_step cuttle_connection_end_spooling(struct cuttle_connection *connection, uint64_t now);
/* Reads once for nothing: we have said our last words. */
enum cuttle_step cuttle_connection_throw_away(struct cuttle_connection *connection);

/* connection_output.c: sends what is queued while the request still comes (a 100), or while the app adds to it. */
enum cuttle_step cuttle_connection_flush_early(struct cuttle_connection *connection);
/* Sends what is queued of a complete response. */
enum cuttle_step cuttle_connection_drain(struct cuttle_connection *connection, uint64_t now);
/* Answers for the application, which never saw the request, and closes. */
enum cuttle_step cuttle_connection_fail(struct cuttle_connection *connection, int status, uint64_t now);
/* Answers for the application, which has had its time. */
enum cuttle_step cuttle_connection_answer_for_app(struct cuttle_connection *connection, uint64_t now);

#endif
