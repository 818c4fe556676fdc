/* The native parser's own tests: the table of octets, the cases, and the limits to the octet. Run by rake
 * sanitize:parser; prints what fails. */
#include "cases.h"
#include "check.h"
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syntax.h>

#define METHOD_LIMIT 64 /* octets; parser.c's own */

static unsigned tests, failures;

static void expect(bool met, const char *what, const char *octets, size_t length)
{
	tests++;
	if (met)
		return;
	failures++;
	fprintf(stderr, "%s: ", what);
	check_print(octets, length);
}

static bool letter_or_digit(int octet)
{
	return (octet >= '0' && octet <= '9') || (octet >= 'A' && octet <= 'Z') || (octet >= 'a' && octet <= 'z');
}

static bool one_of(int octet, const char *octets)
{
	return octet > 0 && strchr(octets, octet);
}

/* RFC 9110, 5.5, 5.6.2, 5.6.4; RFC 3986, 2.2 and 2.3. */
static int classes_of(int octet)
{
	bool visible = octet > 0x20 && octet < 0x7f, high = octet >= 0x80, space = one_of(octet, " \t");
	int classes = 0;

	if (letter_or_digit(octet) || one_of(octet, "!#$%&'*+-.^_`|~"))
		classes |= CUTTLE_TOKEN;
	if (visible || high || space)
		classes |= CUTTLE_VALUE;
	if (visible && octet != '#')
		classes |= CUTTLE_TARGET;
	if (letter_or_digit(octet) || one_of(octet, "-._~!$&'()*+;=%"))
		classes |= CUTTLE_REG_NAME;
	if (octet >= '0' && octet <= '9')
		classes |= CUTTLE_DIGIT;
	if (one_of(octet, "0123456789ABCDEFabcdef"))
		classes |= CUTTLE_HEX;
	if ((visible || high || space) && !one_of(octet, "\"\\"))
		classes |= CUTTLE_QUOTED;
	return classes;
}

static void test_table(void)
{
	for (int octet = 0; octet < 256; octet++) {
		char shown = (char)octet;

		expect(cuttle_syntax[octet] == classes_of(octet), "an octet's classes are wrong", &shown, 1);
	}
}

static void test_cases(void)
{
	for (size_t index = 0; index < head_case_count; index++) {
		const struct head_case *test = &head_cases[index];
		int verdict = check_head(test->octets, test->length, 1);

		expect(verdict == test->verdict, "wrong verdict", test->octets, test->length);
	}
	for (size_t index = 0; index < chunk_case_count; index++) {
		const struct chunk_case *test = &chunk_cases[index];
		char *data = malloc(test->length + 1);
		size_t length;
		int verdict = check_chunks(test->octets, test->length, 1, data, &length);
		bool same = length == strlen(test->data) && memcmp(data, test->data, length) == 0;

		expect(same && verdict == test->verdict, "wrong verdict or body", test->octets, test->length);
		free(data);
	}
}

/* prefix, count times filler, suffix */
static char *text(const char *prefix, char filler, size_t count, const char *suffix, size_t *length)
{
	size_t head = strlen(prefix), tail = strlen(suffix);
	char *octets = malloc(head + count + tail);

	memcpy(octets, prefix, head);
	memset(octets + head, filler, count);
	memcpy(octets + head + count, suffix, tail);
	*length = head + count + tail;
	return octets;
}

/* A head that passes with so much filler, gets status with one octet more, and is not waited for without end. */
static void test_limit(const char *prefix, char filler, size_t most, const char *suffix, int status)
{
	size_t length;
	char *octets = text(prefix, filler, most, suffix, &length);

	expect(check_head(octets, length, 1) == (int)length, "refused at its limit", octets, length);
	free(octets);
	octets = text(prefix, filler, most + 1, suffix, &length);
	expect(check_head(octets, length, 1) == -status, "passed beyond its limit", octets, length);
	free(octets);
	octets = text(prefix, filler, CUTTLE_LIMIT_REQUEST_LINE + CUTTLE_LIMIT_FIELD_LINE, "", &length);
	expect(check_head(octets, length, 1) == -status, "waited for beyond its limit", octets, length);
	free(octets);
}

static void test_line_limits(void)
{
	size_t target = CUTTLE_LIMIT_REQUEST_LINE - strlen("GET / HTTP/1.1");

	test_limit("GET /", 'a', target, " HTTP/1.1\r\nHost: a\r\n\r\n", 414);
	test_limit("GET / HTTP/1.1\r\nHost: a\r\nA:", 'a', CUTTLE_LIMIT_FIELD_LINE - 2, "\r\n\r\n", 431);
	test_limit("", 'A', METHOD_LIMIT, " / HTTP/1.1\r\nHost: a\r\n\r\n", 501);
}

/* count fields "A:" and padding more octets */
static char *many_fields(size_t count, size_t padding, size_t *length)
{
	static const char beginning[] = "GET / HTTP/1.0\r\n";
	char *octets = malloc(sizeof beginning + count * (padding + 4) + 2), *at = octets;

	at = (char *)memcpy(at, beginning, sizeof beginning - 1) + sizeof beginning - 1;
	while (count--) {
		at = (char *)memcpy(at, "A:", 2) + 2;
		at = (char *)memset(at, 'a', padding) + padding;
		at = (char *)memcpy(at, "\r\n", 2) + 2;
	}
	at = (char *)memcpy(at, "\r\n", 2) + 2;
	*length = (size_t)(at - octets);
	return octets;
}

static void test_head_limits(void)
{
	for (size_t count = CUTTLE_LIMIT_FIELDS - 1; count <= CUTTLE_LIMIT_FIELDS + 1; count++) {
		size_t length;
		char *octets = many_fields(count, 0, &length);
		int verdict = count <= CUTTLE_LIMIT_FIELDS ? (int)length : -431;

		expect(check_head(octets, length, 1) == verdict, "the limit of fields", octets, length);
		free(octets);
	}
	for (size_t padding = 16360; padding < 16384; padding++) { /* four such fields are about what a head may be */
		size_t length;
		char *octets = many_fields(4, padding, &length);
		int verdict = length <= CUTTLE_LIMIT_HEAD ? (int)length : -431;

		expect(check_head(octets, length, (uint32_t)padding) == verdict, "the limit of a head", octets, length);
		free(octets);
	}
}

static void test_chunk_limit(const char *prefix, char filler, size_t most, const char *suffix, int status)
{
	for (size_t count = most; count <= most + 1; count++) {
		size_t length, data_length;
		char *octets = text(prefix, filler, count, suffix, &length), *data = malloc(length);
		int verdict = check_chunks(octets, length, 1, data, &data_length);

		expect(verdict == (count == most ? 1 : -status), "the limits of chunks", octets, length);
		free(data);
		free(octets);
	}
}

static void test_chunk_limits(void)
{
	test_chunk_limit("", '0', CUTTLE_LIMIT_CHUNK_LINE - 2, "\r\n\r\n", 400);
	test_chunk_limit("0;", 'a', CUTTLE_LIMIT_CHUNK_LINE - 4, "\r\n\r\n", 400);
	test_chunk_limit("0\r\nA:", 'a', CUTTLE_LIMIT_TRAILER - 6, "\r\n\r\n", 431);
}

int main(void)
{
	test_table();
	test_cases();
	test_line_limits();
	test_head_limits();
	test_chunk_limits();
	printf("parser units: %u tests, %u failures\n", tests, failures);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
