/*
 * TLS over a non-blocking socket, by OpenSSL; where its headers were not there at build, tls_new says so.
 *
 * Law: tls_read and tls_write have the meaning of read(2) and write(2), EAGAIN included. A context is made before the
 * threads start and only read by them; a session is one thread's. No Ruby.
 */
#ifndef CUTTLE_LOAD_TLS_H
#define CUTTLE_LOAD_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;
struct tls_session;

extern const bool tls_available;

/* +host+ is asked for by SNI and, if +verify+, must be in the certificate; +authorities+: a PEM file, NULL: the system's. */
struct tls *tls_new(const char *host, bool verify, const char *authorities, char *error, size_t error_size);
void tls_free(struct tls *tls);
const char *tls_version(void);

struct tls_session *tls_open(struct tls *tls, int descriptor);
void tls_close(struct tls_session *session);
/* 1: done, 0: again later, -1: failed, and +error+ says why */
int tls_handshake(struct tls_session *session, char *error, size_t error_size);
ssize_t tls_read(struct tls_session *session, void *buffer, size_t size);
ssize_t tls_write(struct tls_session *session, const void *octets, size_t length);

#endif
