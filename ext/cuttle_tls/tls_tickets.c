/* The keys of session tickets (RFC 5077, RFC 8446 4.6.1); see tls.h.
 *
 *   seed(0) = secret;  seed(n + 1) = H(seed(n), "next");  key(n) = H(seed(n), "key"), H(seed(n), "name")
 *
 * n counts periods of two hours since the secret was made, on the monotonic clock, which all processes of a system
 * share. A seed is forgotten when the next one is made. */
#ifdef CUTTLE_OPENSSL

#include "tls.h"
#include "clock.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#endif

#define PERIOD (2 * 3600) /* seconds */

enum { NAME = 16, AES = 32, MAC = 32 };

/* The octets of one period's keys. */
struct ticket_key {
	unsigned char name[NAME], aes[AES], mac[MAC];
	bool valid;
};

struct cuttle_tickets {
	pthread_mutex_t lock;
	_Atomic unsigned owners;
	uint64_t began;  /* when period 0 began */
	uint64_t period; /* of the seed */
	unsigned char seed[CUTTLE_TLS_SECRET];
	struct ticket_key present, past;
};

static int tickets_index = -1; /* of the tickets in a context */

static void derive(const unsigned char *seed, const char *purpose, unsigned char into[32])
{
	unsigned length = 32;

	if (!HMAC(EVP_sha256(), seed, CUTTLE_TLS_SECRET, (const unsigned char *)purpose, strlen(purpose), into,
		  &length))
		abort(); /* an OpenSSL without SHA-256: the keys would be known to everybody */
}

static void make_keys(struct cuttle_tickets *tickets)
{
	unsigned char name[32];

	derive(tickets->seed, "name", name);
	derive(tickets->seed, "aes", tickets->present.aes);
	derive(tickets->seed, "mac", tickets->present.mac);
	memcpy(tickets->present.name, name, NAME);
	tickets->present.valid = true;
}

/* Goes on to the next period. */
static void turn(struct cuttle_tickets *tickets)
{
	unsigned char next[CUTTLE_TLS_SECRET];

	derive(tickets->seed, "next", next);
	memcpy(tickets->seed, next, sizeof next);
	OPENSSL_cleanse(next, sizeof next);
	tickets->period++;
	tickets->past = tickets->present;
	make_keys(tickets);
}

/* Brings the keys to the present. Call it under the lock. */
static void keep_up(struct cuttle_tickets *tickets)
{
	uint64_t period = (cuttle_now() - tickets->began) / (PERIOD * CUTTLE_SECOND);

	while (tickets->period < period)
		turn(tickets);
}

struct cuttle_tickets *cuttle_tickets_open(const unsigned char secret[CUTTLE_TLS_SECRET])
{
	struct cuttle_tickets *tickets = calloc(1, sizeof *tickets);

	if (!tickets)
		return NULL;
	pthread_mutex_init(&tickets->lock, NULL);
	atomic_init(&tickets->owners, 1);
	tickets->began = cuttle_now();
	memcpy(tickets->seed, secret, sizeof tickets->seed);
	make_keys(tickets);
	return tickets;
}

void cuttle_tickets_disown(struct cuttle_tickets *tickets)
{
	if (atomic_fetch_sub(&tickets->owners, 1) > 1)
		return;
	pthread_mutex_destroy(&tickets->lock);
	OPENSSL_cleanse(tickets, sizeof *tickets);
	free(tickets);
}

/* Copies the key for a new ticket, or the one of that name. Returns 0 if there is none, 1, or 2 if it is to be replaced
 * by a new one. */
static int find_key(struct cuttle_tickets *tickets, const unsigned char *name, struct ticket_key *key)
{
	int found = 0;

	pthread_mutex_lock(&tickets->lock);
	keep_up(tickets);
	if (!name || memcmp(name, tickets->present.name, NAME) == 0)
		found = 1;
	else if (tickets->past.valid && memcmp(name, tickets->past.name, NAME) == 0)
		found = 2;
	*key = found == 2 ? tickets->past : tickets->present;
	pthread_mutex_unlock(&tickets->lock);
	return found;
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
typedef EVP_MAC_CTX mac_context;

static bool set_mac(mac_context *context, struct ticket_key *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac, MAC),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(context, parameters) == 1;
}
#else
typedef HMAC_CTX mac_context;

static bool set_mac(mac_context *context, struct ticket_key *key)
{
	return HMAC_Init_ex(context, key->mac, MAC, EVP_sha256(), NULL) == 1;
}
#endif

/* OpenSSL's question for the keys of a ticket: of a new one (sealing), which gets name and vector, or of one that a
 * client sent. */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *vector, EVP_CIPHER_CTX *cipher, mac_context *mac,
		     int sealing)
{
	struct cuttle_tickets *tickets = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), tickets_index);
	struct ticket_key key;
	int found = tickets ? find_key(tickets, sealing ? NULL : name, &key) : 0;

	if (!found)
		return 0;
	if (sealing) {
		memcpy(name, key.name, NAME);
		if (RAND_bytes(vector, EVP_CIPHER_iv_length(EVP_aes_256_cbc())) != 1)
			found = -1;
	}
	if (found > 0 &&
	    (EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.aes, vector, sealing) != 1 || !set_mac(mac, &key)))
		found = -1;
	OPENSSL_cleanse(&key, sizeof key);
	return found;
}

static void on_context_freed(void *context, void *data, CRYPTO_EX_DATA *all, int index, long number, void *pointer)
{
	if (data)
		cuttle_tickets_disown(data);
}

bool cuttle_tickets_use(struct cuttle_tickets *tickets, SSL_CTX *context)
{
	if (SSL_CTX_set_ex_data(context, tickets_index, tickets) != 1)
		return false;
	atomic_fetch_add(&tickets->owners, 1);
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket);
#else
	SSL_CTX_set_tlsext_ticket_key_cb(context, on_ticket);
#endif
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* the clients keep the sessions */
	SSL_CTX_set_timeout(context, PERIOD);
	return true;
}

bool cuttle_tickets_prepare(void)
{
	tickets_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_freed);
	return tickets_index >= 0;
}

#endif
