/* Cuttle::Tls: certificates and rules of a listener, for Poller.new and Acceptor.new. Listeners::Tls in Ruby reads the
 * files. */
#ifdef CUTTLE_OPENSSL

#include "tls.h"

#include <ruby.h>

static VALUE module, error_class;

static void tls_free(void *data)
{
	struct cuttle_security *security = data;

	security->disown(security);
}

/* Connections that outlive the object share it. */
static const rb_data_type_t tls_type = {
	.wrap_struct_name = CUTTLE_SECURITY_TYPE,
	.function = {.dfree = tls_free},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

static struct cuttle_tls *tls_of(VALUE self)
{
	return (struct cuttle_tls *)rb_check_typeddata(self, &tls_type);
}

/* call-seq: Tls.new(secret) -> Tls
 *
 * secret:: 32 random octets, of which the keys of session tickets are made. Make the object before the fork, so that a
 *          client can resume its session with any worker.
 * Connections can't be secured before #load. Raises ArgumentError. */
static VALUE tls_new(VALUE class, VALUE secret)
{
	struct cuttle_tls *tls;

	StringValue(secret);
	if (RSTRING_LEN(secret) != CUTTLE_TLS_SECRET)
		rb_raise(rb_eArgError, "give %d octets", CUTTLE_TLS_SECRET);
	tls = cuttle_tls_open((const unsigned char *)RSTRING_PTR(secret));
	RB_GC_GUARD(secret);
	if (!tls)
		rb_memerror();
	return TypedData_Wrap_Struct(class, &tls_type, cuttle_tls_security(tls));
}

static VALUE option(VALUE options, const char *name)
{
	return rb_hash_aref(options, ID2SYM(rb_intern(name)));
}

/* Returns a String's octets, which live as long as the String; none for nil. */
static struct cuttle_pem pem_of(VALUE string)
{
	if (NIL_P(string))
		return (struct cuttle_pem){NULL, 0};
	StringValue(string);
	return (struct cuttle_pem){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

static const char *text_of(VALUE string)
{
	return NIL_P(string) ? NULL : StringValueCStr(string);
}

static int verify_of(VALUE name)
{
	const char *text = NIL_P(name) ? "none" : StringValueCStr(name);

	if (strcmp(text, "none") == 0)
		return SSL_VERIFY_NONE;
	if (strcmp(text, "peer") == 0)
		return SSL_VERIFY_PEER;
	if (strcmp(text, "force_peer") == 0)
		return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	rb_raise(rb_eArgError, "verify: none, peer or force_peer, not %+" PRIsVALUE, name);
}

static int minimum_of(VALUE name)
{
	const char *text = NIL_P(name) ? "1.2" : StringValueCStr(name);

	if (strcmp(text, "1.2") == 0)
		return TLS1_2_VERSION;
	if (strcmp(text, "1.3") == 0)
		return TLS1_3_VERSION;
	rb_raise(rb_eArgError, "minimum: 1.2 or 1.3, not %+" PRIsVALUE, name);
}

static void read_identities(struct cuttle_identity *into, VALUE list)
{
	for (long index = 0; index < RARRAY_LEN(list); index++) {
		VALUE pair = RARRAY_AREF(list, index);

		Check_Type(pair, T_ARRAY);
		into[index].chain = pem_of(rb_ary_entry(pair, 0));
		into[index].key = pem_of(rb_ary_entry(pair, 1));
	}
}

/* call-seq: load(identities:, authorities: nil, verify: "none", minimum: "1.2", ciphers: nil, suites: nil) -> self
 *
 * From now on new connections use these. Open ones, and sessions that clients resume, are not affected.
 * identities::  an Array of pairs of Strings in PEM: a certificate, which its chain may follow, and its key. The first
 *               one is for clients that name no host, or one that no certificate is for
 * authorities:: certificates in PEM of those who sign clients' certificates
 * verify::      "none", "peer" (a client that has a certificate shows it), "force_peer" (it must have one)
 * minimum::     the oldest version of TLS: "1.2" or "1.3"
 * ciphers, suites:: for TLS 1.2 and TLS 1.3, as OpenSSL writes them
 * Raises Tls::Error, with the index of what is wrong among the identities, or nil; the earlier ones stay in use then.
 */
static VALUE tls_load(int argc, VALUE *argv, VALUE self)
{
	struct cuttle_tls_options options = {0};
	struct cuttle_tls_error error;
	struct cuttle_identity *identities;
	VALUE given, list, buffer, raised;
	bool loaded;

	rb_scan_args(argc, argv, ":", &given);
	list = NIL_P(given) ? Qnil : option(given, "identities");
	Check_Type(list, T_ARRAY);
	options.verify = verify_of(option(given, "verify"));
	options.minimum = minimum_of(option(given, "minimum"));
	options.ciphers = text_of(option(given, "ciphers"));
	options.suites = text_of(option(given, "suites"));
	options.authorities = pem_of(option(given, "authorities"));
	options.count = (size_t)RARRAY_LEN(list);
	if (options.count == 0 || options.count > 1024)
		rb_raise(rb_eArgError, "identities: give 1 to 1024");
	identities = ALLOCV_N(struct cuttle_identity, buffer, options.count);
	read_identities(identities, list);
	options.identities = identities;
	loaded = cuttle_tls_load(tls_of(self), &options, &error);
	ALLOCV_END(buffer);
	RB_GC_GUARD(given);
	RB_GC_GUARD(list);
	if (loaded)
		return self;
	raised = rb_exc_new_cstr(error_class, error.reason);
	rb_ivar_set(raised, rb_intern("@part"), ID2SYM(rb_intern(error.what)));
	rb_ivar_set(raised, rb_intern("@index"), error.identity < 0 ? Qnil : INT2FIX(error.identity));
	rb_exc_raise(raised);
}

/* What Ruby calls when the library is loaded. */
RUBY_FUNC_EXPORTED void Init_tls(void)
{
	VALUE class;

	rb_ext_ractor_safe(true);
	if (!cuttle_tls_prepare())
		rb_memerror();
	module = rb_define_module("Cuttle");
	class = rb_define_class_under(module, "Tls", rb_cObject);
	error_class = rb_define_class_under(class, "Error", rb_eStandardError);
	rb_gc_register_mark_object(error_class);
	rb_define_attr(error_class, "part", 1, 0);
	rb_define_attr(error_class, "index", 1, 0);
	rb_undef_alloc_func(class);
	rb_define_singleton_method(class, "new", tls_new, 1);
	rb_define_method(class, "load", tls_load, -1);
	rb_define_const(class, "LIBRARY", rb_str_freeze(rb_str_new_cstr(OpenSSL_version(OPENSSL_VERSION))));
}

#endif
