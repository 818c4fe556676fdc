/* A fuzzer for where there is only GCC, with the few of libFuzzer's options that rakelib/fuzz.rake uses: mutates inputs
 * and keeps those that reach an edge, or reach one so often, as none did before. The target's sources are compiled with
 * -fsanitize-coverage=trace-pc, this file without. The same seed and directories give the same run with -runs.
 *
 *   mutate [-runs=N] [-max_total_time=SECONDS] [-max_len=OCTETS] [-seed=N] [-keep=0] DIRECTORY...
 *   mutate FILE...                                              runs these inputs again
 *
 * The first directory gets what is kept, unless -keep=0.
 * An input that breaks a property is printed by check.c, or by the sanitizer, and stays in the file "crash" of
 * -artifact_prefix. */
#include "cases.h"
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROOM 32768  /* octets of an input at most */
#define MUTATIONS 6 /* at once, at most */
#define MAP 16384   /* counters of edges */
#define CLASSES 8   /* of how often an edge was passed */
#define KEPT 65536  /* inputs */
#define PATH_ROOM 4096

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);
void __sanitizer_cov_trace_pc(void);
void __sanitizer_set_death_callback(void (*callback)(void));

struct mutant {
	char octets[ROOM];
	size_t length;
};

struct options {
	long runs, seconds;
	size_t longest;
	uint32_t seed;
	int keep;
	const char *written; /* directory, NULL: nothing is written */
};

static struct {
	uint8_t counts[MAP]; /* of the present run */
	uint8_t seen[MAP];   /* bits: classes that any run was in */
	uintptr_t previous;
	unsigned edges, features;
} coverage;

static struct {
	struct input inputs[KEPT];
	size_t count;
} corpus;

void __sanitizer_cov_trace_pc(void)
{
	uintptr_t here = (uintptr_t)__builtin_return_address(0);
	uint8_t *count = &coverage.counts[(here ^ coverage.previous) % MAP];

	*count += *count < UINT8_MAX;
	coverage.previous = here >> 1;
}

/* 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127 and more times: a bit each. */
static uint8_t class_of(uint8_t count)
{
	static const uint8_t least[CLASSES] = {1, 2, 3, 4, 8, 16, 32, 128};
	int class = CLASSES - 1;

	while (count < least[class])
		class --;
	return (uint8_t)(1 << class);
}

/* Whether the run that has just ended was like none before. */
static bool is_new(void)
{
	bool found = false;

	for (size_t index = 0; index < MAP; index++) {
		uint8_t class;

		if (coverage.counts[index] == 0)
			continue;
		class = class_of(coverage.counts[index]);
		if (coverage.seen[index] & class)
			continue;
		coverage.edges += coverage.seen[index] == 0;
		coverage.features++;
		coverage.seen[index] |= class;
		found = true;
	}
	return found;
}

