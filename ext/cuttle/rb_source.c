/* What Poller and Acceptor share: their options, the listeners, and when to yield the GVL. */
#include "rb_exchange.h"
#include "rb_hijacked.h"
#include "rb_ledger.h"

#include <fcntl.h>
#include <ruby/io.h>

#define GIVE_WAY (1 * CUTTLE_MILLISECOND)

/* The options by type. Those of type OTHER are read where they are used. */
enum kind { TIME, NUMBER, FLAG, OTHER };

static const struct option {
	const char *name;
	enum kind kind;
	size_t member; /* of struct cuttle_limits */
} options_known[] = {
	{"keep_alive", FLAG, offsetof(struct cuttle_limits, keep_alive)},
	{"underscore_headers", FLAG, offsetof(struct cuttle_limits, underscores)},
	{"early_hints", FLAG, offsetof(struct cuttle_limits, early_hints)},
	{"server_timing", FLAG, offsetof(struct cuttle_limits, server_timing)},
	{"header_timeout", TIME, offsetof(struct cuttle_limits, header_timeout)},
	{"body_timeout", TIME, offsetof(struct cuttle_limits, body_timeout)},
	{"idle_timeout", TIME, offsetof(struct cuttle_limits, idle_timeout)},
	{"write_timeout", TIME, offsetof(struct cuttle_limits, write_timeout)},
	{"drain_grace", TIME, offsetof(struct cuttle_limits, drain_grace)},
	{"min_rate", NUMBER, offsetof(struct cuttle_limits, min_rate)},
	{"max_body", NUMBER, offsetof(struct cuttle_limits, max_body)},
	{"max_requests", NUMBER, offsetof(struct cuttle_limits, max_requests)},
	{"max_connections", NUMBER, offsetof(struct cuttle_limits, max_connections)},
	{"write_ahead", NUMBER, offsetof(struct cuttle_limits, write_ahead)},
	{"max_spool", NUMBER, offsetof(struct cuttle_limits, max_spool)},
	{"max_queue", NUMBER, offsetof(struct cuttle_limits, max_queue)},
	{"queue_timeout", TIME, offsetof(struct cuttle_limits, queue_timeout)},
	{"app_timeout", TIME, offsetof(struct cuttle_limits, app_timeout)},
	{"trust", OTHER, 0},
	{"proxy_protocol", OTHER, 0},
	{"tls", OTHER, 0},
	{"spool_directory", OTHER, 0},
	{"half_close", OTHER, 0},
	{"env", OTHER, 0},
	{"parser", OTHER, 0},
	{"shared", OTHER, 0},
	{"scoreboard", OTHER, 0},
	{"place", OTHER, 0},
	{"ledger", OTHER, 0},
	{"hijacked", OTHER, 0},
	{"lane", OTHER, 0},
	{"steady", OTHER, 0},
};

#define OPTIONS (sizeof options_known / sizeof *options_known)

VALUE cuttle_source_option(VALUE options, const char *name)
{
	return NIL_P(options) ? Qnil : rb_hash_aref(options, ID2SYM(rb_intern(name)));
}

static void reject_unknown(VALUE options)
{
	VALUE keys = rb_funcall(options, rb_intern("keys"), 0);

	for (long index = 0; index < RARRAY_LEN(keys); index++) {
		VALUE key = RARRAY_AREF(keys, index);
		size_t number = 0;

		while (number < OPTIONS && key != ID2SYM(rb_intern(options_known[number].name)))
			number++;
		if (number == OPTIONS)
			rb_raise(rb_eArgError, "unknown option: %+" PRIsVALUE, key);
	}
}

static uint64_t seconds(const char *name, VALUE value)
{
	double seconds = NUM2DBL(value);

	if (!(seconds >= 0) || seconds > 1e9)
		rb_raise(rb_eArgError, "%s: not a number of seconds", name);
	return cuttle_nanoseconds(seconds);
}

static uint64_t number(const char *name, VALUE value)
{
	long long number = NUM2LL(value);

	if (number < 0)
		rb_raise(rb_eArgError, "%s: below 0", name);
	return (uint64_t)number;
}

