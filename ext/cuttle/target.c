/* Request targets and authorities; see target.h. */
#include "target.h"
#include "syntax.h"

#include <arpa/inet.h>
#include <string.h>

static struct cuttle_slice slice(const char *base, const char *from, const char *to)
{
	return (struct cuttle_slice){.offset = (uint32_t)(from - base), .length = (uint32_t)(to - from)};
}

/* RFC 3986's IPvFuture: "v", a version, ".", and what only that version defines. */
static bool future_address(const char *at, const char *end)
{
	const char *dot = at + 1 + cuttle_span(at + 1, (size_t)(end - at - 1), CUTTLE_HEX);

	if ((*at != 'v' && *at != 'V') || dot == at + 1 || dot == end || *dot != '.' || dot + 1 == end)
		return false;
	for (at = dot + 1; at < end; at++)
		if (*at == '%' || (*at != ':' && !cuttle_is(*at, CUTTLE_REG_NAME)))
			return false;
	return true;
}

static bool v6_address(const char *at, const char *end)
{
	struct in6_addr address;
	char text[INET6_ADDRSTRLEN] = "";

	if ((size_t)(end - at) >= sizeof text)
		return false;
	memcpy(text, at, (size_t)(end - at));
	return inet_pton(AF_INET6, text, &address) == 1;
}

/* Returns the position after the "]" of the address that starts with "[" at at, or NULL if it is malformed. */
static const char *ip_literal_end(const char *at, const char *end)
{
	const char *close = memchr(at, ']', (size_t)(end - at));

	if (!close || close == at + 1)
		return NULL;
	return v6_address(at + 1, close) || future_address(at + 1, close) ? close + 1 : NULL;
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

/* Parses host [":" port]. Userinfo is an error, as RFC 9110, 4.2.4 asks. */
static int parse_authority(struct cuttle_slice *host, struct cuttle_slice *port, const char *base, const char *at,
			   const char *end)
{
	const char *host_end = at < end && *at == '[' ? ip_literal_end(at, end)
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
	if (host.length == 0)
		return 400;
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

/* Returns the length of a leading "http://" or "https://", 0 without either. */
static size_t scheme_length(const char *at, const char *end)
{
	size_t length = (size_t)(end - at);

	if (length < 8 || !cuttle_same(at, 4, "http"))
		return 0;
	if (memcmp(at + 4, "://", 3) == 0)
		return 7;
	return (at[4] | 0x20) == 's' && memcmp(at + 5, "://", 3) == 0 ? 8 : 0;
}

/* Parses "http://authority/path?query". The path may be empty, the host may not (RFC 9110, 4.2.1). */
static int parse_absolute(struct cuttle_head *head, const char *base, const char *at, const char *end)
{
	size_t scheme = scheme_length(at, end);
	const char *authority = at + scheme, *authority_end = authority;

	while (authority_end < end && *authority_end != '/' && *authority_end != '?')
		authority_end++;
	if (!scheme || parse_authority(&head->host, &head->port, base, authority, authority_end) ||
	    head->host.length == 0)
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
	if (end - at != 1 || head->method.length != 7 || memcmp(method, "OPTIONS", 7) != 0)
		return 400;
	return split_path(head, base, at, end);
}
