/* The response parser. response.h states its law. */
#include "response.h"
#include <string.h>

/* clang-format off */
enum state {
	STATUS_VERSION, STATUS_MINOR, STATUS_SPACE, STATUS_CODE, STATUS_CODE_END, STATUS_REASON, LINE_LF,
	FIELD_START, FIELD_NAME, FIELD_OWS, FIELD_VALUE, FIELD_LF, HEAD_LF,
	BODY_LENGTH, BODY_CLOSE,
	CHUNK_SIZE, CHUNK_SPACE, CHUNK_EXTENSION, CHUNK_SIZE_LF, CHUNK_DATA, CHUNK_CR, CHUNK_LF,
	TRAILER_START, TRAILER_NAME, TRAILER_VALUE, TRAILER_LF, TRAILER_END_LF,
	COMPLETE, BROKEN
};
/* clang-format on */

enum field { OTHER, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, SET_COOKIE, LOCATION };

static const char VERSION[] = "HTTP/1.";

static bool is_token(unsigned char octet)
{
	static const char SYMBOLS[] = "!#$%&'*+-.^_`|~";

	return (octet >= '0' && octet <= '9') || ((octet | 32) >= 'a' && (octet | 32) <= 'z') ||
	       (octet && strchr(SYMBOLS, octet));
}

/* Whether this octet is allowed in a field value, reason phrase or chunk extension: no controls except HTAB. */
static bool is_text(unsigned char octet)
{
	return octet == '\t' || (octet >= ' ' && octet != 127);
}

static int hex_digit(unsigned char octet)
{
	if (octet >= '0' && octet <= '9')
		return octet - '0';
	octet |= 32;
	return octet >= 'a' && octet <= 'f' ? octet - 'a' + 10 : -1;
}

static bool same(const char *octets, size_t length, const char *word)
{
	size_t at;

	if (length != strlen(word))
		return false;
	for (at = 0; at < length; at++) {
		char octet = octets[at];

		if ((octet >= 'A' && octet <= 'Z' ? octet | 32 : octet) != word[at])
			return false;
	}
	return true;
}

void response_start(struct response *response, bool for_head)
{
	response->head.length = -1;
	response->head.status = 0;
	response->head.chunked = response->head.coded = response->head.old = false;
	response->head.keep_alive = true;
	response->left = 0;
	response->octets = 0;
	response->state = STATUS_VERSION;
	response->place = 0;
	response->for_head = for_head;
	response->begun = false;
	if (response->kept) {
		text_clear(&response->kept->body);
		text_clear(&response->kept->fields);
	}
}

/* --- fields --- */

/* The field whose value is kept although framing doesn't need it. */
static uint8_t kept_field(struct response *response)
{
	static const char COOKIE = KEPT_COOKIE, REDIRECT = KEPT_LOCATION;

	if (same(response->name, response->name_length, "set-cookie")) {
		text_put(&response->kept->fields, &COOKIE, 1);
		return SET_COOKIE;
	}
	if (same(response->name, response->name_length, "location")) {
		text_put(&response->kept->fields, &REDIRECT, 1);
		return LOCATION;
	}
	return OTHER;
}

static uint8_t known_field(struct response *response)
{
	if (same(response->name, response->name_length, "content-length"))
		return CONTENT_LENGTH;
	if (same(response->name, response->name_length, "transfer-encoding"))
		return TRANSFER_ENCODING;
	if (same(response->name, response->name_length, "connection"))
		return CONNECTION;
	return response->kept && response->kept->wants_fields ? kept_field(response) : OTHER;
}

static bool take_length(struct response *response)
{
	int64_t length = 0;
	size_t at;

	if (response->value_length == 0 || response->overlong)
		return false;
	for (at = 0; at < response->value_length; at++) {
		char digit = response->value[at];

		if (digit < '0' || digit > '9' || length > (INT64_MAX - 9) / 10)
			return false;
		length = length * 10 + (digit - '0');
	}
	if (response->head.length >= 0 && response->head.length != length)
		return false;
	response->head.length = length;
	return true;
}

