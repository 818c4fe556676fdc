/* A fuzzer for where there is only a C compiler: mutates the cases for a while, always in the same way for the same
 * seed. Run by rake sanitize:parser: mutate INPUTS [SEED], or mutate FILE... to give it the inputs that libFuzzer kept.
 * An input that breaks a property is printed by check.c. */
#include "cases.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 4096
#define MUTATIONS 6
#define DEFAULT_SEED 1

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

struct mutant {
	char octets[ROOM];
	size_t length;
};

static void begin(struct mutant *mutant, const char *octets, size_t length)
{
	memcpy(mutant->octets, octets, length);
	mutant->length = length;
}

static void cut(struct mutant *mutant, size_t at, size_t length)
{
	if (length > mutant->length - at)
		length = mutant->length - at;
	memmove(mutant->octets + at, mutant->octets + at + length, mutant->length - at - length);
	mutant->length -= length;
}

static void insert(struct mutant *mutant, size_t at, const char *octets, size_t length)
{
	char copy[ROOM];

	if (length > ROOM - mutant->length)
		return;
	memcpy(copy, octets, length); /* they may be the mutant's own */
	memmove(mutant->octets + at + length, mutant->octets + at, mutant->length - at);
	memcpy(mutant->octets + at, copy, length);
	mutant->length += length;
}

static void mutate(struct mutant *mutant, uint32_t *random)
{
	size_t at = check_random(random, (uint32_t)mutant->length + 1), from;
	const struct word *word = &words[check_random(random, (uint32_t)word_count)];

	switch (check_random(random, 8)) {
	case 0:
		cut(mutant, at, 1 + check_random(random, 4));
		break;
	case 1:
		if (at < mutant->length)
			mutant->octets[at] = (char)check_random(random, 256);
		break;
	case 2: /* some octets again, elsewhere */
		from = check_random(random, (uint32_t)mutant->length + 1);
		insert(mutant, at, mutant->octets + from, check_random(random, (uint32_t)(mutant->length - from) + 1));
		break;
	case 3: /* at the beginning of a line */
		while (at > 0 && mutant->octets[at - 1] != '\n')
			at--;
		/* fall through */
	default:
		insert(mutant, at, word->octets, word->length);
	}
}

/* A head that is right, or now and then one that is not: most mutations make a wrong one of it anyway. */
static void begin_head(struct mutant *mutant, uint32_t *random)
{
	const struct head_case *head;

	do
		head = &head_cases[check_random(random, (uint32_t)head_case_count)];
	while (head->verdict <= 0 && check_random(random, 8) > 0);
	begin(mutant, head->octets, head->length);
}

static void begin_chunks(struct mutant *mutant, uint32_t *random)
{
	const struct chunk_case *chunks;

	do
		chunks = &chunk_cases[check_random(random, (uint32_t)chunk_case_count)];
	while (chunks->verdict <= 0 && check_random(random, 8) > 0);
	begin(mutant, chunks->octets, chunks->length);
}

static bool check(struct mutant *mutant, bool is_head, uint32_t seed)
{
	char data[ROOM];
	size_t length;

	if (is_head)
		return check_head(mutant->octets, mutant->length, seed) > 0;
	return check_chunks(mutant->octets, mutant->length, seed, data, &length) > 0;
}

static void run(long inputs, uint32_t seed)
{
	uint32_t random = seed;
	long accepted = 0;

	for (long count = 0; count < inputs; count++) {
		bool is_head = check_random(&random, 2);
		struct mutant mutant;

		(is_head ? begin_head : begin_chunks)(&mutant, &random);
		for (uint32_t left = check_random(&random, MUTATIONS); left > 0; left--)
			mutate(&mutant, &random);
		accepted += check(&mutant, is_head, random);
	}
	printf("parser mutations: %ld inputs, %ld accepted, seed %u\n", inputs, accepted, seed);
}

static int replay(const char *path)
{
	static uint8_t octets[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t length;

	if (!file) {
		perror(path);
		return EXIT_FAILURE;
	}
	length = fread(octets, 1, sizeof octets, file);
	fclose(file);
	return LLVMFuzzerTestOneInput(octets, length);
}

int main(int count, char **arguments)
{
	char *end;
	long inputs = count > 1 ? strtol(arguments[1], &end, 10) : 0;
	unsigned long seed = count > 2 ? strtoul(arguments[2], NULL, 10) : DEFAULT_SEED;

	if (count > 1 && *end == '\0' && inputs > 0 && seed > 0) {
		run(inputs, (uint32_t)seed);
		return EXIT_SUCCESS;
	}
	for (int index = 1; index < count; index++)
		if (replay(arguments[index]) != EXIT_SUCCESS)
			return EXIT_FAILURE;
	return count > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
