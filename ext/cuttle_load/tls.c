/* TLS through OpenSSL; see tls.h. */
#include "tls.h"
#include <errno.h>
#include <stdio.h>

#ifdef HAVE_OPENSSL

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

const bool tls_available = true;

struct tls {
	SSL_CTX *context;
	char *host;
	bool verify;
};

static void explain(char *error, size_t size, const char *what)
{
	unsigned long code = ERR_peek_last_error();

	snprintf(error, size, "%s%s%s", what, code ? ": " : "", code ? ERR_reason_error_string(code) : "");
	ERR_clear_error();
}

static bool trust(struct tls *tls, const char *authorities)
{
	if (!tls->verify)
		return true;
	SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
	if (authorities)
		return SSL_CTX_load_verify_locations(tls->context, authorities, NULL) == 1;
	return SSL_CTX_set_default_verify_paths(tls->context) == 1;
}

struct tls *tls_new(const char *host, bool verify, const char *authorities, char *error, size_t error_size)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	if (!tls || !(tls->host = strdup(host)) || !(tls->context = SSL_CTX_new(TLS_client_method()))) {
		explain(error, error_size, "no TLS context");
		tls_free(tls);
		return NULL;
	}
	tls->verify = verify;
	SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					       SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
	if (trust(tls, authorities))
		return tls;
	explain(error, error_size, "certificate authorities can't be read");
	tls_free(tls);
	return NULL;
}

void tls_free(struct tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->context);
	free(tls->host);
	free(tls);
}

const char *tls_version(void)
{
	return OpenSSL_version(OPENSSL_VERSION);
}

static bool is_address(const char *host)
{
	unsigned char address[16];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static bool name_peer(const struct tls *tls, SSL *ssl)
{
	if (is_address(tls->host))
		return !tls->verify || X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), tls->host) == 1;
	return SSL_set_tlsext_host_name(ssl, tls->host) == 1 && (!tls->verify || SSL_set1_host(ssl, tls->host) == 1);
}

struct tls_session *tls_open(struct tls *tls, int descriptor)
{
	SSL *ssl = SSL_new(tls->context);

	if (ssl && SSL_set_fd(ssl, descriptor) == 1 && name_peer(tls, ssl)) {
		SSL_set_connect_state(ssl);
		return (struct tls_session *)ssl;
	}
	SSL_free(ssl);
	ERR_clear_error();
	return NULL;
}

void tls_close(struct tls_session *session)
{
	SSL *ssl = (SSL *)session;

	if (ssl && SSL_is_init_finished(ssl))
		SSL_shutdown(ssl);
	SSL_free(ssl);
	ERR_clear_error();
}

int tls_handshake(struct tls_session *session, char *error, size_t error_size)
{
	SSL *ssl = (SSL *)session;
	int result = SSL_do_handshake(ssl), why;
	long verification;

	if (result == 1)
		return 1;
	why = SSL_get_error(ssl, result);
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		return 0;
	verification = SSL_get_verify_result(ssl);
	if (verification != X509_V_OK) {
		snprintf(error, error_size, "certificate: %s", X509_verify_cert_error_string(verification));
		ERR_clear_error();
	} else {
		explain(error, error_size, "handshake failed");
	}
	return -1;
}

/* Whether an SSL call failed because the connection ended without a close_notify. OpenSSL 1.1.1 has no reason for that:
 * it reports a failed system call that set no errno. */
static bool ended_unannounced(int why)
{
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
	if (why == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return true;
#endif
	return why == SSL_ERROR_SYSCALL && errno == 0;
}

/* Translates a failed SSL call into read(2)'s or write(2)'s result. */
static ssize_t outcome(SSL *ssl, int result)
{
	int why = SSL_get_error(ssl, result);

	if (why == SSL_ERROR_ZERO_RETURN)
		return 0;
	if (ended_unannounced(why)) {
		ERR_clear_error();
		return 0;
	}
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		errno = EAGAIN;
	else if (why != SSL_ERROR_SYSCALL)
		errno = ECONNRESET;
	ERR_clear_error();
	return -1;
}

ssize_t tls_read(struct tls_session *session, void *buffer, size_t size)
{
	size_t got;
	int result;

	errno = 0;
	result = SSL_read_ex((SSL *)session, buffer, size, &got);
	return result == 1 ? (ssize_t)got : outcome((SSL *)session, result);
}

bool tls_announced(const struct tls_session *session)
{
	return SSL_get_shutdown((const SSL *)session) & SSL_RECEIVED_SHUTDOWN;
}

ssize_t tls_write(struct tls_session *session, const void *octets, size_t length)
{
	size_t put;
	int result;

	errno = 0;
	result = SSL_write_ex((SSL *)session, octets, length, &put);
	return result == 1 ? (ssize_t)put : outcome((SSL *)session, result);
}

#else

const bool tls_available = false;

struct tls *tls_new(const char *host, bool verify, const char *authorities, char *error, size_t error_size)
{
	snprintf(error, error_size, "this build has no TLS: OpenSSL's headers were missing when it was compiled");
	return NULL;
}

void tls_free(struct tls *tls)
{
}

const char *tls_version(void)
{
	return NULL;
}

struct tls_session *tls_open(struct tls *tls, int descriptor)
{
	return NULL;
}

void tls_close(struct tls_session *session)
{
}

int tls_handshake(struct tls_session *session, char *error, size_t error_size)
{
	return -1;
}

ssize_t tls_read(struct tls_session *session, void *buffer, size_t size)
{
	errno = ENOTSUP;
	return -1;
}

bool tls_announced(const struct tls_session *session)
{
	return false;
}

ssize_t tls_write(struct tls_session *session, const void *octets, size_t length)
{
	errno = ENOTSUP;
	return -1;
}

#endif