/* Calls +take+ for each member of a comma-separated list until it returns false. */
static bool each_member(struct response *response, bool (*take)(struct response *, const char *, size_t))
{
	const char *at = response->value, *end = at + response->value_length;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *last = comma ? comma : end;

		for (; at < last && (*at == ' ' || *at == '\t'); at++)
			;
		for (; last > at && (last[-1] == ' ' || last[-1] == '\t'); last--)
			;
		if (last > at && !take(response, at, (size_t)(last - at)))
			return false;
		at = comma ? comma + 1 : end;
	}
	return true;
}

/* chunked must be the last coding and occur once (RFC 9112, 6.1). After another last coding, the body ends with the
 * connection. */
static bool take_coding(struct response *response, const char *coding, size_t length)
{
	if (response->head.chunked)
		return false;
	response->head.coded = true;
	response->head.chunked = same(coding, length, "chunked");
	return true;
}

static bool take_connection(struct response *response, const char *option, size_t length)
{
	if (same(option, length, "close"))
		response->head.keep_alive = false;
	return true;
}

/* HTTP/1.0 connections persist only if the server says so. */
static bool take_old_connection(struct response *response, const char *option, size_t length)
{
	if (same(option, length, "keep-alive"))
		response->head.keep_alive = true;
	return take_connection(response, option, length);
}

static bool take_field(struct response *response)
{
	while (response->value_length && (response->value[response->value_length - 1] == ' ' ||
					  response->value[response->value_length - 1] == '\t'))
		response->value_length--;
	switch (response->field) {
	case CONTENT_LENGTH:
		return take_length(response);
	case TRANSFER_ENCODING:
		return !response->overlong && !response->head.old && each_member(response, take_coding);
	case CONNECTION:
		return each_member(response, response->head.old ? take_old_connection : take_connection);
	case SET_COOKIE:
	case LOCATION:
		text_put(&response->kept->fields, "\n", 1);
		return true;
	default:
		return true;
	}
}

/* --- from the head to the body (RFC 9112, 6.3) --- */

static bool without_body(const struct response *response)
{
	return response->for_head || response->head.status == 204 || response->head.status == 304 ||
	       response->head.status == 101;
}

static enum state begin_body(struct response *response)
{
	struct response_head *head = &response->head;

	if (head->coded && head->length >= 0)
		return BROKEN;
	if (head->status < 200 && head->status != 101) {
		response_start(response, response->for_head);
		response->begun = true;
		return STATUS_VERSION;
	}
	if (head->status == 101)
		head->keep_alive = false; /* the connection now uses another protocol */
	if (without_body(response))
		return COMPLETE;
	if (head->chunked) {
		response->left = 0;
		response->place = 0;
		response->octets = 0;
		return CHUNK_SIZE;
	}
	if (!head->coded && head->length >= 0) {
		response->left = head->length;
		return head->length ? BODY_LENGTH : COMPLETE;
	}
	head->keep_alive = false;
	return BODY_CLOSE;
}

/* --- octet by octet --- */

static enum state status_line(struct response *response, unsigned char octet)
{
	switch (response->state) {
	case STATUS_VERSION:
		if (octet != (unsigned char)VERSION[response->place])
			return BROKEN;
		response->begun = true;
		return ++response->place == sizeof(VERSION) - 1 ? STATUS_MINOR : STATUS_VERSION;
	case STATUS_MINOR:
		response->head.old = octet == '0';
		response->head.keep_alive = octet == '1';
		return octet == '0' || octet == '1' ? STATUS_SPACE : BROKEN;
	case STATUS_SPACE:
		response->place = 0;
		return octet == ' ' ? STATUS_CODE : BROKEN;
	case STATUS_CODE:
		if (octet < '0' || octet > '9' || (response->place == 0 && (octet == '0' || octet > '5')))
			return BROKEN;
		response->head.status = response->head.status * 10 + (octet - '0');
		return ++response->place == 3 ? STATUS_CODE_END : STATUS_CODE;
	case STATUS_CODE_END:
		return octet == ' ' ? STATUS_REASON : BROKEN;
	case STATUS_REASON:
		if (octet == '\r')
			return LINE_LF;
		return is_text(octet) ? STATUS_REASON : BROKEN;
	default: /* LINE_LF */
		return octet == '\n' ? FIELD_START : BROKEN;
	}
}

