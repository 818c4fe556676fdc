/* Pseudo-random numbers: SplitMix64 (Steele, Lea, Flood 2014). A seed makes a run repeatable. Not for secrets. */
#ifndef CUTTLE_LOAD_RANDOM_H
#define CUTTLE_LOAD_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t random_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Returns the next number of a sequence. */
static inline uint64_t random_next(uint64_t *state)
{
	return random_mix(*state += RANDOM_STEP);
}

/* Returns number +index+ of the sequence that +seed+ starts. It is the same for every thread, in any order. */
static inline uint64_t random_at(uint64_t seed, uint64_t index)
{
	return random_mix(random_mix(seed + RANDOM_STEP) + (index + 1) * RANDOM_STEP);
}

/* Converts to [0, 1), with 53 bits. */
static inline double random_unit(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1.0p-53;
}

#endif
