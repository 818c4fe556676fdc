/* Writes what fuzzing begins with: seeds DIRECTORY makes a directory for each target, with a file for each case of
 * cases.c and for the inputs below, and DIRECTORY/words.dict, libFuzzer's dictionary. */
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

/* clang-format off */
#define SEED(target, text) {target, text, sizeof(text) - 1}
/* clang-format on */
#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V4 "\xc0\0\2\1\xc0\0\2\2\1\1\0\x50"

/* What a proxy sends. */
static const struct {
	const char *target, *octets;
	size_t length;
} proxy_seeds[] = {
	SEED("proxy_header", "PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\nGET /"),
	SEED("proxy_header", "PROXY TCP6 2001:db8::1 ::ffff:1.2.3.4 0 65535\r\n"),
	SEED("proxy_header", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"),
	SEED("proxy_header", SIGNATURE "\x20\x00\0\4abcdGET"),
	SEED("proxy_header", SIGNATURE "\x21\x11\0\x0c" V4),
	SEED("proxy_header", SIGNATURE "\x21\x12\0\x1a" V4 "\4\0\1a\x20\0\7\1\0\0\0\0\0\0"),
	SEED("proxy_header", SIGNATURE "\x21\x21\0\x24" V4 V4 V4),
	SEED("proxy_header", SIGNATURE "\x21\x31\0\xd8"),
	SEED("proxy_header", SIGNATURE "\x21\x00\x08\x00"),
	SEED("forwarded", "6.6.6.6, 192.0.2.1,10.0.0.1"),
	SEED("forwarded", "[2001:db7::1]:80, 2001:db8::1 ,\t[2001:dbf::1]"),
	SEED("forwarded", "unknown, 192.0.2.1:80, 127.0.0.1"),
	SEED("forwarded", "1:2:3:4:5:6:1.2.3.4, ::ffff:10.0.0.1"),
	SEED("forwarded", "http, wss, https, ftp"),
	SEED("forwarded", "X-Forwarded_For"),
	SEED("forwarded", "Forwarded"),
	SEED("forwarded", "10.0.0.0/8"),
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
	for (size_t index = 0; index < sizeof proxy_seeds / sizeof proxy_seeds[0]; index++)
		write_seed(arguments[1], proxy_seeds[index].target, index, proxy_seeds[index].octets,
			   proxy_seeds[index].length);
	write_words(arguments[1]);
	return EXIT_SUCCESS;
}
