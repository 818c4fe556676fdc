/* Redirects of a session: their targets, and the requests that follow them; see session.h. */
#include "cookies.h"
#include <string.h>
#include <strings.h>

static bool starts(struct piece text, const char *with, size_t length)
{
	return text.length >= length && strncasecmp(text.octets, with, length) == 0;
}

static struct piece rest(struct piece text, size_t from)
{
	return (struct piece){text.octets + from, text.length - from};
}

static size_t until(struct piece text, char octet)
{
	const char *found = text.length ? memchr(text.octets, octet, text.length) : NULL;

	return found ? (size_t)(found - text.octets) : text.length;
}

/* Returns the path and query of the last request that was sent. */
static struct piece present(const struct session *session)
{
	struct piece target = rest(*session->sent, until(*session->sent, ' '));

	if (target.length)
		target = rest(target, 1);
	target.length = until(target, ' ');
	return target;
}

/* Sets the location to two pieces. Returns false if they are too long. */
static bool go(struct session *session, struct piece base, struct piece tail)
{
	if (base.length > LOCATION_ROOM || tail.length > LOCATION_ROOM - base.length)
		return false;
	memcpy(session->location, base.octets, base.length);
	memcpy(session->location + base.length, tail.octets, tail.length);
	session->location_length = base.length + tail.length;
	return true;
}

/* Follows the part after scheme and authority. */
static bool go_absolute(struct session *session, struct piece path)
{
	static const struct piece ROOT = {"/", 1}, NOTHING = {"", 0};

	if (path.length && path.octets[0] != '/' && path.octets[0] != '?')
		return false; /* the authority continues: another host or port */
	return go(session, path.length && path.octets[0] == '/' ? NOTHING : ROOT, path);
}

/* Whether +location+ begins with a scheme (RFC 3986, 3.1). */
static bool has_scheme(struct piece location)
{
	size_t colon = until(location, ':');

	return colon < location.length && colon < until(location, '/') && colon < until(location, '?');
}

/* Resolves +location+ against the present request (RFC 3986, 5.2, but dot segments stay). Returns false if it leads to
 * another server. */
static bool resolve(struct session *session, struct piece location)
{
	const struct session_rules *rules = session->rules;
	size_t scheme = until((struct piece){rules->origin, rules->origin_length}, ':') + 1;
	struct piece base = present(session);

	location.length = until(location, '#');
	if (starts(location, rules->origin, rules->origin_length))
		return go_absolute(session, rest(location, rules->origin_length));
	if (starts(location, "//", 2)) {
		if (!starts(location, rules->origin + scheme, rules->origin_length - scheme))
			return false;
		return go_absolute(session, rest(location, rules->origin_length - scheme));
	}
	if (has_scheme(location))
		return false;
	if (location.length && location.octets[0] == '/')
		return go_absolute(session, location);
	base.length = until(base, '?');
	if (location.length && location.octets[0] != '?')
		while (base.length && base.octets[base.length - 1] != '/')
			base.length--;
	return go(session, base, location);
}

static struct piece trimmed(struct piece value)
{
	while (value.length && (value.octets[value.length - 1] == ' ' || value.octets[value.length - 1] == '\t'))
		value.length--;
	return value;
}

/* Takes cookies, and the Location field if there is one. */
static bool take_fields(struct session *session, struct piece *location)
{
	struct piece fields = {session->kept.fields.octets, session->kept.fields.length};
	bool found = false;

	while (fields.length) {
		size_t end = until(fields, '\n');
		struct piece value = {fields.octets + 1, end ? end - 1 : 0};

		if (end == fields.length)
			break; /* it was cut off */
		if (end && fields.octets[0] == KEPT_COOKIE && session->rules->cookies)
			cookies_set(session, value.octets, value.length);
		if (end && fields.octets[0] == KEPT_LOCATION) {
			*location = trimmed(value);
			found = true;
		}
		fields = rest(fields, end + 1);
	}
	return found;
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* A GET follows 303, and 301 and 302 of a POST, as in browsers. */
static bool changes_method(const struct script *script, int status)
{
	return status == 303 || (script->posts && (status == 301 || status == 302));
}

const struct template *session_redirected(struct session *session, const struct request *request, int status)
{
	const struct script *script = request->script;
	struct piece location = {"", 0};
	bool there = session->kept.wants_fields && take_fields(session, &location);

	if (!there || !script->see_other.count || !is_redirect(status))
		return NULL;
	if (session->hops == session->rules->follow) {
		session->lost = true;
		return NULL;
	}
	if (!resolve(session, location))
		return NULL;
	session->hops++;
	session->changed = session->changed || changes_method(script, status);
	return session->changed ? &script->see_other : &script->again;
}