static void write_file(const char *directory, const char *name, struct input input)
{
	char path[PATH_ROOM];
	FILE *file;

	snprintf(path, sizeof path, "%s%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(input.octets, 1, input.length, file) != input.length || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/* What to leave behind when the target ends the program. */
static struct {
	struct input input;
	const char *artifacts;
} present;

static void leave(void)
{
	fprintf(stderr, "the input is in %scrash: ", present.artifacts);
	check_print(present.input.octets, present.input.length);
	write_file(present.artifacts, "crash", present.input);
}

static void leave_aborted(int signal)
{
	(void)signal;
	leave();
	_exit(EXIT_FAILURE);
}

static void run(const char *octets, size_t length)
{
	present.input = (struct input){octets, length};
	memset(coverage.counts, 0, sizeof coverage.counts);
	coverage.previous = 0;
	LLVMFuzzerTestOneInput((const uint8_t *)octets, length);
}

/* Runs it, and keeps it where it is new. directory: where to write it then, NULL: nowhere. */
static void try(const char *octets, size_t length, const char *directory)
{
	char name[32];
	struct input *kept = &corpus.inputs[corpus.count];

	run(octets, length);
	if (!is_new() || corpus.count == KEPT)
		return;
	*kept = (struct input){check_copy(octets, length), length};
	corpus.count++;
	if (!directory)
		return;
	snprintf(name, sizeof name, "/%08x-%zu", (unsigned)check_hash(octets, length), length);
	write_file(directory, name, *kept);
}

static bool read_file(const char *path, struct mutant *mutant)
{
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		return false;
	}
	mutant->length = fread(mutant->octets, 1, ROOM, file);
	fclose(file);
	return true;
}

static void read_directory(const char *directory)
{
	static struct mutant mutant;
	struct dirent **names;
	int count = scandir(directory, &names, NULL, alphasort); /* sorted: the same run again */

	for (int index = 0; index < count; index++) {
		char path[PATH_ROOM];

		snprintf(path, sizeof path, "%s/%s", directory, names[index]->d_name);
		if (*names[index]->d_name != '.' && read_file(path, &mutant))
			try(mutant.octets, mutant.length, NULL);
		free(names[index]);
	}
	if (count >= 0)
		free(names);
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
	static char copy[ROOM];

	if (length > ROOM - mutant->length)
		return;
	memcpy(copy, octets, length); /* they may be the mutant's own */
	memmove(mutant->octets + at + length, mutant->octets + at, mutant->length - at);
	memcpy(mutant->octets + at, copy, length);
	mutant->length += length;
}

static const struct input *any_input(uint32_t *random)
{
	return &corpus.inputs[check_random(random, (uint32_t)corpus.count)];
}

/* The rest is another input's. */
static void splice(struct mutant *mutant, size_t at, uint32_t *random)
{
	const struct input *other = any_input(random);
	size_t from = check_random(random, (uint32_t)other->length + 1);

	cut(mutant, at, mutant->length);
	insert(mutant, at, other->octets + from, other->length - from);
}

static void mutate(struct mutant *mutant, uint32_t *random)
{
	size_t at = check_random(random, (uint32_t)mutant->length + 1), from;
	const struct word *word = &words[check_random(random, (uint32_t)word_count)];

	switch (check_random(random, 10)) {
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
	case 3:
		splice(mutant, at, random);
		break;
	case 4: /* at the beginning of a line */
		while (at > 0 && mutant->octets[at - 1] != '\n')
			at--;
		/* fall through */
	default:
		insert(mutant, at, word->octets, word->length);
	}
}

static long seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Prints what libFuzzer does at its end, as rakelib/fuzz.rake reads it. */
static void fuzz(const struct options *options)
{
	static struct mutant mutant;
	uint32_t random = options->seed;
	long runs, began = seconds();

	if (corpus.count == 0)
		try("", 0, NULL);
	for (runs = 0; options->runs ? runs < options->runs : seconds() - began < options->seconds; runs++) {
		const struct input *begin = any_input(&random);

		memcpy(mutant.octets, begin->octets, begin->length);
		mutant.length = begin->length;
		for (uint32_t left = 1 + check_random(&random, MUTATIONS); left > 0; left--)
			mutate(&mutant, &random);
		if (mutant.length > options->longest)
			mutant.length = options->longest;
		try(mutant.octets, mutant.length, options->written);
	}
	printf("#%ld\tDONE   cov: %u ft: %u corp: %zu seed: %u\nstat::number_of_executed_units: %ld\n", runs,
	       coverage.edges, coverage.features, corpus.count, options->seed, runs);
}

static bool take_option(struct options *options, const char *argument)
{
	if (sscanf(argument, "-runs=%ld", &options->runs) == 1 || sscanf(argument, "-seed=%u", &options->seed) == 1 ||
	    sscanf(argument, "-max_total_time=%ld", &options->seconds) == 1 ||
	    sscanf(argument, "-max_len=%zu", &options->longest) == 1 ||
	    sscanf(argument, "-keep=%d", &options->keep) == 1)
		return true;
	if (strncmp(argument, "-artifact_prefix=", 17) == 0)
		present.artifacts = argument + 17;
	return *argument == '-';
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int main(int count, char **arguments)
{
	static struct mutant mutant;
	struct options options = {.longest = 4096, .seed = 1, .keep = 1};
	bool replayed = false;

	present.artifacts = "./";
	signal(SIGABRT, leave_aborted);
	__sanitizer_set_death_callback(leave);
	for (int index = 1; index < count; index++) {
		if (take_option(&options, arguments[index]))
			continue;
		if (is_directory(arguments[index])) {
			if (options.keep && !options.written)
				options.written = arguments[index];
			read_directory(arguments[index]);
			continue;
		}
		if (!read_file(arguments[index], &mutant))
			return EXIT_FAILURE;
		run(mutant.octets, mutant.length);
		replayed = true;
	}
	if (replayed)
		return EXIT_SUCCESS;
	if (options.runs + options.seconds == 0 || options.seed == 0 || options.longest > ROOM) {
		fprintf(stderr, "mutate: give -runs or -max_total_time, a seed above 0 and a length up to %d\n", ROOM);
		return EXIT_FAILURE;
	}
	fuzz(&options);
	return EXIT_SUCCESS;
}
