/* What the Ruby side of the core shares: sources, connections as objects, requests and responses. All of it runs with
 * the GVL, but where it says otherwise. */
#ifndef RB_CUTTLE_H
#define RB_CUTTLE_H

#include "loop.h"

#include <ruby.h>
#include <ruby/encoding.h>

#ifndef RBOOL /* Ruby 3.1 */
#define RBOOL(condition) ((condition) ? Qtrue : Qfalse)
#endif

/* Where connections come from: the Ruby side of a Poller or an Acceptor. */
struct cuttle_source {
	struct cuttle_core *core;
	struct cuttle_loop *loop; /* NULL for an Acceptor */
	VALUE listeners;          /* Array of sockets */
	VALUE env;                /* what each request's env begins as */
	VALUE parser;             /* a Ruby parser's class, nil for the native one */
	VALUE server_name, sent_port; /* the authority seen last, for it seldom changes; it stands in env */
	uint32_t authority;           /* its number: how often it has changed */
	VALUE local_name, local_port; /* where a request names no authority */
	uint64_t gave_way;            /* when a thread let others go before it */
};

/* A connection as Ruby sees it, with the request that it holds and the response that it gets. */
struct cuttle_handle {
	struct cuttle_connection *connection;
	struct cuttle_loop *loop; /* NULL on the blocking side */
	VALUE self;               /* the object around this; not marked */
	VALUE source;
	struct cuttle_source *origin; /* that object's structure */
	VALUE parser;  /* the Ruby parser's instance, nil for the native one */
	VALUE input;   /* the request body's IO, nil without one */
	VALUE env;     /* of the request under way, nil before it was asked for */
	VALUE model;   /* what its next env begins as; nil where that is the source's env */
	uint32_t authority; /* of model, by the source's count */
	VALUE address; /* the peer's, nil until asked for */
	VALUE callbacks;    /* rack.response_finished of env and model */
	bool uncalled;      /* the app has answered, and left it empty */
	uint64_t times[CUTTLE_TIMES], bytes_sent; /* of the response that was finished last */
	uint64_t left;             /* octets that the response still owes its Content-Length */
	enum cuttle_step step;     /* on the blocking side: what the connection waits for */
	VALUE text;                /* a response's head that was not sent yet, nil without one */
	int status;                /* of the final response, 0 before it has begun */
	bool head_request;
	bool chunked;   /* the response's body goes out in chunks */
	bool measured;  /* the response's body has a known length */
	bool encoded;   /* the app has put its body in chunks itself, which are checked on their way */
	bool encoding_complete;
	struct cuttle_chunk_state encoding;
	bool bodiless;  /* the response has no body, whatever the app gives */
	bool finished;  /* the response is complete, or the connection gone */
};

extern VALUE cuttle_module, cuttle_connection_class, cuttle_invalid_response;

/* A source's structure of either class; the second raises TypeError for one that is no Poller. */
struct cuttle_source *cuttle_source_of(VALUE object);
struct cuttle_source *cuttle_poller_source(VALUE object);

/* Initializes what both kinds have in common from their keyword arguments; raises ArgumentError. */
void cuttle_source_configure(VALUE self, struct cuttle_source *source, VALUE listeners, VALUE options);
void cuttle_source_mark(const struct cuttle_source *source);
VALUE cuttle_source_option(VALUE options, const char *name);
/* What a Cuttle::Scoreboard has, where this process has a place in it; else NULL. */
struct cuttle_scoreboard *cuttle_scoreboard_for(VALUE scoreboard);
/* A listening socket's descriptor, made non-blocking. */
int cuttle_listener_descriptor(VALUE listener);
/* Closes the listening sockets. */
void cuttle_source_close_listeners(struct cuttle_source *source);
/* Requests that have begun go before new ones: who comes for work lets those have the GVL who wait for it in the app, at
 * most once in a millisecond. Otherwise they would wait until Ruby takes it away from this thread, for 100 ms and between
 * any two of its steps. With the GVL; may raise what other threads sent to this one. */
void cuttle_source_give_way(struct cuttle_source *source);

/* The object around a connection, made at its first request. */
VALUE cuttle_connection_wrap(VALUE source, struct cuttle_connection *connection);
struct cuttle_handle *cuttle_handle_of(VALUE connection);
/* The peer's IP address, interned. */
VALUE cuttle_remote_address(struct cuttle_handle *handle);
/* Begins a new request on a TAKEN connection. */
void cuttle_handle_begin(struct cuttle_handle *handle);
/* Under the loop's lock, where there is a loop. */
void cuttle_handle_lock(struct cuttle_handle *handle);
void cuttle_handle_unlock(struct cuttle_handle *handle);
/* The response is over: to the next request, or the end. */
void cuttle_handle_finish(struct cuttle_handle *handle);
void cuttle_handle_abort(struct cuttle_handle *handle);

/* Enters into a source's env what requests have in common. */
void cuttle_env_prepare(VALUE env);
/* The Rack env of the request that a connection holds. */
VALUE cuttle_env(struct cuttle_handle *handle);
/* Whether the app wants to be told of the response's end (rack.response_finished). */
bool cuttle_env_has_callbacks(struct cuttle_handle *handle);

/* Parses what a connection has buffered with its Ruby parser. Runs without the loop's lock, on a connection that is in
 * no list. */
enum cuttle_step cuttle_ruby_parse(VALUE connection);

/* Waits without the GVL (or in the fiber scheduler's care) until the descriptor is ready for output, at most
 * nanoseconds. Returns false when the time is over. */
bool cuttle_wait_writable(struct cuttle_handle *handle, uint64_t nanoseconds);

/* A response's head on its way into octets: what it says of its body, and the text itself. */
struct cuttle_response_head {
	char *at;
	size_t length, room;
	VALUE spill;             /* holds the text where fixed is too small */
	uint64_t content_length; /* as the app gave it */
	bool has_length, has_date, close;
	bool chunked; /* by the app itself */
	bool hijack;  /* the app wants the socket behind it */
	char fixed[4096];
};

/* Renders status line and fields, without the empty line. Raises Cuttle::InvalidResponse. */
void cuttle_head_render(struct cuttle_response_head *head, int status, VALUE fields);
void cuttle_head_add(struct cuttle_response_head *head, const char *octets, size_t length);
/* The Content-Length field. */
void cuttle_head_add_length(struct cuttle_response_head *head, uint64_t length);
/* A status as Rack gives it (Integer, or its three digits): 200 to 599, else InvalidResponse. */
int cuttle_status(VALUE status);

void Init_cuttle_scoreboard(void);
void Init_cuttle_poller(void);
void Init_cuttle_acceptor(void);
void Init_cuttle_connection(void);
void Init_cuttle_response(void);
void Init_cuttle_env(void);
void Init_cuttle_ruby_parser(void);
void Init_cuttle_native_parser(void);

#endif
