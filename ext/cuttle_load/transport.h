/*
 * Octets in and out of a connection, plain or TLS: read(2)'s and write(2)'s meaning, EAGAIN and ECONNRESET included.
 */
#ifndef CUTTLE_LOAD_TRANSPORT_H
#define CUTTLE_LOAD_TRANSPORT_H

#include "worker.h"
#include <sys/uio.h>

/* A non-blocking socket on its way to the plan's address, or -1 with errno. */
int transport_connect(const struct plan *plan);

/* 0 when the connection stands, EINPROGRESS while it does not yet, else the errno it failed with. */
int transport_connected(int descriptor);

ssize_t transport_read(struct connection *connection, char *buffer, size_t size);
ssize_t transport_write(struct connection *connection, const struct iovec *pieces, int count);

#endif
