/* Certificates and rules: one OpenSSL context for each name, and which of them serves a client; see tls.h. */
#ifdef CUTTLE_OPENSSL

#include "tls.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Forward secrecy and authenticated encryption only. TLS 1.3 has no others. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

/* The contexts of several certificates: one for each name. It belongs to the first, which it lists too. */
struct names {
	int count;
	SSL_CTX *contexts[];
};

struct cuttle_tls {
	struct cuttle_security security; /* the first member: the core sees only this */
	_Atomic unsigned owners;
	pthread_mutex_t lock; /* guards context */
	SSL_CTX *context;     /* NULL until something is loaded */
	struct cuttle_tickets *tickets;
};

static int names_index = -1; /* of the names in a context */

/* Takes OpenSSL's words for what just failed. */
static bool failed(struct cuttle_tls_error *error, int identity, const char *what)
{
	unsigned long code = ERR_peek_last_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	error->identity = identity;
	error->what = what;
	snprintf(error->reason, sizeof error->reason, "%s", reason ? reason : "can't be used");
	ERR_clear_error();
	return false;
}

/* A key with a password would make OpenSSL ask for it on the terminal. */
static int no_password(char *into, int room, int writing, void *context)
{
	return -1;
}

static BIO *open_pem(struct cuttle_pem pem)
{
	return BIO_new_mem_buf(pem.octets ? pem.octets : "", pem.octets ? (int)pem.length : 0);
}

/* Whether reading certificates one after the other failed only because there is no more. */
static bool at_end(void)
{
	unsigned long code = ERR_peek_last_error();
	bool end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;

	if (end)
		ERR_clear_error();
	return end;
}

/* Certificates */

/* Adds the rest of a chain, which follows the certificate. */
static bool add_chain(SSL_CTX *context, BIO *pem)
{
	X509 *further;

	while ((further = PEM_read_bio_X509(pem, NULL, no_password, NULL))) {
		if (SSL_CTX_add0_chain_cert(context, further) != 1) {
			X509_free(further);
			return false;
		}
	}
	return at_end();
}

static bool add_certificate(SSL_CTX *context, X509 *certificate, BIO *pem)
{
	return SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_clear_chain_certs(context) == 1 &&
	       add_chain(context, pem);
}

static bool add_key(SSL_CTX *context, struct cuttle_pem pem)
{
	BIO *octets = open_pem(pem);
	EVP_PKEY *key = octets ? PEM_read_bio_PrivateKey(octets, NULL, no_password, NULL) : NULL;
	bool used = key && SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;

	EVP_PKEY_free(key);
	BIO_free(octets);
	return used;
}

/* Returns the first certificate of a chain, NULL if there is none. The rest can be read on. */
static X509 *first_certificate(BIO *pem)
{
	return pem ? PEM_read_bio_X509_AUX(pem, NULL, no_password, NULL) : NULL;
}

/* Clients */

/* Adds who may sign clients' certificates. */
static bool add_authorities(SSL_CTX *context, struct cuttle_pem pem)
{
	BIO *octets = open_pem(pem);
	X509_STORE *store = SSL_CTX_get_cert_store(context);
	X509 *authority;
	int count = 0;
	bool fine = octets != NULL;

	while (fine && (authority = PEM_read_bio_X509(octets, NULL, no_password, NULL))) {
		fine = X509_STORE_add_cert(store, authority) == 1 && SSL_CTX_add_client_CA(context, authority) == 1;
		X509_free(authority);
		count++;
	}
	fine = fine && count > 0 && at_end();
	BIO_free(octets);
	return fine;
}

/* Sessions may be resumed only where the same clients are let in: a session keeps its client's certificate. */
static bool name_sessions(SSL_CTX *context, const struct cuttle_tls_options *options)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	EVP_MD_CTX *hash = EVP_MD_CTX_new();
	bool fine = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
		    EVP_DigestUpdate(hash, &options->verify, sizeof options->verify) == 1 &&
		    EVP_DigestUpdate(hash, options->authorities.octets ? options->authorities.octets : "",
				     options->authorities.length) == 1 &&
		    EVP_DigestFinal_ex(hash, digest, &length) == 1;

	EVP_MD_CTX_free(hash);
	return fine && SSL_CTX_set_session_id_context(context, digest, length) == 1;
}

