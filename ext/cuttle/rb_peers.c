/* Texts of peers' addresses. A connection keeps only its peer's octets. The texts belong to the source, which keeps a
 * fixed number of them, however many connections are open. Each peer has one possible place, and takes it from the
 * previous peer there.
 *
 * Clients named by PROXY headers have places of their own, after those of sockets' peers. There are many of them behind
 * one proxy, and they must not displace the peers of other listeners. */
#include "rb_exchange.h"

#include <stdlib.h>

#define PLACES (2 * CUTTLE_PEERS_KEPT)

static VALUE loopback;

static size_t place_of(const struct cuttle_peer *peer)
{
	uint64_t words[sizeof *peer / sizeof(uint64_t)], mixed;

	memcpy(words, peer, sizeof words);
	mixed = words[0] ^ words[1] ^ words[2];
	mixed = (mixed ^ mixed >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(mixed >> 32) % CUTTLE_PEERS_KEPT + (peer->kind == CUTTLE_PEER_NAMED ? CUTTLE_PEERS_KEPT : 0);
}

static VALUE text_of(const struct cuttle_peer *peer)
{
	char text[CUTTLE_PEER_TEXT];

	if (!cuttle_peer_write(peer, text))
		return loopback;
	return rb_enc_interned_str_cstr(text, rb_usascii_encoding());
}

/* Makes the places, all free. Raises NoMemoryError. */
static void make_places(struct cuttle_source *source)
{
	VALUE texts = rb_ary_new_capa(PLACES);

	rb_ary_store(texts, PLACES - 1, Qnil);
	RB_OBJ_WRITE(source->self, &source->texts, texts);
	source->peers = calloc(PLACES, sizeof *source->peers);
	if (!source->peers)
		rb_memerror();
}

static VALUE kept_text(struct cuttle_source *source, const struct cuttle_peer *peer)
{
	size_t place = place_of(peer);
	VALUE text;

	if (!source->peers)
		make_places(source);
	if (cuttle_peer_same(peer, &source->peers[place]))
		return RARRAY_AREF(source->texts, (long)place);
	text = text_of(peer);
	rb_ary_store(source->texts, (long)place, text);
	source->peers[place] = *peer;
	return text;
}

VALUE cuttle_source_address(struct cuttle_source *source, const struct cuttle_peer *peer)
{
	if (cuttle_peer_same(peer, &source->peer))
		return source->address;
	switch (peer->kind) {
	case CUTTLE_PEER_V4:
	case CUTTLE_PEER_V6:
	case CUTTLE_PEER_NAMED:
		return kept_text(source, peer);
	default:
		return text_of(peer);
	}
}

void cuttle_source_free(struct cuttle_source *source)
{
	free(source->peers);
	source->peers = NULL;
}

size_t cuttle_source_size(const struct cuttle_source *source)
{
	return source->peers ? PLACES * sizeof *source->peers : 0;
}

void Init_cuttle_peers(void)
{
	loopback = rb_enc_interned_str_cstr("127.0.0.1", rb_usascii_encoding());
	rb_gc_register_mark_object(loopback);
}
