/* The entry point of libFuzzer (and of AFL++ and honggfuzz, which have the same) for the target that FUZZ_TARGET names,
 * "fuzz_head" for instance. An input is what the server would read, and nothing else: a file of the corpus can be sent
 * with netcat, and a request that was recorded can be put into it. */
#include "check.h"

#include <time.h>

/* Processor time, which a program that is stopped or starved doesn't spend: an input that takes longer is one that a
 * peer can keep a server busy with. AddressSanitizer makes everything some times slower. */
#define LONGEST 2 /* seconds */

void FUZZ_TARGET(const char *octets, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct input given = {(const char *)input, length};
	clock_t began = clock();

	FUZZ_TARGET(given.octets, length);
	check_demand(clock() - began <= LONGEST * CLOCKS_PER_SEC, "an input takes little time", given);
	return 0;
}
