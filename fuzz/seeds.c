/* Writes what fuzzing begins with: seeds DIRECTORY makes DIRECTORY/head/ and DIRECTORY/chunks/, a file for each case of
 * cases.c and for inputs at the limits, and DIRECTORY/words.dict, libFuzzer's dictionary. */
#include "cases.h"
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_ROOM 4096
#define LONG 900 /* the number of the first long seed */

static FILE *create(const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	return file;
}

static void write_seed(const char *directory, const char *target, size_t number, const char *octets, size_t length)
{
	char path[PATH_ROOM];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, target);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		perror(path);
	snprintf(path, sizeof path, "%s/%s/%03zu", directory, target, number);
	file = create(path);
	fwrite(octets, 1, length, file);
	fclose(file);
}

/* An input at a limit: before, so much filler, after; all of it some times; and the end. A mutation is unlikely to come
 * upon one, and there is one octet less, and one and two more. */
static const struct long_seed {
	const char *target, *before, *after, *end;
	size_t filler;
	unsigned times;
} long_seeds[] = {
	{"head", "GET /", " HTTP/1.1\r\n", "Host: a\r\n\r\n", CUTTLE_LIMIT_REQUEST_LINE - 14, 1},
	{"head", "GET / HTTP/1.1\r\nHost: a\r\nA:", "\r\n", "\r\n", CUTTLE_LIMIT_FIELD_LINE - 2, 1},
	{"head", "GET / HTTP/1.1\r\nHost: ", "\r\n", "\r\n", CUTTLE_LIMIT_FIELD_LINE - 6, 1},
	{"head", "", " / HTTP/1.0\r\n", "\r\n", 64, 1},
	{"chunks", "1;", "\r\na\r\n", "0\r\n\r\n", CUTTLE_LIMIT_CHUNK_LINE - 4, 1},
	{"chunks", "1;", "\r\na\r\n", "0\r\n\r\n", CUTTLE_LIMIT_EXTENSIONS / 8 - 1, 8},
	{"chunks", "1;a=\"", "\"\r\na\r\n", "0\r\n\r\n", CUTTLE_LIMIT_EXTENSIONS / 8 - 5, 8},
	{"chunks", "1;", "\r\na\r\n", "0;b\r\nA: b\r\n\r\n", CUTTLE_LIMIT_CHUNK_LINE - 100, 2},
	{"chunks", "0\r\nA:", "\r\n", "\r\n", CUTTLE_LIMIT_TRAILER - 6, 1},
	{"chunks", "0\r\nA:", "\r\n", "B: c\r\n\r\n", CUTTLE_LIMIT_TRAILER - 12, 1},
	{"chunks", "1000\r\n", "\r\n", "0\r\n\r\n", 0x1000, 3},
};

static size_t append(char *octets, size_t at, const char *text)
{
	memcpy(octets + at, text, strlen(text));
	return at + strlen(text);
}

static void write_long_seed(const char *directory, const struct long_seed *seed, size_t filler, size_t number)
{
	size_t length = 0, part = strlen(seed->before) + filler + strlen(seed->after);
	char *octets = malloc(seed->times * part + strlen(seed->end));

	for (unsigned time = 0; time < seed->times; time++) {
		length = append(octets, length, seed->before);
		memset(octets + length, 'a', filler);
		length = append(octets, length + filler, seed->after);
	}
	length = append(octets, length, seed->end);
	write_seed(directory, seed->target, number, octets, length);
	free(octets);
}

static void write_words(const char *directory)
{
	char path[PATH_ROOM];
	FILE *file;

	snprintf(path, sizeof path, "%s/words.dict", directory);
	file = create(path);
	for (size_t index = 0; index < word_count; index++) {
		fputc('"', file);
		for (size_t at = 0; at < words[index].length; at++)
			fprintf(file, "\\x%02x", (unsigned char)words[index].octets[at]);
		fputs("\"\n", file);
	}
	fclose(file);
}

int main(int count, char **arguments)
{
	if (count != 2)
		return EXIT_FAILURE;
	for (size_t index = 0; index < head_case_count; index++)
		write_seed(arguments[1], "head", index, head_cases[index].octets, head_cases[index].length);
	for (size_t index = 0; index < chunk_case_count; index++)
		write_seed(arguments[1], "chunks", index, chunk_cases[index].octets, chunk_cases[index].length);
	for (size_t index = 0; index < sizeof long_seeds / sizeof long_seeds[0]; index++)
		for (size_t more = 0; more < 4; more++)
			write_long_seed(arguments[1], &long_seeds[index], long_seeds[index].filler - 1 + more,
					LONG + 4 * index + more);
	write_words(arguments[1]);
	return EXIT_SUCCESS;
}
