/*
 * The state of a connection's user: cookies, values taken from responses, and the position in a mix that is sent in
 * order.
 *
 * Law: a session belongs to one slot of a worker's connections, and outlives the connections that the slot opens. Only
 * plans that use responses have sessions; a connection without a session has no extra cost. Its memory is allocated
 * before the run. Only the copies of bodies grow, up to the largest body, or to BODY_LIMIT.
 */
#ifndef CUTTLE_LOAD_SESSION_H
#define CUTTLE_LOAD_SESSION_H

#include "mix.h"
#include "response.h"
#include "script.h"
#include "stats.h"

#define BODY_LIMIT ((size_t)1 << 20) /* octets of a body that are examined */
#define FIELDS_LIMIT ((size_t)1 << 16)

/* The rules for all sessions of a plan. */
struct session_rules {
	bool used; /* there are sessions */
	bool cookies;
	unsigned follow;    /* redirects to follow, at most */
	const char *origin; /* scheme://authority of the server */
	size_t origin_length, value_count, room;
	const struct request **providers; /* by value: the request whose response has it */
};

struct value {
	bool known;
	size_t length;
	char octets[VALUE_ROOM];
};

struct session {
	const struct session_rules *rules;
	struct response_kept kept;
	struct value *values;
	char *out;                /* rules->room octets */
	struct piece made;        /* the request that was rendered last, in out */
	const struct piece *sent; /* the request that was sent last: made, or its own octets */
	size_t step;              /* position in a mix that is sent in order */
	unsigned hops;            /* number of redirects of the present request so far */
	bool changed;             /* one of them made it a GET */
	bool lost;                /* it was redirected more often than allowed */
	size_t location_length, cookies_length;
	char location[LOCATION_ROOM], cookies[COOKIES_ROOM]; /* cookies: the value of a Cookie field */
};

/* Returns +count+ sessions, or NULL if out of memory. */
struct session *sessions_new(const struct session_rules *rules, size_t count);
void sessions_free(struct session *sessions, size_t count);

/* Chooses the request to send: +drawn+, or the next of a mix in order, or a request that provides a value that is
 * needed and still unknown. Begins that request. */
const struct request *session_choose(struct session *session, const struct mix *mix, const struct request *drawn);

/* Returns the octets to send: those of +template+, or, if it has no parts, those of +request+. They are valid until the
 * next call. */
const struct piece *session_compose(struct session *session, const struct request *request,
				    const struct template *template);

/* Call this before the response to +request+ arrives. */
void session_await(struct session *session, const struct request *request);

/* Takes a response's cookies, and returns the template to send if the response is a redirect to follow; otherwise NULL.
 * */
const struct template *session_redirected(struct session *session, const struct request *request, int status);

/* Checks the body and takes values from it. Returns NO_FAILURE, or what is wrong with the response. */
enum failure session_judge(struct session *session, const struct request *request, struct matcher *matcher);

#endif