static void keep_name(struct response *response, unsigned char octet)
{
	if (response->name_length < sizeof(response->name))
		response->name[response->name_length++] = (char)octet;
}

static void keep_value(struct response *response, unsigned char octet)
{
	const char kept = (char)octet;

	if (response->field >= SET_COOKIE) {
		text_put(&response->kept->fields, &kept, 1);
		return;
	}
	if (response->value_length < sizeof(response->value))
		response->value[response->value_length++] = (char)octet;
	else if (octet != ' ' && octet != '\t')
		response->overlong = true;
}

static enum state field_line(struct response *response, unsigned char octet)
{
	switch (response->state) {
	case FIELD_START:
		if (octet == '\r')
			return HEAD_LF;
		response->name_length = response->value_length = 0;
		response->overlong = false;
		/* fall through */
	case FIELD_NAME:
		if (octet == ':' && response->state == FIELD_NAME) {
			response->field = known_field(response);
			return FIELD_OWS;
		}
		keep_name(response, octet);
		return is_token(octet) ? FIELD_NAME : BROKEN;
	case FIELD_OWS:
		if (octet == ' ' || octet == '\t')
			return FIELD_OWS;
		/* fall through */
	case FIELD_VALUE:
		if (octet == '\r')
			return FIELD_LF;
		if (response->field != OTHER)
			keep_value(response, octet);
		return is_text(octet) ? FIELD_VALUE : BROKEN;
	case FIELD_LF:
		return octet == '\n' && take_field(response) ? FIELD_START : BROKEN;
	default: /* HEAD_LF */
		return octet == '\n' ? begin_body(response) : BROKEN;
	}
}

/* What may come between a chunk's size and its extension (RFC 9112, 7.1.1). */
static enum state before_extension(unsigned char octet)
{
	if (octet == ' ' || octet == '\t')
		return CHUNK_SPACE;
	return octet == ';' ? CHUNK_EXTENSION : BROKEN;
}

static enum state chunk_line(struct response *response, unsigned char octet)
{
	int digit;

	switch (response->state) {
	case CHUNK_SIZE:
		digit = hex_digit(octet);
		if (digit >= 0) {
			if (++response->place > 15)
				return BROKEN;
			response->left = response->left * 16 + digit;
			return CHUNK_SIZE;
		}
		if (response->place == 0)
			return BROKEN;
		return octet == '\r' ? CHUNK_SIZE_LF : before_extension(octet);
	case CHUNK_SPACE:
		return ++response->octets > RESPONSE_HEAD_LIMIT ? BROKEN : before_extension(octet);
	case CHUNK_EXTENSION:
		if (++response->octets > RESPONSE_HEAD_LIMIT)
			return BROKEN;
		return octet == '\r' ? CHUNK_SIZE_LF : is_text(octet) ? CHUNK_EXTENSION : BROKEN;
	case CHUNK_SIZE_LF:
		response->octets = 0;
		if (octet != '\n')
			return BROKEN;
		return response->left ? CHUNK_DATA : TRAILER_START;
	case CHUNK_CR:
		return octet == '\r' ? CHUNK_LF : BROKEN;
	default: /* CHUNK_LF */
		response->place = 0;
		return octet == '\n' ? CHUNK_SIZE : BROKEN;
	}
}

static enum state trailer_line(struct response *response, unsigned char octet)
{
	if (++response->octets > RESPONSE_HEAD_LIMIT)
		return BROKEN;
	switch (response->state) {
	case TRAILER_START:
		return octet == '\r' ? TRAILER_END_LF : is_token(octet) ? TRAILER_NAME : BROKEN;
	case TRAILER_NAME:
		return octet == ':' ? TRAILER_VALUE : is_token(octet) ? TRAILER_NAME : BROKEN;
	case TRAILER_VALUE:
		return octet == '\r' ? TRAILER_LF : is_text(octet) ? TRAILER_VALUE : BROKEN;
	case TRAILER_LF:
		return octet == '\n' ? TRAILER_START : BROKEN;
	default: /* TRAILER_END_LF */
		return octet == '\n' ? COMPLETE : BROKEN;
	}
}

