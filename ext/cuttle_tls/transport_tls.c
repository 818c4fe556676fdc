/* TLS as a transport (transport.h), by OpenSSL. The handshake happens in the first calls of read.
 *
 * OpenSSL reads and writes the socket through a BIO of ours. It first gives out octets that were read behind a PROXY
 * header, looks at the first one for plain HTTP, and knows after a short read that the socket is empty, which saves a
 * system call for each request. A socket BIO could use the kernel's TLS instead (kTLS: SSL_OP_ENABLE_KTLS, and
 * SSL_sendfile in send_file), where a kernel has that.
 *
 * A record that was sealed must be sent before any other octets. If the socket takes no more of it, the record is kept
 * here (kept), and its octets are reported as sent once they are: to the next calls, which offer the same octets
 * (sent). So no call reports more than it was offered.
 *
 * The thread that runs the connection calls these functions, one at a time. OpenSSL's queue of errors belongs to the
 * thread, so each call empties it. */
#ifdef CUTTLE_OPENSSL

#include "tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORD 16384          /* most octets in a record (RFC 8446, 5.1) */
#define TURN (64 << 10)       /* octets of the socket before other connections get their turn */
#define FLOOD (48 << 10)      /* octets without data that end a connection: those of renewed keys, for example */
#define HANDSHAKE (128 << 10) /* the same in a handshake: more than the longest that OpenSSL accepts */

struct context {
	const struct cuttle_transport_type *plain; /* the type before this one */
	SSL *ssl;
	int fd;
	char *early; /* octets from behind the PROXY header; NULL: none */
	size_t early_length, early_at;
	char *kept; /* a record's octets, of which not all were sent; NULL: none */
	size_t kept_length;
	size_t sent;   /* octets that were sent and not reported */
	size_t taken;  /* octets of the socket in this call of SSL_read_ex */
	bool begun;    /* the first octet was looked at */
	bool drained;  /* the socket had no more octets in this call */
	bool end;      /* the socket has ended */
	bool plainly;  /* the peer sends plain HTTP */
	bool failed;   /* nothing more can be done */
	bool farewell; /* ours was sent */
};

static BIO_METHOD *method;

static struct context *context_of(const struct cuttle_transport *transport)
{
	return transport->context;
}

/* The BIO */

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK;
}

static int read_early(struct context *context, char *into, int room)
{
	size_t left = context->early_length - context->early_at;
	size_t count = left < (size_t)room ? left : (size_t)room;

	memcpy(into, context->early + context->early_at, count);
	context->early_at += count;
	if (context->early_at == context->early_length) {
		free(context->early);
		context->early = NULL;
	}
	return (int)count;
}

/* OpenSSL reads on for as long as there is something to read and none of it is data. */
static bool is_flooded(const struct context *context)
{
	return context->taken >= (SSL_is_init_finished(context->ssl) ? FLOOD : HANDSHAKE);
}

static int read_socket(BIO *bio, struct context *context, char *into, int room)
{
	ssize_t count;

	if (context->drained) {
		BIO_set_retry_read(bio);
		return -1;
	}
	if (is_flooded(context))
		return -1;
	do
		count = recv(context->fd, into, (size_t)room, 0);
	while (count < 0 && errno == EINTR);
	context->drained = count < room;
	context->taken += count > 0 ? (size_t)count : 0;
	context->end = count == 0;
	if (count < 0 && would_block())
		BIO_set_retry_read(bio);
	return (int)count;
}

/* A method of HTTP begins with a letter, and a record with its type, which is none. */
static bool begins_plainly(const char *octets)
{
	return (octets[0] >= 'A' && octets[0] <= 'Z') || (octets[0] >= 'a' && octets[0] <= 'z');
}

static int bio_read(BIO *bio, char *into, int room)
{
	struct context *context = BIO_get_data(bio);
	int count;

	BIO_clear_retry_flags(bio);
	if (room <= 0)
		return 0;
	count = context->early ? read_early(context, into, room) : read_socket(bio, context, into, room);
	if (count > 0 && !context->begun) {
		context->begun = true;
		context->plainly = begins_plainly(into);
		if (context->plainly)
			return -1;
	}
	return count;
}