/* Sets a limit that was given; one that is nil stays off. */
static void read_limit(struct cuttle_limits *limits, const struct option *option, VALUE value)
{
	char *member = (char *)limits + option->member;
	uint64_t amount;
	bool flag;

	switch (option->kind) {
	case FLAG:
		flag = RTEST(value);
		memcpy(member, &flag, sizeof flag);
		break;
	case TIME:
	case NUMBER:
		amount = option->kind == TIME ? seconds(option->name, value) : number(option->name, value);
		memcpy(member, &amount, sizeof amount);
		break;
	case OTHER:
		break;
	}
}

static void read_limits(struct cuttle_source *source, VALUE options)
{
	struct cuttle_limits limits = {.keep_alive = true};
	VALUE half_close = cuttle_source_option(options, "half_close");

	for (size_t index = 0; index < OPTIONS; index++) {
		VALUE value = cuttle_source_option(options, options_known[index].name);

		if (!NIL_P(value))
			read_limit(&limits, &options_known[index], value);
	}
	limits.drop_half_closed = !NIL_P(half_close) && strcmp(StringValueCStr(half_close), "drop") == 0;
	if (!source->loop) /* a blocking thread checks no time while it is in the app, and has no queue */
		limits.max_queue = limits.queue_timeout = limits.app_timeout = 0;
	cuttle_core_limit(source->core, &limits);
}

static void read_trusted(struct cuttle_trust *trust, VALUE word)
{
	const char *text = StringValuePtr(word);
	size_t length = (size_t)RSTRING_LEN(word);

	if (length == 4 && memcmp(text, "unix", 4) == 0)
		trust->local = true;
	else if (cuttle_network_parse(&trust->networks[trust->count], text, length))
		trust->count++;
	else
		rb_raise(rb_eArgError, "trust: not an address or a network: %+" PRIsVALUE, word);
}

/* Reads the peers to trust: an Array of addresses, networks and "unix". */
static void read_trust(struct cuttle_source *source, VALUE words)
{
	struct cuttle_trust *trust;

	if (NIL_P(words))
		return;
	Check_Type(words, T_ARRAY);
	if (RARRAY_LEN(words) == 0)
		return;
	trust = calloc(1, sizeof *trust + (size_t)RARRAY_LEN(words) * sizeof *trust->networks);
	if (!trust)
		rb_memerror();
	source->core->trust = trust; /* the core frees it */
	for (long index = 0; index < RARRAY_LEN(words); index++)
		read_trusted(trust, RARRAY_AREF(words, index));
}

/* Reads at which listeners connections of trusted peers begin with a PROXY header: true or false for all, or an Array
 * of these. */
static void read_proxied(struct cuttle_source *source, VALUE listeners, VALUE option)
{
	bool each = RB_TYPE_P(option, T_ARRAY);
	long count = RARRAY_LEN(listeners);

	if (each && RARRAY_LEN(option) != count)
		rb_raise(rb_eArgError, "proxy_protocol: give one value for each listener");
	if (!each && !RTEST(option))
		return;
	source->core->proxied = calloc((size_t)count + 1, sizeof *source->core->proxied); /* the core frees it */
	if (!source->core->proxied)
		rb_memerror();
	for (long index = 0; index < count; index++)
		source->core->proxied[index] = RTEST(each ? RARRAY_AREF(option, index) : option);
}

/* Returns what a Cuttle::Tls, an object of another library, has for transports. */
static struct cuttle_security *security_of(VALUE object)
{
	if (!RB_TYPE_P(object, T_DATA) || !RTYPEDDATA_P(object) ||
	    strcmp(RTYPEDDATA_TYPE(object)->wrap_struct_name, CUTTLE_SECURITY_TYPE) != 0)
		rb_raise(rb_eArgError, "tls: not a " CUTTLE_SECURITY_TYPE ": %+" PRIsVALUE, object);
	return RTYPEDDATA_DATA(object);
}

/* Reads what secures the listeners' connections: nil for no security at all, or an Array with a Cuttle::Tls or nil for
 * each listener. */
static void read_securities(struct cuttle_source *source, VALUE listeners, VALUE option)
{
	struct cuttle_core *core = source->core;
	long count = RARRAY_LEN(listeners);

	if (NIL_P(option))
		return;
	Check_Type(option, T_ARRAY);
	if (RARRAY_LEN(option) != count)
		rb_raise(rb_eArgError, "tls: give one value for each listener");
	core->securities = calloc((size_t)count + 1, sizeof *core->securities); /* the core frees it */
	if (!core->securities)
		rb_memerror();
	for (long index = 0; index < count; index++) {
		VALUE object = RARRAY_AREF(option, index);

		core->security_count = (int)index + 1;
		if (NIL_P(object))
			continue;
		core->securities[index] = security_of(object);
		core->securities[index]->share(core->securities[index]);
	}
}

