/*
 * Reads and writes a connection, plain or TLS. The functions behave like read(2) and write(2), including EAGAIN and
 * ECONNRESET.
 */
#ifndef CUTTLE_LOAD_TRANSPORT_H
#define CUTTLE_LOAD_TRANSPORT_H

#include "worker.h"
#include <sys/uio.h>

/* Returns a non-blocking socket that connects to the plan's address, or -1 with errno. */
int transport_connect(const struct plan *plan);

/* Returns 0 once the connection is established, EINPROGRESS before, or the errno of its failure. */
int transport_connected(int descriptor);

ssize_t transport_read(struct connection *connection, char *buffer, size_t size);
ssize_t transport_write(struct connection *connection, const struct iovec *pieces, int count);

#endif
