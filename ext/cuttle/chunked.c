/* The chunked coding (RFC 9112, 7.1).
 *
 *   SIZE --digits--> EXTENSION --CRLF--> DATA --all--> DATA_CR --> DATA_LF --> SIZE
 *                        `-- size 0 --> TRAILER (fields, dropped) --empty line--> done
 */
#include "parser.h"
#include "syntax.h"

/* The most octets consumed in one call, so that a slice's 32 bits can hold them. */
#define PIECE_LIMIT INT32_MAX

/* clang-format off */
enum phase { SIZE, SIZE_DIGITS, EXTENSION, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER_START, TRAILER_NAME, TRAILER_VALUE,
	     TRAILER_LF, END_LF, DONE };

/* The position in an extension: ";" name ["=" (token or quoted-string)], with white space around ";" and "=". */
enum extension { BEFORE_SEMICOLON, AFTER_SEMICOLON, NAME, AFTER_NAME, AFTER_EQUALS, TOKEN_VALUE, QUOTED, ESCAPED,
		 AFTER_VALUE };
/* clang-format on */

static int digit_value(char octet)
{
	if (octet >= '0' && octet <= '9')
		return octet - '0';
	return cuttle_is(octet, CUTTLE_HEX) ? (octet | 32) - 'a' + 10 : -1;
}

static bool is_space(char octet)
{
	return octet == ' ' || octet == '\t';
}

/* Checks one octet after a chunk's size (RFC 9112, 7.1.1). White space (BWS) may stand around ";" and "=" only: it may
 * not end the line. Returns false for an octet that is not allowed there. */
static bool extension_octet(uint8_t *state, char octet)
{
	bool token = cuttle_is(octet, CUTTLE_TOKEN);

	switch (*state) {
	case AFTER_SEMICOLON:
		if (token)
			*state = NAME;
		return token || is_space(octet);
	case NAME:
		if (token)
			return true;
		/* fall through */
	case AFTER_NAME:
		*state = octet == '=' ? AFTER_EQUALS : octet == ';' ? AFTER_SEMICOLON : AFTER_NAME;
		return octet == '=' || octet == ';' || is_space(octet);
	case AFTER_EQUALS:
		if (!is_space(octet))
			*state = octet == '"' ? QUOTED : TOKEN_VALUE;
		return token || octet == '"' || is_space(octet);
	case QUOTED:
		if (octet == '"')
			*state = AFTER_VALUE;
		else if (octet == '\\')
			*state = ESCAPED;
		return cuttle_is(octet, CUTTLE_QUOTED) || octet == '"' || octet == '\\';
	case ESCAPED:
		*state = QUOTED;
		return cuttle_is(octet, CUTTLE_VALUE);
	case TOKEN_VALUE:
		if (token)
			return true;
		/* fall through */
	default: /* AFTER_VALUE, BEFORE_SEMICOLON */
		*state = octet == ';' ? AFTER_SEMICOLON : BEFORE_SEMICOLON;
		return octet == ';' || is_space(octet);
	}
}

static bool extension_may_end(uint8_t state)
{
	return state == NAME || state == TOKEN_VALUE || state == AFTER_VALUE;
}

/* Takes one octet of a chunk's size line. Returns 0 or the status to answer. */
static int size_octet(struct cuttle_chunk_state *state, char octet)
{
	int digit;

	if (++state->line > CUTTLE_LIMIT_CHUNK_LINE)
		return 400;
	switch (state->phase) {
	case SIZE:
	case SIZE_DIGITS:
		digit = digit_value(octet);
		if (digit >= 0) {
			if (state->left > INT64_MAX >> 4)
				return 400;
			state->left = state->left << 4 | (uint64_t)digit;
			state->phase = SIZE_DIGITS;
			return 0;
		}
		if (state->phase == SIZE)
			return 400;
		if (octet == '\r') {
			state->phase = SIZE_LF;
			return 0;
		}
		state->phase = EXTENSION;
		state->extension = BEFORE_SEMICOLON;
		/* fall through */
	case EXTENSION:
		if (octet == '\r' && extension_may_end(state->extension)) {
			state->phase = SIZE_LF;
			return 0;
		}
		if (++state->extensions > CUTTLE_LIMIT_EXTENSIONS)
			return 400;
		return extension_octet(&state->extension, octet) ? 0 : 400;
	default: /* SIZE_LF */
		if (octet != '\n')
			return 400;
		state->phase = state->left ? DATA : TRAILER_START;
		state->line = 0;
		return 0;
	}
}

/* Takes one octet of the trailer section (RFC 9112, 7.1.2). Its fields are checked for their form and dropped. */
static int trailer_octet(struct cuttle_chunk_state *state, char octet)
{
	if (++state->line > CUTTLE_LIMIT_TRAILER)
		return 431;
	switch (state->phase) {
	case TRAILER_START:
		state->phase = octet == '\r' ? END_LF : TRAILER_NAME;
		return octet == '\r' || cuttle_is(octet, CUTTLE_TOKEN) ? 0 : 400;
	case TRAILER_NAME:
		if (octet == ':')
			state->phase = TRAILER_VALUE;
		return octet == ':' || cuttle_is(octet, CUTTLE_TOKEN) ? 0 : 400;
	case TRAILER_VALUE:
		if (octet == '\r')
			state->phase = TRAILER_LF;
		return octet == '\r' || cuttle_is(octet, CUTTLE_VALUE) ? 0 : 400;
	case TRAILER_LF:
		state->phase = TRAILER_START;
		return octet == '\n' ? 0 : 400;
	default: /* END_LF */
		state->phase = DONE;
		return octet == '\n' ? 0 : 400;
	}
}

/* Takes one octet that is not data. */
static int control_octet(struct cuttle_chunk_state *state, char octet)
{
	switch (state->phase) {
	case DATA_CR:
		state->phase = DATA_LF;
		return octet == '\r' ? 0 : 400;
	case DATA_LF:
		state->phase = SIZE;
		return octet == '\n' ? 0 : 400;
	case SIZE:
	case SIZE_DIGITS:
	case EXTENSION:
	case SIZE_LF:
		return size_octet(state, octet);
	default:
		return trailer_octet(state, octet);
	}
}

int cuttle_parse_chunks(struct cuttle_chunk_state *state, const char *bytes, size_t *length, struct cuttle_slice *data)
{
	size_t at = 0;

	*data = (struct cuttle_slice){0};
	if (*length > PIECE_LIMIT)
		*length = PIECE_LIMIT;
	while (at < *length && state->phase != DATA && state->phase != DONE) {
		int failed = control_octet(state, bytes[at++]);

		if (failed) {
			*length = at;
			return -failed;
		}
	}
	if (state->phase == DATA && at < *length) {
		size_t count = *length - at < state->left ? *length - at : (size_t)state->left;

		*data = (struct cuttle_slice){.offset = (uint32_t)at, .length = (uint32_t)count};
		at += count;
		state->left -= count;
		if (state->left == 0)
			state->phase = DATA_CR;
	}
	*length = at;
	return state->phase == DONE;
}
