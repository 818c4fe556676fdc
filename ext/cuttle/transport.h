/* How octets cross the wire: by plain sockets (transport_plain.c), or secured. The core knows no protocol of security.
 * A library of its own (ext/cuttle_tls) makes a struct cuttle_security, and through it transports of its own type.
 *
 * No function blocks or needs the GVL. read, write and send_file return the octets moved; CUTTLE_WANT_READ
 * or CUTTLE_WANT_WRITE if the descriptor must first be ready in that direction (TLS may want either one for either
 * operation), or CUTTLE_FAILED with errno. After a WANT, the next octets offered are the same ones, though they may
 * come in other parts. */
#ifndef CUTTLE_TRANSPORT_H
#define CUTTLE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { CUTTLE_FAILED = -1, CUTTLE_WANT_READ = -2, CUTTLE_WANT_WRITE = -3, CUTTLE_UNSECURED = -4 };

/* What a secured transport can tell about its connection. */
enum cuttle_fact {
	CUTTLE_FACT_PROTOCOL,       /* TLSv1.3 */
	CUTTLE_FACT_CIPHER,         /* TLS_AES_256_GCM_SHA384 */
	CUTTLE_FACT_SERVER_NAME,    /* which the client asked for */
	CUTTLE_FACT_CLIENT_VERIFY,  /* SUCCESS, or NONE without a certificate; only where one is asked for */
	CUTTLE_FACT_CLIENT_SUBJECT, /* the certificate's, as in RFC 2253 */
	CUTTLE_FACT_CLIENT_CERT,    /* PEM */
	CUTTLE_FACTS,
};

#define CUTTLE_FACT_ROOM 16384 /* octets of the longest fact */

struct cuttle_transport;

struct cuttle_transport_type {
	/* Returns 0 after the peer's last octet. Fewer octets than room mean that there are no more for now, unless
	 * more is set. Returns CUTTLE_UNSECURED if the peer sends plain HTTP: the transport is a plain one then. */
	ssize_t (*read)(struct cuttle_transport *transport, char *into, size_t room);
	ssize_t (*write)(struct cuttle_transport *transport, const struct iovec *parts, int count);
	/* Sends length octets of file from offset. Returns 0 if the file has no more. */
	ssize_t (*send_file)(struct cuttle_transport *transport, int file, uint64_t offset, size_t length);
	/* Tells the peer inside the protocol that the output is complete. Returns 0, also if the peer can't be told, or
	 * CUTTLE_WANT_WRITE: call it again. NULL: the protocol has nothing for that. */
	int (*farewell)(struct cuttle_transport *transport);
	/* Ends the output. The peer can read to the end. */
	void (*finish)(struct cuttle_transport *transport);
	/* Frees the context and closes the descriptor. */
	void (*close)(struct cuttle_transport *transport);
	/* Frees the context and returns the descriptor. NULL: it doesn't carry the application's octets as they are. */
	int (*release)(struct cuttle_transport *transport);
	/* Copies a fact, without a NUL. Returns its length, -1 if there is none. NULL: the transport has no facts. */
	ssize_t (*describe)(struct cuttle_transport *transport, enum cuttle_fact fact, char into[CUTTLE_FACT_ROOM]);
};

/* The transport of one connection. */
struct cuttle_transport {
	const struct cuttle_transport_type *type;
	void *context; /* belongs to the type; NULL for plain sockets */
	int fd;
	bool more;     /* the last read was short, and another one has something to say at once */
	bool discards; /* the caller throws away what it reads: octets may come as they are on the wire */
};

/* What makes the transports of a listener's connections secure. Threads may share it. */
struct cuttle_security {
	/* Gives a plain transport this security. octets were read from it already. Returns 0, or -1 without memory; the
	 * transport is unchanged then. */
	int (*secure)(struct cuttle_security *security, struct cuttle_transport *transport, const char *octets,
		      size_t count);
	/* Adds an owner, and removes one. */
	void (*share)(struct cuttle_security *security);
	void (*disown)(struct cuttle_security *security);
};

/* The name of the Ruby type whose data begins with a struct cuttle_security. */
#define CUTTLE_SECURITY_TYPE "Cuttle::Tls"

extern const struct cuttle_transport_type cuttle_plain_transport;

#endif
