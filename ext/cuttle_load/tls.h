/*
 * TLS over a non-blocking socket, through OpenSSL. Without OpenSSL's headers at build time, tls_new fails and says so.
 *
 * Law: tls_read and tls_write behave like read(2) and write(2), including EAGAIN. A context is made before the threads
 * start and is read-only for them. Only one thread uses a session. No Ruby.
 */
#ifndef CUTTLE_LOAD_TLS_H
#define CUTTLE_LOAD_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;
struct tls_session;

extern const bool tls_available;

/* Makes a context. +host+ is sent by SNI and, with +verify+, must be in the certificate. +authorities+ is a PEM file;
 * NULL: the system's. Returns NULL with the reason in +error+. */
struct tls *tls_new(const char *host, bool verify, const char *authorities, char *error, size_t error_size);
void tls_free(struct tls *tls);
const char *tls_version(void);

struct tls_session *tls_open(struct tls *tls, int descriptor);
void tls_close(struct tls_session *session);
/* Returns 1 when done, 0 to call again later, -1 on failure, with the reason in +error+. */
int tls_handshake(struct tls_session *session, char *error, size_t error_size);
ssize_t tls_read(struct tls_session *session, void *buffer, size_t size);

/* Whether the peer announced its end (close_notify). Otherwise, after a read of 0 octets, data may be missing. */
bool tls_announced(const struct tls_session *session);

ssize_t tls_write(struct tls_session *session, const void *octets, size_t length);

#endif
