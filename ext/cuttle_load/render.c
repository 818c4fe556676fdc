/* Composes a request from a template and a session. The session has room for it: see template_room. */
#include "session.h"
#include <stdio.h>
#include <string.h>

struct writer {
	char *octets; /* NULL: only counts */
	size_t room, length;
};

static void put(struct writer *writer, const char *octets, size_t length)
{
	if (length > writer->room - writer->length)
		length = writer->room - writer->length;
	if (writer->octets)
		memcpy(writer->octets + writer->length, octets, length);
	writer->length += length;
}

static void put_escaped(struct writer *writer, unsigned char octet)
{
	static const char DIGITS[] = "0123456789ABCDEF";
	char escaped[3] = {'%', DIGITS[octet >> 4], DIGITS[octet & 15]};

	put(writer, escaped, sizeof(escaped));
}

static bool unreserved(unsigned char octet)
{
	return (octet >= '0' && octet <= '9') || ((octet | 32) >= 'a' && (octet | 32) <= 'z') ||
	       (octet && strchr("-._~", octet));
}

static bool fits(enum coding coding, unsigned char octet)
{
	switch (coding) {
	case CODING_NONE:
		return true;
	case CODING_PATH:
		return octet > ' ' && octet < 127;
	default: /* CODING_FORM */
		return unreserved(octet);
	}
}

static void put_coded(struct writer *writer, enum coding coding, const char *octets, size_t length)
{
	size_t at;

	for (at = 0; at < length; at++) {
		if (fits(coding, (unsigned char)octets[at]))
			put(writer, octets + at, 1);
		else
			put_escaped(writer, (unsigned char)octets[at]);
	}
}

static void put_cookies(struct writer *writer, const struct session *session)
{
	if (session->cookies_length == 0)
		return;
	put(writer, "Cookie: ", 8);
	put(writer, session->cookies, session->cookies_length);
	put(writer, "\r\n", 2);
}

static void put_part(struct writer *writer, const struct session *session, const struct part *part, size_t body)
{
	const struct value *value;
	char number[24];

	switch (part->kind) {
	case PART_TEXT:
		put(writer, part->octets, part->length);
		break;
	case PART_VALUE:
		value = &session->values[part->value];
		put_coded(writer, part->coding, value->octets, value->length);
		break;
	case PART_LENGTH:
		put(writer, number, (size_t)snprintf(number, sizeof(number), "%zu", body));
		break;
	case PART_COOKIES:
		put_cookies(writer, session);
		break;
	default: /* PART_LOCATION */
		put_coded(writer, CODING_PATH, session->location, session->location_length);
	}
}

static void put_parts(struct writer *writer, const struct session *session, const struct template *template,
		      size_t first, size_t end, size_t body)
{
	for (; first < end; first++)
		put_part(writer, session, &template->parts[first], body);
}

static void render(struct session *session, const struct template *template)
{
	struct writer body = {NULL, session->rules->room, 0}, writer = {session->out, session->rules->room, 0};

	put_parts(&body, session, template, template->body, template->count, 0); /* its length is in the head */
	put_parts(&writer, session, template, 0, template->count, body.length);
	session->made = (struct piece){session->out, writer.length};
}

const struct piece *session_compose(struct session *session, const struct request *request,
				    const struct template *template)
{
	if (template->count)
		render(session, template);
	session->sent = template->count ? &session->made : &request->whole;
	return session->sent;
}
