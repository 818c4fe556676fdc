/* The native parser's own tests: the table of octets, the cases, and the limits to the octet; and those of the ledger.
 * Run by rake sanitize:parser; prints what fails. */
#include "cases.h"
#include "check.h"
#include "targets.h"

#include <ledger.h>
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

static void expect_of(bool met, const char *what, uint64_t number)
{
	char text[32];

	expect(met, what, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)number));
}

/* A bound belongs to the bucket that it ends, the next nanosecond to the next one, and no bucket is wider than a
 * sixteenth of its times. */
static void test_buckets(void)
{
	for (unsigned bucket = 0; bucket < CUTTLE_LEDGER_BUCKETS - 1; bucket++) {
		uint64_t bound = cuttle_ledger_bound(bucket), next = cuttle_ledger_bound(bucket + 1);

		expect_of(cuttle_ledger_bucket(bound) == bucket, "the bucket of a bound", bound);
		expect_of(cuttle_ledger_bucket(bound + 1) == bucket + 1, "the bucket after a bound", bound);
		expect_of(next > bound && (next == UINT64_MAX || next - bound <= bound / 16), "a bound", bound);
	}
	expect_of(cuttle_ledger_bucket(0) == 0, "the bucket of no time", 0);
	expect_of(cuttle_ledger_bucket(UINT64_MAX) == CUTTLE_LEDGER_BUCKETS - 1, "the last bucket", UINT64_MAX);
	expect_of(cuttle_ledger_bound(CUTTLE_LEDGER_BUCKETS - 1) == UINT64_MAX, "the last bound", UINT64_MAX);
}

static void test_ledger(void)
{
	struct cuttle_ledger *ledger = aligned_alloc(64, sizeof *ledger); /* so that it ends where its memory does */
	struct cuttle_phases phases = {.known = 0};
	uint64_t counts[CUTTLE_LEDGER_BUCKETS] = {0}, sum;

	if (!ledger)
		abort();
	memset(ledger, 0, sizeof *ledger);
	for (int phase = 0; phase < CUTTLE_PHASES; phase++)
		cuttle_phase_set(&phases, phase, phase == CUTTLE_PHASE_TOTAL ? UINT64_MAX / 2 : 5000);
	cuttle_ledger_add(ledger, &phases);
	phases.known = 0;
	cuttle_phase_set(&phases, CUTTLE_PHASE_APP, 0);
	cuttle_ledger_add(ledger, &phases);
	sum = cuttle_ledger_read(ledger, CUTTLE_PHASE_APP, counts);
	expect_of(sum == 5000 && counts[0] == 1 && counts[cuttle_ledger_bucket(5000)] == 1, "a phase's times", sum);
	sum = cuttle_ledger_read(ledger, CUTTLE_PHASE_TOTAL, counts);
	expect_of(sum == UINT64_MAX / 2 && counts[CUTTLE_LEDGER_BUCKETS - 1] == 1, "the longest time", sum);
	sum = cuttle_ledger_read(ledger, CUTTLE_PHASE_READ, counts);
	expect_of(sum == 5000 && counts[cuttle_ledger_bucket(5000)] == 2, "counts are added", sum);
	free(ledger);
}

/* The parts of the app's time are all of it; what the clocks say too much is cut. */
static void test_division(void)
{
	struct cuttle_effort effort = {.spent = {.cpu = 700, .gvl = 100, .gc = 200}};
	struct cuttle_phases phases = {.known = 0};
	const uint8_t cpu = 1 << CUTTLE_PHASE_CPU, gvl = 1 << CUTTLE_PHASE_GVL, gc = 1 << CUTTLE_PHASE_GC;

	cuttle_phase_set(&phases, CUTTLE_PHASE_APP, 1000);
	cuttle_phases_divide(&phases, &effort);
	expect_of(phases.known == 1 << CUTTLE_PHASE_APP, "nothing is known", phases.known);
	effort.known = gvl | gc;
	cuttle_phases_divide(&phases, &effort);
	expect_of(!cuttle_phase_known(phases.known, CUTTLE_PHASE_WAIT), "without the CPU's time", phases.known);
	effort.known |= cpu;
	cuttle_phases_divide(&phases, &effort);
	expect_of(phases.at[CUTTLE_PHASE_CPU] == 500, "a collection's time is not the CPU's",
		  phases.at[CUTTLE_PHASE_CPU]);
	expect_of(phases.at[CUTTLE_PHASE_WAIT] == 200, "the rest", phases.at[CUTTLE_PHASE_WAIT]);
	effort.spent.cpu = 100;
	effort.spent.gvl = 5000;
	cuttle_phases_divide(&phases, &effort);
	expect_of(phases.at[CUTTLE_PHASE_CPU] == 0, "no time below 0", phases.at[CUTTLE_PHASE_CPU]);
	expect_of(phases.at[CUTTLE_PHASE_WAIT] == 0, "no rest below 0", phases.at[CUTTLE_PHASE_WAIT]);
}

/* As long as numbers can be, the field fits. */
static void test_rendering(void)
{
	struct cuttle_phases phases = {.known = 0};
	char text[CUTTLE_TIMING_ROOM];
	size_t length;

	expect_of(cuttle_phases_render(&phases, text) == 0, "no phase", 0);
	cuttle_phase_set(&phases, CUTTLE_PHASE_READ, 1234567);
	cuttle_phase_set(&phases, CUTTLE_PHASE_APP, 999);
	cuttle_phase_set(&phases, CUTTLE_PHASE_TOTAL, 1); /* not over yet */
	length = cuttle_phases_render(&phases, text);
	expect(length == strlen("read;dur=1.234, app;dur=0.000") &&
		       !memcmp(text, "read;dur=1.234, app;dur=0.000", length),
	       "two phases", text, length);
	for (int phase = 0; phase < CUTTLE_PHASES; phase++)
		cuttle_phase_set(&phases, phase, UINT64_MAX);
	length = cuttle_phases_render(&phases, text);
	expect(length > 200 && length < sizeof text, "the longest times", text, length);
}

int main(void)
{
	test_buckets();
	test_ledger();
	test_division();
	test_rendering();
	test_table();
	test_cases();
	test_line_limits();
	test_head_limits();
	test_chunk_limits();
	printf("units: %u tests, %u failures\n", tests, failures);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