/* Sockets that the app takes over are noted in this Cuttle::Hijacked; nil: nowhere. */
static void read_hijacked(struct cuttle_source *source, VALUE option)
{
	if (NIL_P(option))
		return;
	source->core->hijacked = cuttle_hijacked_of(option);
	cuttle_hijacked_own(source->core->hijacked);
}

/* Returns the directory for temporary files. It reads the environment once, with the GVL, as Ruby may change it any
 * time. */
static const char *spool_directory(VALUE *option)
{
	const char *variable = getenv("TMPDIR");

	if (!NIL_P(*option))
		return StringValueCStr(*option);
	return variable && *variable ? variable : "/tmp";
}

static void open_spool(struct cuttle_source *source, VALUE options)
{
	VALUE option = cuttle_source_option(options, "spool_directory");
	const char *directory = spool_directory(&option);

	source->core->spool = cuttle_spool_open(directory, source->core->limits.max_spool,
						source->loop ? cuttle_loop_note_spooled : NULL, source->loop);
	RB_GC_GUARD(option);
	if (!source->core->spool)
		rb_memerror();
}

/* Records the first listener's name and port, for requests without an authority (HTTP/1.0 without Host). */
static void remember_local_address(struct cuttle_source *source)
{
	VALUE name = rb_str_new_cstr("localhost"), port = rb_str_new_cstr("80");
	VALUE first = rb_ary_entry(source->listeners, 0);

	if (rb_respond_to(first, rb_intern("local_address"))) {
		VALUE address = rb_funcall(first, rb_intern("local_address"), 0);

		if (RTEST(rb_funcall(address, rb_intern("ip?"), 0))) {
			name = rb_funcall(address, rb_intern("ip_address"), 0);
			port = rb_obj_as_string(rb_funcall(address, rb_intern("ip_port"), 0));
		}
	}
	RB_OBJ_WRITE(source->self, &source->local_name, rb_str_freeze(name));
	RB_OBJ_WRITE(source->self, &source->local_port, rb_str_freeze(port));
}

void cuttle_source_reset(struct cuttle_source *source, VALUE self)
{
	source->self = self;
	source->listeners = source->env = source->usual_env = source->parser = source->address = source->texts = Qnil;
	source->peer.kind = CUTTLE_PEER_NOBODY;
	source->server_name = source->sent_port = source->local_name = source->local_port = Qnil;
}

void cuttle_source_configure(struct cuttle_source *source, VALUE listeners, VALUE options)
{
	VALUE env = cuttle_source_option(options, "env");

	if (!NIL_P(options))
		reject_unknown(options);
	if (NIL_P(env))
		env = rb_hash_new();
	Check_Type(env, T_HASH);
	source->core->source = source;
	read_limits(source, options);
	read_trust(source, cuttle_source_option(options, "trust"));
	read_proxied(source, listeners, cuttle_source_option(options, "proxy_protocol"));
	read_securities(source, listeners, cuttle_source_option(options, "tls"));
	read_hijacked(source, cuttle_source_option(options, "hijacked"));
	open_spool(source, options);
	RB_OBJ_WRITE(source->self, &source->parser, cuttle_source_option(options, "parser"));
	source->core->foreign_parser = !NIL_P(source->parser);
	RB_OBJ_WRITE(source->self, &source->listeners, rb_ary_dup(listeners));
	RB_OBJ_WRITE(source->self, &source->env, cuttle_env_model(source, env));
	remember_local_address(source);
	cuttle_source_keep_ledger(source, options);
}

void cuttle_source_mark(const struct cuttle_source *source)
{
	rb_gc_mark(source->listeners);
	rb_gc_mark(source->env);
	rb_gc_mark(source->usual_env);
	rb_gc_mark(source->parser);
	rb_gc_mark(source->address);
	rb_gc_mark(source->texts);
	rb_gc_mark(source->server_name);
	rb_gc_mark(source->sent_port);
	rb_gc_mark(source->local_name);
	rb_gc_mark(source->local_port);
}