static int bio_write(BIO *bio, const char *octets, int length)
{
	struct context *context = BIO_get_data(bio);
	ssize_t count;

	BIO_clear_retry_flags(bio);
	do
		count = send(context->fd, octets, (size_t)length, 0); /* Ruby ignores SIGPIPE */
	while (count < 0 && errno == EINTR);
	if (count < 0 && would_block())
		BIO_set_retry_write(bio);
	return (int)count;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
	const struct context *context = BIO_get_data(bio);

	switch (command) {
	case BIO_CTRL_FLUSH: /* nothing is kept back */
		return 1;
	case BIO_CTRL_EOF:
		return context->end;
	default:
		return 0;
	}
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

bool cuttle_tls_transport_prepare(void)
{
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cuttle");
	return method && BIO_meth_set_read(method, bio_read) == 1 && BIO_meth_set_write(method, bio_write) == 1 &&
	       BIO_meth_set_ctrl(method, bio_control) == 1 && BIO_meth_set_create(method, bio_create) == 1;
}

/* Converts the failure of a call. */
static ssize_t failure(struct context *context, int result)
{
	int reason = SSL_get_error(context->ssl, result);

	ERR_clear_error();
	if (reason == SSL_ERROR_WANT_READ)
		return CUTTLE_WANT_READ;
	if (reason == SSL_ERROR_WANT_WRITE)
		return CUTTLE_WANT_WRITE;
	if (reason == SSL_ERROR_ZERO_RETURN) /* the peer's farewell */
		return 0;
	context->failed = true; /* also if the input ends without a farewell: somebody may have cut it off */
	errno = ECONNRESET;
	return CUTTLE_FAILED;
}

static void free_context(struct context *context)
{
	SSL_free(context->ssl);
	free(context->early);
	free(context->kept);
	free(context);
}

/* Reading */

/* Makes the transport plain: the peer never began to speak TLS. */
static ssize_t become_plain(struct cuttle_transport *transport)
{
	struct context *context = context_of(transport);

	transport->type = context->plain;
	transport->context = NULL;
	free_context(context);
	return CUTTLE_UNSECURED;
}

/* The caller wants no octet of what still comes, so nothing is decrypted. */
static ssize_t throw_away(const struct context *context, char *into, size_t room)
{
	ssize_t count;

	do
		count = recv(context->fd, into, room, 0);
	while (count < 0 && errno == EINTR);
	return count < 0 && would_block() ? CUTTLE_WANT_READ : count < 0 ? CUTTLE_FAILED : count;
}

static ssize_t tls_read(struct cuttle_transport *transport, char *into, size_t room)
{
	struct context *context = context_of(transport);
	size_t total = 0, taken = 0, count;
	ssize_t reason = 0;

	transport->more = false;
	if (transport->discards)
		return throw_away(context, into, room);
	context->drained = false;
	while (total < room && taken < TURN && !context->failed) {
		int result;

		context->taken = 0;
		ERR_clear_error();
		result = SSL_read_ex(context->ssl, into + total, room - total, &count);
		if (result <= 0) {
			reason = failure(context, result);
			break;
		}
		total += count;
		taken += context->taken;
	}
	if (context->plainly)
		return become_plain(transport);
	if (context->failed)
		reason = CUTTLE_FAILED;
	if (total == 0)
		return reason;
	transport->more = reason == 0 || reason == CUTTLE_FAILED;
	return (ssize_t)total;
}

/* Writing */

/* Keeps a record that was not sent in full. */
static ssize_t keep(struct context *context, const char *octets, size_t length, ssize_t reason)
{
	context->kept = malloc(length);
	if (!context->kept) {
		context->failed = true;
		errno = ENOMEM;
		return CUTTLE_FAILED;
	}
	memcpy(context->kept, octets, length);
	context->kept_length = length;
	return reason;
}

/* Sends a record of at most RECORD octets. Returns its length, or why it could not be sent in full. */
static ssize_t send_record(struct context *context, const char *octets, size_t length)
{
	size_t count;
	ssize_t reason;
	int result;

	ERR_clear_error();
	result = SSL_write_ex(context->ssl, octets, length, &count);
	if (result > 0)
		return (ssize_t)count;
	reason = failure(context, result);
	if (reason == 0) /* no meaning for a write */
		context->failed = true;
	return reason == 0 ? CUTTLE_FAILED : reason;
}

static ssize_t send_or_keep(struct context *context, const char *octets, size_t length)
{
	ssize_t result = send_record(context, octets, length);

	return result == CUTTLE_WANT_READ || result == CUTTLE_WANT_WRITE ? keep(context, octets, length, result)
									 : result;
}

/* Sends the record that was kept. Returns 0, or why it could not be sent in full. OpenSSL makes several records of it
 * for a client that takes only short ones (max_fragment_length: RFC 6066, 4), and one call may send only the first of
 * them: the caller offers the octets of the others again. */
static ssize_t send_kept(struct context *context)
{
	ssize_t result;

	if (context->failed) {
		errno = ECONNRESET;
		return CUTTLE_FAILED;
	}
	if (!context->kept)
		return 0;
	result = send_record(context, context->kept, context->kept_length);
	if (result < 0)
		return result;
	context->sent += (size_t)result;
	free(context->kept);
	context->kept = NULL;
	return 0;
}

/* Takes offered octets off those that were sent before. Returns how many. */
static size_t report_sent(struct context *context, size_t offered)
{
	size_t count = context->sent < offered ? context->sent : offered;

	context->sent -= count;
	return count;
}

/* Where in the parts the next record begins. */
struct cursor {
	const struct iovec *parts;
	int count, index;
	size_t offset;
};

static void skip(struct cursor *cursor, size_t octets)
{
	while (cursor->index < cursor->count) {
		size_t left = cursor->parts[cursor->index].iov_len - cursor->offset;

		if (octets < left) {
			cursor->offset += octets;
			return;
		}
		octets -= left;
		cursor->index++;
		cursor->offset = 0;
	}
}

/* Copies the octets of the next record. Returns how many, without moving the cursor. */
static size_t gather(struct cursor cursor, char record[RECORD])
{
	size_t length = 0;

	while (cursor.index < cursor.count && length < RECORD) {
		const struct iovec *part = &cursor.parts[cursor.index];
		size_t left = part->iov_len - cursor.offset;
		size_t count = left < RECORD - length ? left : RECORD - length;

		memcpy(record + length, (const char *)part->iov_base + cursor.offset, count);
		length += count;
		skip(&cursor, count);
	}
	return length;
}

/* Sets *octets to those of the next record: in the part itself if it fills the record or is the last one, otherwise
 * copied, because head and body of a small response belong into one record. Returns how many. */
static size_t next_record(const struct cursor *cursor, char record[RECORD], const char **octets)
{
	const struct iovec *part = &cursor->parts[cursor->index];
	size_t left;

	if (cursor->index == cursor->count)
		return 0;
	left = part->iov_len - cursor->offset;
	if (left < RECORD && cursor->index + 1 < cursor->count) {
		*octets = record;
		return gather(*cursor, record);
	}
	*octets = (const char *)part->iov_base + cursor->offset;
	return left < RECORD ? left : RECORD;
}

static size_t sum(const struct iovec *parts, int count)
{
	size_t octets = 0;

	for (int index = 0; index < count; index++)
		octets += parts[index].iov_len;
	return octets;
}

static ssize_t tls_write(struct cuttle_transport *transport, const struct iovec *parts, int count)
{
	struct context *context = context_of(transport);
	struct cursor cursor = {.parts = parts, .count = count};
	ssize_t result = send_kept(context);
	char record[RECORD];
	const char *octets;
	size_t total, length;

	if (result < 0)
		return result;
	total = context->sent ? report_sent(context, sum(parts, count)) : 0;
	skip(&cursor, total);
	while ((length = next_record(&cursor, record, &octets)) > 0) {
		result = send_or_keep(context, octets, length);
		if (result < 0)
			return total > 0 ? (ssize_t)total : result;
		total += (size_t)result;
		skip(&cursor, (size_t)result);
	}
	return (ssize_t)total;
}

static ssize_t tls_send_file(struct cuttle_transport *transport, int file, uint64_t offset, size_t length)
{
	struct context *context = context_of(transport);
	ssize_t result = send_kept(context);
	char record[RECORD];
	size_t total;

	if (result < 0)
		return result;
	total = report_sent(context, length);
	while (total < length) {
		size_t room = length - total < sizeof record ? length - total : sizeof record;
		ssize_t count = pread(file, record, room, (off_t)(offset + total));

		if (count <= 0)
			return total > 0 ? (ssize_t)total : count;
		result = send_or_keep(context, record, (size_t)count);
		if (result < 0)
			return total > 0 ? (ssize_t)total : result;
		total += (size_t)result;
	}
	return (ssize_t)total;
}

/* The end */

/* close_notify (RFC 8446, 6.1), by which the peer knows that nothing was cut off. */
static int tls_farewell(struct cuttle_transport *transport)
{
	struct context *context = context_of(transport);
	int result;

	if (context->failed || context->farewell || !SSL_is_init_finished(context->ssl))
		return 0;
	if (context->kept && send_kept(context) < 0)
		return context->failed ? 0 : CUTTLE_WANT_WRITE;
	ERR_clear_error();
	result = SSL_shutdown(context->ssl);
	if (result < 0 && failure(context, result) == CUTTLE_WANT_WRITE)
		return CUTTLE_WANT_WRITE;
	ERR_clear_error();
	context->farewell = true;
	return 0;
}

static void tls_finish(struct cuttle_transport *transport)
{
	shutdown(transport->fd, SHUT_WR);
}

static void tls_close(struct cuttle_transport *transport)
{
	int fd = transport->fd;

	free_context(context_of(transport));
	transport->context = NULL;
	transport->fd = -1;
	if (fd >= 0)
		close(fd);
}

/* Facts */

static ssize_t copy(const char *text, char into[CUTTLE_FACT_ROOM])
{
	size_t length = text ? strlen(text) : CUTTLE_FACT_ROOM + 1;

	if (length > CUTTLE_FACT_ROOM)
		return -1;
	memcpy(into, text, length);
	return (ssize_t)length;
}

static bool write_certificate(X509 *certificate, enum cuttle_fact fact, BIO *memory)
{
	if (fact == CUTTLE_FACT_CLIENT_CERT)
		return PEM_write_bio_X509(memory, certificate) == 1;
	return X509_NAME_print_ex(memory, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0;
}

/* A fact from the client's certificate. */
static ssize_t describe_client(SSL *ssl, enum cuttle_fact fact, char into[CUTTLE_FACT_ROOM])
{
	X509 *certificate = SSL_get_peer_certificate(ssl);
	BIO *memory = certificate ? BIO_new(BIO_s_mem()) : NULL;
	ssize_t length = -1;
	char *text;

	if (memory && write_certificate(certificate, fact, memory)) {
		length = BIO_get_mem_data(memory, &text);
		if (length > CUTTLE_FACT_ROOM)
			length = -1;
		else if (length > 0)
			memcpy(into, text, (size_t)length);
	}
	BIO_free(memory);
	X509_free(certificate);
	ERR_clear_error();
	return length;
}

/* A certificate that can't be verified ends the handshake, so there are two cases only. */
static const char *verification(const SSL *ssl)
{
	X509 *certificate;

	if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE)
		return NULL;
	certificate = SSL_get_peer_certificate(ssl);
	X509_free(certificate);
	return certificate ? "SUCCESS" : "NONE";
}

static ssize_t tls_describe(struct cuttle_transport *transport, enum cuttle_fact fact, char into[CUTTLE_FACT_ROOM])
{
	SSL *ssl = context_of(transport)->ssl;

	switch (fact) {
	case CUTTLE_FACT_PROTOCOL:
		return copy(SSL_get_version(ssl), into);
	case CUTTLE_FACT_CIPHER:
		return copy(SSL_get_cipher_name(ssl), into);
	case CUTTLE_FACT_SERVER_NAME:
		return copy(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name), into);
	case CUTTLE_FACT_CLIENT_VERIFY:
		return copy(verification(ssl), into);
	case CUTTLE_FACT_CLIENT_SUBJECT:
	case CUTTLE_FACT_CLIENT_CERT:
		return describe_client(ssl, fact, into);
	default:
		return -1;
	}
}

