/* Where connections come from: what the Ruby sides of Poller and Acceptor have in common. */
#ifndef RB_CUTTLE_SOURCE_H
#define RB_CUTTLE_SOURCE_H

#include "loop.h"
#include "rb_cuttle.h"

struct cuttle_source {
	struct cuttle_core *core;
	struct cuttle_loop *loop;     /* NULL for an Acceptor */
	VALUE self;                   /* the object around this; not marked */
	VALUE listeners;              /* Array of sockets */
	VALUE env;                    /* what each request's env begins as */
	VALUE parser;                 /* a Ruby parser's class, nil for the native one */
	VALUE server_name, sent_port; /* the authority seen last, which stands in env: it seldom changes */
	VALUE address;                /* the peer's that stands in env */
	VALUE local_name, local_port; /* where a request names no authority */
	uint64_t gave_way;            /* when a thread let others go before it */
};

/* For an allocated structure. */
void cuttle_source_reset(struct cuttle_source *source, VALUE self);
/* Initializes what both kinds have in common from their keyword arguments; raises ArgumentError. source->core is set. */
void cuttle_source_configure(struct cuttle_source *source, VALUE listeners, VALUE options);
VALUE cuttle_source_option(VALUE options, const char *name);

/* For the typed data of both kinds. The second marks a connection's Ruby objects. */
void cuttle_source_mark(const struct cuttle_source *source);
void cuttle_connection_mark(const struct cuttle_connection *connection);
void cuttle_source_compact(struct cuttle_source *source);

/* What a Cuttle::Scoreboard has, where this process has a place in it; else NULL. */
struct cuttle_scoreboard *cuttle_scoreboard_for(VALUE scoreboard);
/* A listening socket's descriptor, made non-blocking. */
int cuttle_listener_descriptor(VALUE listener);
/* Closes the listening sockets. */
void cuttle_source_close_listeners(struct cuttle_source *source);
/* Writes one line to $stderr about accepts that fail. */
void cuttle_source_complain(void);
/* The same about temporary files; error: what cuttle_spool_complaint said. */
void cuttle_source_complain_of_spool(const struct cuttle_source *source, int error);
/* connections, accepted, requests, dropped, refused, stuck and spooled, as Hash. */
VALUE cuttle_source_stats(const struct cuttle_source *source);

/* Requests that have begun go before new ones: a thread that comes for work first gives the GVL to the threads that
 * wait for it in the app, at most once in a millisecond. Otherwise they would wait until Ruby takes it away from this
 * thread, for 100 ms and between any two of its steps. May raise what other threads sent to this one. */
void cuttle_source_give_way(struct cuttle_source *source);

/* Parses what a connection has buffered with its Ruby parser, which it gets here at its first request; owner marks
 * it. Runs without the loop's lock, on a connection that is in PARSING, and returns with it: the connection is in no list
 * until its step is taken. *raised is what to give to rb_jump_tag then, 0: nothing. */
enum cuttle_step cuttle_foreign_parse(struct cuttle_source *source, VALUE owner, struct cuttle_connection *connection,
				      int *raised);

#endif
