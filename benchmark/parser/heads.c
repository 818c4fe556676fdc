/*
 * What does the parser alone cost? Parses a head repeatedly from memory that is in the cache, and prints the best of
 * several rounds: the parser's own cost, without interference. benchmark/parser/run builds and runs it.
 *
 *	heads [ROUNDS]
 */
#include "parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEADS_A_ROUND 200000

static const struct {
	const char *name, *octets;
} heads[] = {
	{"wrk, 2 lines", "GET / HTTP/1.1\r\nHost: 127.0.0.1:9292\r\n\r\n"},
	{"curl, 4 lines",
	 "GET /topics?page=2 HTTP/1.1\r\nHost: localhost:9292\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n"},
	{"browser, 13 lines",
	 "GET /topics/17?page=2 HTTP/1.1\r\nHost: www.forum.example\r\nConnection: keep-alive\r\n"
	 "Cache-Control: max-age=0\r\nUpgrade-Insecure-Requests: 1\r\n"
	 "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
	 "Chrome/130.0.0.0 Safari/537.36\r\n"
	 "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
	 "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nReferer: https://www.forum.example/topics/17\r\n"
	 "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9,de;q=0.8\r\n"
	 "Cookie: _forum_session=5f2b9c0d8e7a4b6c9d0e1f2a3b4c5d6e; theme=dark; consent=1\r\n\r\n"},
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds per head. */
static double measure(const char *octets)
{
	static struct cuttle_head head;
	size_t length = strlen(octets);
	double begin = now();

	for (int count = 0; count < HEADS_A_ROUND; count++) {
		struct cuttle_head_state state = {0};

		if (cuttle_parse_head(&state, &head, octets, length) != (int)length)
			abort();
	}
	return (now() - begin) / HEADS_A_ROUND;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	for (size_t index = 0; index < sizeof heads / sizeof *heads; index++) {
		double best = measure(heads[index].octets);

		for (int round = 1; round < rounds; round++) {
			double time = measure(heads[index].octets);

			best = time < best ? time : best;
		}
		printf("%-20s %6zu octets %8.0f ns\n", heads[index].name, strlen(heads[index].octets), best);
	}
	return 0;
}
