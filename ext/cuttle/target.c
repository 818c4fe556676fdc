/* Request targets and authorities; see target.h. */
#include "target.h"
#include "syntax.h"

#include <string.h>
#include <strings.h>

static struct cuttle_slice slice(const char *base, const char *from, const char *to)
{
	return (struct cuttle_slice){.offset = (uint32_t)(from - base), .length = (uint32_t)(to - from)};
}

/* [IPv6] or [vN.anything]: brackets around hexadecimal digits, colons and dots, or RFC 3986's future form. */
static const char *ip_literal_end(const char *at, const char *end)
{
	const char *close = memchr(at, ']', (size_t)(end - at));
	int colons = 0;

	if (!close || close - at < 3)
		return NULL;
	at++;
	if (*at == 'v' || *at == 'V') {
		const char *digits = at + 1, *dot = digits + cuttle_span(digits, (size_t)(close - digits), CUTTLE_HEX);

		if (dot == digits || dot + 1 >= close || *dot != '.')
			return NULL;
		for (at = dot + 1; at < close; at++)
			if ((!cuttle_is(*at, CUTTLE_REG_NAME) && *at != ':') || *at == '%')
				return NULL;
		return close + 1;
	}
	for (; at < close; at++) {
		if (!cuttle_is(*at, CUTTLE_HEX) && *at != ':' && *at != '.')
			return NULL;
		colons += *at == ':';
	}
	return colons >= 2 && colons <= 8 ? close + 1 : NULL;
}

static bool percent_encoded_well(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at != '%')
			continue;
		if (end - at < 3 || !cuttle_is(at[1], CUTTLE_HEX) || !cuttle_is(at[2], CUTTLE_HEX))
			return false;
		at += 2;
	}
	return true;
}

static bool valid_port(const char *at, const char *end)
{
	unsigned number = 0;

	for (; at < end; at++) {
		if (!cuttle_is(*at, CUTTLE_DIGIT))
			return false;
		number = number * 10 + (unsigned)(*at - '0');
		if (number > 65535)
			return false;
	}
	return true;
}

/* host [":" port]; without userinfo, which RFC 9110, 4.2.4 wants treated as an error. */
static int parse_authority(struct cuttle_slice *host, struct cuttle_slice *port, const char *base, const char *at,
			   const char *end)
{
	const char *host_end = at < end && *at == '['
				       ? ip_literal_end(at, end)
				       : at + cuttle_span(at, (size_t)(end - at), CUTTLE_REG_NAME);

	if (!host_end || !percent_encoded_well(at, host_end))
		return 400;
	*host = slice(base, at, host_end);
	*port = (struct cuttle_slice){0};
	if (host_end == end)
		return 0;
	if (*host_end != ':' || host_end == at || !valid_port(host_end + 1, end))
		return 400;
	*port = slice(base, host_end + 1, end);
	return 0;
}

int cuttle_parse_host(struct cuttle_head *head, const char *base, const char *value, size_t length)
{
	struct cuttle_slice host, port;
	int failed = parse_authority(&host, &port, base, value, value + length);

	if (failed || head->has_host)
		return failed;
	head->has_host = true;
	head->host = host;
	head->port = port;
	return 0;
}

static int split_path(struct cuttle_head *head, const char *base, const char *at, const char *end)
{
	const char *query = memchr(at, '?', (size_t)(end - at));

	head->path = slice(base, at, query ? query : end);
	if (query) {
		head->has_query = true;
		head->query = slice(base, query + 1, end);
	}
	return 0;
}

/* "http://authority/path?query"; the path may be empty, which is "/". */
static int parse_absolute(struct cuttle_head *head, const char *base, const char *at, const char *end)
{
	size_t scheme = (size_t)(end - at) > 7 && strncasecmp(at, "http://", 7) == 0    ? 7
			: (size_t)(end - at) > 8 && strncasecmp(at, "https://", 8) == 0 ? 8
											: 0;
	const char *authority = at + scheme, *authority_end = authority;
	int failed;

	if (!scheme)
		return 400;
	while (authority_end < end && *authority_end != '/' && *authority_end != '?')
		authority_end++;
	failed = authority == authority_end
			 ? 400
			 : parse_authority(&head->host, &head->port, base, authority, authority_end);
	if (failed || head->host.length == 0)
		return 400;
	head->has_host = true;
	return split_path(head, base, authority_end, end);
}

int cuttle_parse_target(struct cuttle_head *head, const char *base)
{
	const char *at = base + head->target.offset, *end = at + head->target.length;
	const char *method = base + head->method.offset;

	if (head->method.length == 7 && memcmp(method, "CONNECT", 7) == 0)
		return 501;
	if (*at == '/')
		return split_path(head, base, at, end);
	if (*at != '*')
		return parse_absolute(head, base, at, end);
	if (end - at != 1)
		return 400;
	if (head->method.length == 7 && memcmp(method, "OPTIONS", 7) == 0)
		return split_path(head, base, at, end);
	/* The HTTP/2 preface, "PRI * HTTP/2.0", has fallen on its version already. */
	return 400;
}
