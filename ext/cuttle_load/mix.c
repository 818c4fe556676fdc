/* Chooses the next request; see mix.h. */
#include "mix.h"
#include "random.h"

const struct request *mix_draw(const struct mix *mix, uint64_t number)
{
	size_t low = 0, high = mix->count - 1;
	double share;

	if (mix->in_order)
		return &mix->requests[number / mix->turn % mix->count];
	share = random_unit(random_at(mix->seed, number));
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mix->requests[middle].weight > share)
			high = middle;
		else
			low = middle + 1;
	}
	return &mix->requests[low];
}