void cuttle_source_compact(struct cuttle_source *source)
{
	source->self = rb_gc_location(source->self);
}

bool cuttle_source_refer(VALUE owner, struct cuttle_connection *connection, enum cuttle_reference which, VALUE object)
{
	struct cuttle_loop *loop = connection->core->loop;
	int failed;

	if (loop)
		pthread_mutex_lock(&loop->lock);
	failed = cuttle_connection_refer(connection, which, object);
	if (loop)
		pthread_mutex_unlock(&loop->lock);
	if (!failed)
		RB_OBJ_WRITTEN(owner, Qundef, object);
	return !failed;
}

void cuttle_references_mark(const struct cuttle_references *references)
{
	for (int which = 0; which < CUTTLE_REFERENCES; which++)
		if (references->objects[which])
			rb_gc_mark((VALUE)references->objects[which]);
}

int cuttle_listener_descriptor(VALUE listener)
{
	int fd = NUM2INT(rb_funcall(listener, rb_intern("fileno"), 0));
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		rb_sys_fail("listener");
	return fd;
}

void cuttle_source_stop(struct cuttle_source *source, int argc, VALUE *argv)
{
	ID name = rb_intern("leave_backlog");
	VALUE options, leave = Qundef;

	rb_scan_args(argc, argv, ":", &options);
	if (!NIL_P(options))
		rb_get_kwargs(options, &name, 0, 1, &leave);
	if (leave != Qundef && RTEST(leave) && !atomic_load(&source->core->stopping))
		atomic_store(&source->core->leave_backlog, true);
	atomic_store(&source->core->stopping, true);
}

void cuttle_source_close_listeners(struct cuttle_source *source)
{
	VALUE listeners = source->listeners;

	for (long index = 0; index < RARRAY_LEN(listeners); index++)
		rb_io_close(RARRAY_AREF(listeners, index));
}

/* Reports with Cuttle.report, which tolerates a full disk, and writes to the $stderr of the calling ractor. */
static void report(VALUE line)
{
	rb_funcall(cuttle_module, rb_intern("report"), 1, line);
}

void cuttle_source_complain(void)
{
	report(rb_str_new_cstr("no connection can be accepted: the process or the system has no "
			       "descriptors or memory left (see ulimit -n); clients wait"));
}

void cuttle_source_complain_of_unproxied(void)
{
	report(rb_str_new_cstr("connections of trusted proxies began without a PROXY header and were "
			       "closed (--proxy-protocol)"));
}

void cuttle_source_complain_of_spool(const struct cuttle_source *source, int error)
{
	VALUE line;

	if (error == CUTTLE_SPOOL_FULL)
		line = rb_sprintf("temporary files have reached their limit of %llu octets (--max-spool): "
				  "requests with a large body get 503, large responses wait for their clients",
				  (unsigned long long)source->core->limits.max_spool);
	else
		line = rb_sprintf("temporary files in %s can't be written (%s): requests with a large body "
				  "get 503, large responses wait for their clients in memory",
				  cuttle_spool_directory(source->core->spool), strerror(error));
	report(line);
}

VALUE cuttle_source_stats(const struct cuttle_counts *counts)
{
	VALUE stats = rb_hash_new();

	rb_hash_aset(stats, ID2SYM(rb_intern("connections")), ULL2NUM(counts->connections));
	rb_hash_aset(stats, ID2SYM(rb_intern("accepted")), ULL2NUM(counts->accepted));
	rb_hash_aset(stats, ID2SYM(rb_intern("requests")), ULL2NUM(counts->requests));
	rb_hash_aset(stats, ID2SYM(rb_intern("dropped")), ULL2NUM(counts->dropped));
	rb_hash_aset(stats, ID2SYM(rb_intern("spooled")), ULL2NUM(counts->spooled));
	rb_hash_aset(stats, ID2SYM(rb_intern("refused")), ULL2NUM(counts->refused));
	rb_hash_aset(stats, ID2SYM(rb_intern("stuck")), ULL2NUM(counts->stuck));
	rb_hash_aset(stats, ID2SYM(rb_intern("unproxied")), ULL2NUM(counts->unproxied));
	return stats;
}

void cuttle_source_give_way(struct cuttle_source *source)
{
	uint64_t now = cuttle_now();

	if (now - source->gave_way < GIVE_WAY)
		return;
	source->gave_way = now;
	rb_thread_schedule();
}