static enum state step(struct response *response, unsigned char octet)
{
	if (response->state <= HEAD_LF) {
		if (++response->octets > RESPONSE_HEAD_LIMIT)
			return BROKEN;
		return response->state <= LINE_LF ? status_line(response, octet) : field_line(response, octet);
	}
	return response->state <= CHUNK_LF ? chunk_line(response, octet) : trailer_line(response, octet);
}

/* Returns how many of the +available+ octets belong to the body or the chunk, and counts them. */
static size_t pass(struct response *response, size_t available)
{
	if (response->state == BODY_CLOSE)
		return available;
	if ((uint64_t)response->left > available) {
		response->left -= (int64_t)available;
		return available;
	}
	available = (size_t)response->left;
	response->left = 0;
	response->state = response->state == BODY_LENGTH ? COMPLETE : CHUNK_CR;
	return available;
}

/* Skips body octets, or keeps them. Returns how many. */
static size_t skip(struct response *response, const char *octets, size_t available)
{
	size_t passed = pass(response, available);

	if (response->kept && response->kept->wants_body)
		text_put(&response->kept->body, octets, passed);
	return passed;
}

/* Skips octets of a value that framing doesn't need, as in most of a head. Returns how many. */
static size_t skip_value(struct response *response, const char *octets, size_t available)
{
	size_t room = RESPONSE_HEAD_LIMIT - response->octets, at = 0;

	if (available > room)
		available = room;
	while (at < available && is_text((unsigned char)octets[at]))
		at++;
	response->octets += (uint32_t)at;
	return at;
}

static bool in_body(const struct response *response)
{
	return response->state == BODY_LENGTH || response->state == BODY_CLOSE || response->state == CHUNK_DATA;
}

/* --- the memo --- */

static size_t recall(struct response *response, const struct response_memo *memo, const char *octets, size_t length)
{
	if (memo->length == 0 || length < memo->length || memcmp(octets, memo->octets, memo->length))
		return 0;
	response->head = memo->head;
	response->begun = true;
	response->state = begin_body(response);
	return memo->length;
}

/* Remembers a head of +length+ octets that was parsed in one piece. */
static void remember(struct response_memo *memo, const struct response_head *head, const char *octets, size_t length)
{
	if (length > sizeof(memo->octets))
		return;
	memcpy(memo->octets, octets, length);
	memo->length = length;
	memo->head = *head;
}

enum response_result response_feed(struct response *response, struct response_memo *memo, const char *octets,
				   size_t length, size_t *taken)
{
	bool fields = response->kept && response->kept->wants_fields; /* a memo doesn't have them */
	bool whole = memo && !fields && !response->begun && response->state == STATUS_VERSION;
	size_t at = whole ? recall(response, memo, octets, length) : 0;

	while (at < length && response->state < COMPLETE) {
		if (in_body(response)) {
			at += skip(response, octets + at, length - at);
			continue;
		}
		if (response->state == HEAD_LF && whole && octets[at] == '\n' && response->head.status >= 200)
			remember(memo, &response->head, octets, at + 1);
		if (response->state == FIELD_VALUE && response->field == OTHER) {
			at += skip_value(response, octets + at, length - at);
			if (at == length)
				break;
		}
		response->state = step(response, (unsigned char)octets[at++]);
	}
	*taken = at;
	if (response->state == BROKEN)
		return RESPONSE_MALFORMED;
	return response->state == COMPLETE ? RESPONSE_DONE : RESPONSE_MORE;
}

enum response_end response_end(const struct response *response)
{
	if (!response->begun)
		return RESPONSE_END_BETWEEN;
	if (response->state == BODY_CLOSE)
		return RESPONSE_END_DONE;
	return response->state == BODY_LENGTH ? RESPONSE_END_SHORT : RESPONSE_END_EARLY;
}
