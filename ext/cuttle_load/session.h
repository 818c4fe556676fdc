/*
 * What a connection's user has: cookies, values taken from responses, and the place in a mix that is sent in order.
 *
 * Law: a session belongs to one slot of a worker's connections, and outlives the connections that the slot opens. Only
 * plans that need something from responses have sessions; a connection without a session has no extra cost. Its memory
 * is made before the run; only the copies of bodies grow, to the largest body, or to BODY_LIMIT.
 */
#ifndef CUTTLE_LOAD_SESSION_H
#define CUTTLE_LOAD_SESSION_H

#include "mix.h"
#include "response.h"
#include "script.h"
#include "stats.h"

#define BODY_LIMIT ((size_t)1 << 20) /* octets of a body that are looked at */
#define FIELDS_LIMIT ((size_t)1 << 16)

/* Of a plan: what its sessions do. */
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
	size_t step;              /* place in a mix that is sent in order */
	unsigned hops;            /* redirects of the present request that were followed */
	bool changed;             /* one of them made it a GET */
	bool lost;                /* it was redirected more often than allowed */
	size_t location_length, cookies_length;
	char location[LOCATION_ROOM], cookies[COOKIES_ROOM]; /* cookies: the value of a Cookie field */
};

/* Returns +count+ sessions, or NULL if out of memory. */
struct session *sessions_new(const struct session_rules *rules, size_t count);
void sessions_free(struct session *sessions, size_t count);

/* Chooses what to send: +drawn+, or the next of a mix in order, or what provides a value that one needs and that is not
 * known yet. Begins that request. */
const struct request *session_choose(struct session *session, const struct mix *mix, const struct request *drawn);

/* Returns the octets to send: those of +template+, or, if that has no parts, of +request+. They last until the next
 * call. */
const struct piece *session_compose(struct session *session, const struct request *request,
				    const struct template *template);

/* Call it before the response to +request+ comes. */
void session_await(struct session *session, const struct request *request);

/* Takes a response's cookies, and returns what to send if it is a redirect that is followed; else NULL. */
const struct template *session_redirected(struct session *session, const struct request *request, int status);

/* Checks the body and takes its values. Returns NO_FAILURE, or what is wrong with the response. */
enum failure session_judge(struct session *session, const struct request *request, struct matcher *matcher);

#endif
