/* The entry point of libFuzzer (and of AFL++ and honggfuzz, which have the same): rake fuzz. An input's first octet
 * chooses the function, and the second how the rest is cut. */
#include "check.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	const char *octets = (const char *)input + 2;
	size_t data_length;
	char *data;

	if (length < 2)
		return 0;
	length -= 2;
	if (input[0] & 1) {
		check_head(octets, length, input[1]);
		return 0;
	}
	data = malloc(length + 1);
	check_chunks(octets, length, input[1], data, &data_length);
	free(data);
	return 0;
}
