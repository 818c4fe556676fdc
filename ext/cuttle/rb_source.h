/* Where connections come from: what Poller and Acceptor share on the Ruby side. */
#ifndef RB_CUTTLE_SOURCE_H
#define RB_CUTTLE_SOURCE_H

#include "loop.h"
#include "rb_cuttle.h"
#include "usual.h"

/* Peers of sockets whose addresses a source keeps as text, and as many clients that PROXY headers named. */
#define CUTTLE_PEERS_KEPT 1024

struct cuttle_source {
	struct cuttle_core *core;
	struct cuttle_loop *loop;     /* NULL for an Acceptor */
	VALUE self;                   /* the object that contains this; not marked */
	VALUE listeners;              /* Array of sockets */
	VALUE env;                    /* the Hash that each request's env starts as */
	struct cuttle_usual usual;    /* the names of the fields that most requests have */
	VALUE usual_env;              /* what the env of such a request starts as; nil: like any other */
	uint32_t usual_entries;       /* which of those fields have an entry in it, by bit */
	int usual_start;              /* which of them is X-Request-Start; -1: none */
	VALUE parser;                 /* a Ruby parser's class, nil for the native one */
	VALUE server_name, sent_port; /* the last authority seen, kept because it seldom changes */
	VALUE address;                /* the address that env holds */
	struct cuttle_peer peer;      /* whose that is */
	struct cuttle_peer *peers;    /* those whose addresses are in texts, each at the same place; NULL: none */
	VALUE texts;                  /* Array of Strings (rb_peers.c); nil while peers is NULL */
	VALUE local_name, local_port; /* used if a request names no authority */
	uint64_t gave_way;            /* when a thread last gave way to others */
};

/* Initializes an allocated structure. */
void cuttle_source_reset(struct cuttle_source *source, VALUE self);
/* Configures a source from its keyword arguments. source->core must be set. Raises ArgumentError. */
void cuttle_source_configure(struct cuttle_source *source, VALUE listeners, VALUE options);
VALUE cuttle_source_option(VALUE options, const char *name);

/* For the typed data of both kinds. cuttle_source_free frees what a source has itself; its core is the caller's. */
void cuttle_source_mark(const struct cuttle_source *source);
void cuttle_source_compact(struct cuttle_source *source);
void cuttle_source_free(struct cuttle_source *source);
/* Octets that cuttle_source_free frees. */
size_t cuttle_source_size(const struct cuttle_source *source);

/* Makes a connection refer to an object, which owner marks: the Poller or the Connection. This and
 * cuttle_connection_forget are the only ways to change references. Returns false without memory. */
bool cuttle_source_refer(VALUE owner, struct cuttle_connection *connection, enum cuttle_reference which, VALUE object);
/* Marks what a connection refers to, for its owner. */
void cuttle_references_mark(const struct cuttle_references *references);

/* Returns a peer's IP address as a frozen String; 127.0.0.1 if it has none. */
VALUE cuttle_source_address(struct cuttle_source *source, const struct cuttle_peer *peer);

/* Returns a Cuttle::Scoreboard's structure. Raises ArgumentError and TypeError. */
struct cuttle_scoreboard *cuttle_scoreboard_of(VALUE scoreboard);
/* Returns a listening socket's descriptor after making it non-blocking. */
int cuttle_listener_descriptor(VALUE listener);
/* Tells the core to stop, with the arguments of Poller#stop. The first call decides about the backlog. Raises
 * ArgumentError. */
void cuttle_source_stop(struct cuttle_source *source, int argc, VALUE *argv);
/* Closes the listening sockets. */
void cuttle_source_close_listeners(struct cuttle_source *source);
/* Writes one line to $stderr about failing accepts. */
void cuttle_source_complain(void);
/* Writes one line to $stderr about temporary files; error is the result of cuttle_spool_complaint. */
void cuttle_source_complain_of_spool(const struct cuttle_source *source, int error);
/* Writes one line to $stderr about connections that were closed for want of a PROXY header. */
void cuttle_source_complain_of_unproxied(void);
/* Returns a Hash of connections, accepted, requests, dropped, refused, stuck, unproxied and spooled. */
VALUE cuttle_source_stats(const struct cuttle_counts *counts);

/* Lets requests that have begun go before new ones: a thread that comes for work gives the GVL to the threads in the
 * app that wait for it, at most once per millisecond. Otherwise they would wait until Ruby preempts this thread, after
 * 100 ms and between any two of its steps. May raise what other threads sent to this one. */
void cuttle_source_give_way(struct cuttle_source *source);

/* Parses what a connection has buffered with its Ruby parser, which is made at the first request; owner marks it. Runs
 * without the loop's lock on a PARSING connection and returns with the lock held: the connection is in no list until
 * its step is taken. *raised becomes the state to pass to rb_jump_tag, 0: none. */
enum cuttle_step cuttle_foreign_parse(struct cuttle_source *source, VALUE owner, struct cuttle_connection *connection,
				      int *raised);

#endif