static const struct cuttle_transport_type tls_transport = {
	.read = tls_read,
	.write = tls_write,
	.send_file = tls_send_file,
	.farewell = tls_farewell,
	.finish = tls_finish,
	.close = tls_close,
	.describe = tls_describe,
};

/* The beginning */

static bool keep_early(struct context *context, const char *octets, size_t count)
{
	if (count == 0)
		return true;
	context->early = malloc(count);
	if (!context->early)
		return false;
	memcpy(context->early, octets, count);
	context->early_length = count;
	return true;
}

static bool begin(struct context *context, struct cuttle_tls *tls)
{
	BIO *bio;

	context->ssl = cuttle_tls_session(tls);
	bio = context->ssl ? BIO_new(method) : NULL;
	if (!bio)
		return false;
	BIO_set_data(bio, context);
	SSL_set_bio(context->ssl, bio, bio);
	SSL_set_accept_state(context->ssl);
	return true;
}

int cuttle_tls_secure(struct cuttle_tls *tls, struct cuttle_transport *transport, const char *octets, size_t count)
{
	struct context *context = calloc(1, sizeof *context);

	if (!context)
		return -1;
	context->fd = transport->fd;
	context->plain = transport->type;
	if (!keep_early(context, octets, count) || !begin(context, tls)) {
		free_context(context);
		ERR_clear_error();
		return -1;
	}
	transport->type = &tls_transport;
	transport->context = context;
	return 0;
}

#endif