/* Rules */

/* RFC 7301: of what the client offers we speak HTTP/1.1. A client that offers only other protocols is refused, which
 * RFC 7301 (3.2) asks for. */
static int on_alpn(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
		   unsigned offered_length, void *context)
{
	static const unsigned char ours[] = "\x08http/1.1\x08http/1.0";
	unsigned char *found;

	if (SSL_select_next_proto(&found, length, ours, sizeof ours - 1, offered, offered_length) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*chosen = found;
	return SSL_TLSEXT_ERR_OK;
}

static bool set_rules(SSL_CTX *context, const struct cuttle_tls_options *options, struct cuttle_tls_error *error)
{
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
					     SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(context, 1); /* a record's head and its octets by one system call */
	SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
	SSL_CTX_set_verify(context, options->verify, NULL);
	if (SSL_CTX_set_min_proto_version(context, options->minimum) != 1)
		return failed(error, -1, "min_version");
	if (SSL_CTX_set_cipher_list(context, options->ciphers ? options->ciphers : CIPHERS) != 1)
		return failed(error, -1, "ssl_cipher_filter");
	if (options->suites && SSL_CTX_set_ciphersuites(context, options->suites) != 1)
		return failed(error, -1, "ssl_ciphersuites");
	if (options->authorities.octets && !add_authorities(context, options->authorities))
		return failed(error, -1, "ca");
	return name_sessions(context, options) || failed(error, -1, "ca");
}

static SSL_CTX *new_context(const struct cuttle_tls *tls, const struct cuttle_tls_options *options,
			    struct cuttle_tls_error *error)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (!context || !cuttle_tickets_use(tls->tickets, context)) {
		failed(error, -1, "tls");
	} else if (set_rules(context, options, error)) {
		return context;
	}
	SSL_CTX_free(context);
	return NULL;
}

/* Names */

/* Whether two certificates are for the same names: then one context has both, and OpenSSL takes the one whose key a
 * client understands. */
static bool same_names(X509 *one, X509 *other)
{
	int at = X509_get_ext_by_NID(one, NID_subject_alt_name, -1);
	int at_other = X509_get_ext_by_NID(other, NID_subject_alt_name, -1);

	if (at < 0 || at_other < 0)
		return at == at_other && X509_NAME_cmp(X509_get_subject_name(one), X509_get_subject_name(other)) == 0;
	return ASN1_OCTET_STRING_cmp(X509_EXTENSION_get_data(X509_get_ext(one, at)),
				     X509_EXTENSION_get_data(X509_get_ext(other, at_other))) == 0;
}

/* Whether the context's present certificate has these names, and a key of another kind. */
static bool belongs(SSL_CTX *context, X509 *certificate)
{
	X509 *present = SSL_CTX_get0_certificate(context);

	return same_names(present, certificate) &&
	       EVP_PKEY_base_id(X509_get0_pubkey(present)) != EVP_PKEY_base_id(X509_get0_pubkey(certificate));
}

/* RFC 6066, 3: takes the first certificate that is for the name. A name that there is none for gets the first one. */
static int on_name(SSL *ssl, int *alert, void *context)
{
	const struct names *names = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), names_index);
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	for (int index = 0; names && name && index < names->count; index++) {
		if (X509_check_host(SSL_CTX_get0_certificate(names->contexts[index]), name, 0, 0, NULL) != 1)
			continue;
		SSL_set_SSL_CTX(ssl, names->contexts[index]);
		break;
	}
	return SSL_TLSEXT_ERR_OK; /* says to the client that its name counts */
}

/* The first context does not own itself. */
static void on_context_freed(void *context, void *data, CRYPTO_EX_DATA *all, int number, long argument, void *pointer)
{
	struct names *names = data;

	for (int index = 1; names && index < names->count; index++)
		SSL_CTX_free(names->contexts[index]);
	free(names);
}

static bool add_identity(const struct cuttle_tls *tls, const struct cuttle_tls_options *options, int index,
			 struct names *names, struct cuttle_tls_error *error)
{
	const struct cuttle_identity *identity = &options->identities[index];
	BIO *pem = open_pem(identity->chain);
	X509 *certificate = first_certificate(pem);
	SSL_CTX *context = NULL;
	bool fine = certificate != NULL;

