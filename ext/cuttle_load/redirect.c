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

static bool is_blank(char octet)
{
	return octet == ' ' || octet == '\t' || octet == '\r';
}

static struct piece trimmed(struct piece value)
{
	while (value.length && is_blank(value.octets[0]))
		value = rest(value, 1);
	while (value.length && is_blank(value.octets[value.length - 1]))
		value.length--;
	return value;
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

/* --- authorities --- */

/* Returns the Host of the last request that was sent; empty if it has none. */
static struct piece present_host(const struct session *session)
{
	struct piece head = *session->sent;
	size_t end;

	while ((end = until(head, '\n')) > 1 && end < head.length) { /* the last line is CR only */
		if (starts(head, "host:", 5))
			return trimmed((struct piece){head.octets + 5, end - 5});
		head = rest(head, end + 1);
	}
	return (struct piece){"", 0};
}

/* Returns the authority after "//"; empty if +location+ does not begin so. */
static struct piece authority_of(struct piece location)
{
	struct piece authority = {location.octets, 0};

	if (starts(location, "//", 2)) {
		authority = rest(location, 2);
		authority.length = until(authority, '/');
		authority.length = until(authority, '?');
	}
	return authority;
}

/* Returns the authority without the port that its scheme has anyway (RFC 3986, 6.2.3). */
static struct piece without_default(struct piece authority, bool tls)
{
	static const struct piece PORTS[] = {{":80", 3}, {":443", 4}};
	const struct piece *port = &PORTS[tls];

	if (authority.length > port->length &&
	    memcmp(authority.octets + authority.length - port->length, port->octets, port->length) == 0)
		authority.length -= port->length;
	return authority;
}

/* Whether both are one server. A location without an authority is none. */
static bool same(struct piece one, struct piece other, bool tls)
{
	one = without_default(one, tls);
	other = without_default(other, tls);
	return one.length && one.length == other.length && starts(one, other.octets, other.length);
}

/* --- targets --- */

/* Follows the path of this server. */
static bool go_absolute(struct session *session, struct piece path)
{
	static const struct piece ROOT = {"/", 1}, NOTHING = {"", 0};

	return go(session, path.length && path.octets[0] == '/' ? NOTHING : ROOT, path);
}

/* Follows a location from "//" on if its authority is this server: +own+, or the present request's Host. */
static bool go_there(struct session *session, struct piece location, struct piece own, bool tls)
{
	struct piece authority = authority_of(location);

	if (!same(authority, own, tls) && !same(authority, present_host(session), tls))
		return false;
	return go_absolute(session, rest(location, authority.length + 2));
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
	struct piece origin = {session->rules->origin, session->rules->origin_length};
	size_t scheme = until(origin, ':') + 1;
	struct piece base = present(session);
	bool absolute;

	location.length = until(location, '#');
	absolute = has_scheme(location);
	if (absolute && !starts(location, origin.octets, scheme))
		return false;
	if (absolute)
		location = rest(location, scheme);
	if (absolute || starts(location, "//", 2))
		return go_there(session, location, authority_of(rest(origin, scheme)), starts(origin, "https:", 6));
	if (location.length && location.octets[0] == '/')
		return go_absolute(session, location);
	base.length = until(base, '?');
	if (location.length && location.octets[0] != '?')
		while (base.length && base.octets[base.length - 1] != '/')
			base.length--;
	return go(session, base, location);
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
