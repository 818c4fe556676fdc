/* TLS for the connections of a listener: certificates and rules (tls_context.c, tls_tickets.c), and the transports that
 * are made with them (transport_tls.c). None of these files knows Ruby; rb_tls.c does. OpenSSL 1.1.1 or newer. */
#ifndef CUTTLE_TLS_H
#define CUTTLE_TLS_H

#include "transport.h"

#include <openssl/ssl.h>

#define CUTTLE_TLS_SECRET 32 /* octets of the secret that session tickets' keys are made of */

/* Octets that the caller owns. */
struct cuttle_pem {
	const char *octets; /* NULL: none */
	size_t length;
};

/* A certificate with its chain, the server's first, and its key. */
struct cuttle_identity {
	struct cuttle_pem chain, key;
};

struct cuttle_tls_options {
	const struct cuttle_identity
		*identities; /* the first one serves clients that ask for no name, or for another */
	size_t count;
	struct cuttle_pem authorities; /* who signs clients' certificates */
	int verify;                    /* SSL_VERIFY_… */
	int minimum;                   /* the oldest version: TLS1_2_VERSION or TLS1_3_VERSION */
	const char *ciphers;           /* for TLS 1.2, as OpenSSL writes them; NULL: the default */
	const char *suites;            /* the same for TLS 1.3 */
};

/* Why something could not be loaded. */
struct cuttle_tls_error {
	int identity;     /* the index of the certificate or key that is wrong, -1: something else is */
	const char *what; /* "cert", "key", "ca" … */
	char reason[256]; /* OpenSSL's words */
};

struct cuttle_tls;

/* Prepares what all objects share. Returns false without memory. Call it once, before anything else. */
bool cuttle_tls_prepare(void);

/* Returns an object with one owner, NULL without memory. All processes that have it by forks share the secret, and by
 * that the sessions of clients. */
struct cuttle_tls *cuttle_tls_open(const unsigned char secret[CUTTLE_TLS_SECRET]);

/* Makes new connections use these certificates and rules. Open connections keep the earlier ones. Returns false on
 * failure, and changes nothing then. */
bool cuttle_tls_load(struct cuttle_tls *tls, const struct cuttle_tls_options *options, struct cuttle_tls_error *error);

/* Returns the security of transports, the first member of the object. */
struct cuttle_security *cuttle_tls_security(struct cuttle_tls *tls);

/* Returns a new connection's state, NULL without memory or before anything was loaded. */
SSL *cuttle_tls_session(struct cuttle_tls *tls);

/* transport_tls.c: gives a plain transport TLS. octets were read from it. Returns 0, or -1 without memory. */
int cuttle_tls_secure(struct cuttle_tls *tls, struct cuttle_transport *transport, const char *octets, size_t count);
/* Prepares what all transports share. Returns false without memory. */
bool cuttle_tls_transport_prepare(void);

/* tls_tickets.c: the keys of session tickets. They change every two hours, and the previous ones are still accepted for
 * as long. Each is derived from the previous one, which can't be derived from it. Forked processes make the same keys.
 */
struct cuttle_tickets;

struct cuttle_tickets *cuttle_tickets_open(const unsigned char secret[CUTTLE_TLS_SECRET]);
/* Makes the sessions of a context use these keys. The context becomes an owner. Returns false without memory. */
bool cuttle_tickets_use(struct cuttle_tickets *tickets, SSL_CTX *context);
void cuttle_tickets_disown(struct cuttle_tickets *tickets);
/* Prepares what all of them share. Returns false without memory. */
bool cuttle_tickets_prepare(void);

#endif
