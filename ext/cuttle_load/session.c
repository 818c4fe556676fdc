/* A session: what it chooses, remembers and checks; see session.h. cookies.c and redirect.c contain parts of it. */
#include "session.h"
#include <stdlib.h>
#include <string.h>

static bool make(struct session *session, const struct session_rules *rules)
{
	session->rules = rules;
	session->kept.body.limit = BODY_LIMIT;
	session->kept.fields.limit = FIELDS_LIMIT;
	session->kept.wants_fields = rules->cookies || rules->follow;
	session->values = calloc(rules->value_count + 1, sizeof(*session->values));
	session->out = malloc(rules->room + 1);
	return session->values && session->out;
}

struct session *sessions_new(const struct session_rules *rules, size_t count)
{
	struct session *sessions = calloc(count, sizeof(*sessions));
	size_t at;

	for (at = 0; sessions && at < count; at++) {
		if (make(&sessions[at], rules))
			continue;
		sessions_free(sessions, count);
		return NULL;
	}
	return sessions;
}

void sessions_free(struct session *sessions, size_t count)
{
	size_t at;

	for (at = 0; sessions && at < count; at++) {
		text_free(&sessions[at].kept.body);
		text_free(&sessions[at].kept.fields);
		free(sessions[at].values);
		free(sessions[at].out);
	}
	free(sessions);
}

/* --- before a request --- */

/* Returns a value that +request+ needs and that is still unknown, or NOWHERE. */
static size_t missing(const struct session *session, const struct request *request)
{
	const struct script *script = request->script;
	size_t at;

	for (at = 0; at < script->need_count; at++)
		if (!session->values[script->needs[at]].known)
			return script->needs[at];
	return NOWHERE;
}

const struct request *session_choose(struct session *session, const struct mix *mix, const struct request *drawn)
{
	const struct request *request = mix->in_order ? &mix->requests[session->step % mix->count] : drawn;
	size_t value, turns;

	session->hops = 0;
	session->changed = session->lost = false;
	for (turns = 0; turns < mix->count; turns++) { /* Ruby refuses requests that need each other */
		value = missing(session, request);
		if (value == NOWHERE)
			break;
		request = session->rules->providers[value];
	}
	if (turns == 0)
		session->step++;
	return request;
}

void session_await(struct session *session, const struct request *request)
{
	session->kept.wants_body = request->script->check_count || request->script->take_count;
}

/* --- after a response --- */

/* Whether the octets are allowed in a head or a path. */
static bool can_be_sent(const char *octets, size_t length)
{
	size_t at;

	for (at = 0; at < length; at++)
		if ((unsigned char)octets[at] < ' ' || octets[at] == 127)
			return false;
	return length <= VALUE_ROOM;
}

static bool take_value(struct session *session, const struct take *take, struct matcher *matcher)
{
	const struct text *body = &session->kept.body;
	struct value *value = &session->values[take->value];
	struct span span;

	if (!pattern_search(&take->pattern, matcher, body->octets, body->length, &span))
		return false;
	if (span.begin == NOWHERE || span.end == NOWHERE ||
	    !can_be_sent(body->octets + span.begin, span.end - span.begin))
		return false;
	value->known = true;
	value->length = span.end - span.begin;
	memcpy(value->octets, body->octets + span.begin, value->length);
	return true;
}

enum failure session_judge(struct session *session, const struct request *request, struct matcher *matcher)
{
	const struct script *script = request->script;
	const struct text *body = &session->kept.body;
	size_t at;

	if (session->lost)
		return FAILURE_REDIRECT;
	for (at = 0; at < script->check_count; at++)
		if (!pattern_search(&script->checks[at], matcher, body->octets, body->length, NULL))
			return FAILURE_CHECK;
	for (at = 0; at < script->take_count; at++)
		if (!take_value(session, &script->takes[at], matcher))
			return FAILURE_CHECK;
	return NO_FAILURE;
}