	for (int other = 0; fine && other < names->count && !context; other++)
		if (belongs(names->contexts[other], certificate))
			context = names->contexts[other];
	if (fine && !context) {
		context = new_context(tls, options, error);
		if (context)
			names->contexts[names->count++] = context;
	}
	if (!fine || (context && !add_certificate(context, certificate, pem)))
		fine = failed(error, index, "cert");
	else if (context && !add_key(context, identity->key))
		fine = failed(error, index, "key");
	X509_free(certificate);
	BIO_free(pem);
	return fine && context;
}

/* Returns the first context, which owns the others; NULL if something is wrong. */
static SSL_CTX *load(const struct cuttle_tls *tls, const struct cuttle_tls_options *options,
		     struct cuttle_tls_error *error)
{
	struct names *names = calloc(1, sizeof *names + options->count * sizeof(SSL_CTX *));
	bool fine = names != NULL;

	for (size_t index = 0; fine && index < options->count; index++)
		fine = add_identity(tls, options, (int)index, names, error);
	if (fine && names->count > 0 && SSL_CTX_set_ex_data(names->contexts[0], names_index, names) == 1) {
		SSL_CTX_set_tlsext_servername_callback(names->contexts[0], on_name);
		return names->contexts[0];
	}
	if (fine)
		failed(error, -1, "tls");
	for (int index = 0; names && index < names->count; index++)
		SSL_CTX_free(names->contexts[index]);
	free(names);
	return NULL;
}

bool cuttle_tls_load(struct cuttle_tls *tls, const struct cuttle_tls_options *options, struct cuttle_tls_error *error)
{
	SSL_CTX *context, *before;

	ERR_clear_error();
	snprintf(error->reason, sizeof error->reason, "out of memory");
	error->what = "tls";
	error->identity = -1;
	context = load(tls, options, error);
	ERR_clear_error();
	if (!context)
		return false;
	pthread_mutex_lock(&tls->lock);
	before = tls->context;
	tls->context = context;
	pthread_mutex_unlock(&tls->lock);
	SSL_CTX_free(before); /* connections have it still */
	return true;
}

SSL *cuttle_tls_session(struct cuttle_tls *tls)
{
	SSL *ssl;

	pthread_mutex_lock(&tls->lock);
	ssl = tls->context ? SSL_new(tls->context) : NULL;
	pthread_mutex_unlock(&tls->lock);
	if (!ssl)
		ERR_clear_error();
	return ssl;
}

/* The object */

static struct cuttle_tls *tls_of(struct cuttle_security *security)
{
	return (struct cuttle_tls *)security;
}

static int secure(struct cuttle_security *security, struct cuttle_transport *transport, const char *octets,
		  size_t count)
{
	return cuttle_tls_secure(tls_of(security), transport, octets, count);
}

static void share(struct cuttle_security *security)
{
	atomic_fetch_add(&tls_of(security)->owners, 1);
}

static void disown(struct cuttle_security *security)
{
	struct cuttle_tls *tls = tls_of(security);

	if (atomic_fetch_sub(&tls->owners, 1) > 1)
		return;
	SSL_CTX_free(tls->context);
	cuttle_tickets_disown(tls->tickets);
	pthread_mutex_destroy(&tls->lock);
	free(tls);
}

bool cuttle_tls_prepare(void)
{
	names_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_freed);
	return names_index >= 0 && cuttle_tickets_prepare() && cuttle_tls_transport_prepare();
}

struct cuttle_security *cuttle_tls_security(struct cuttle_tls *tls)
{
	return &tls->security;
}

struct cuttle_tls *cuttle_tls_open(const unsigned char secret[CUTTLE_TLS_SECRET])
{
	struct cuttle_tls *tls = calloc(1, sizeof *tls);

	if (!tls)
		return NULL;
	tls->tickets = cuttle_tickets_open(secret);
	if (!tls->tickets) {
		free(tls);
		return NULL;
	}
	tls->security = (struct cuttle_security){.secure = secure, .share = share, .disown = disown};
	atomic_init(&tls->owners, 1);
	pthread_mutex_init(&tls->lock, NULL);
	return tls;
}

#endif
