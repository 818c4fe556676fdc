/* Measures a core's speed with a small interpreter. Anything that slows Ruby down also slows this interpreter down (a
 * lower clock rate, a neighbour on the core's other hardware thread, a shared cache). No system clock shows it. */
#include "speed.h"
#include "clock.h"

#include <sched.h>
#include <stddef.h>

#define CODE 64    /* instructions */
#define WORDS 4096 /* 16 KiB of memory for them */
#define TURNS 50   /* runs of the code between two reads of the clock: a few microseconds */

static uint32_t interpret(const uint8_t *code, uint32_t *memory, uint32_t value)
{
	for (size_t at = 0; at < CODE; at++) {
		uint32_t *word = &memory[(value >> 7) % WORDS];

		/* clang-format off */
		switch (code[at] & 7) {
		case 0: value += *word; break;
		case 1: *word ^= value; break;
		case 2: value = value * 1664525u + 1013904223u; break;
		case 3: value ^= value >> 13; break;
		case 4: *word += value & 0xff; break;
		case 5: value = (value << 5) | (value >> 27); break;
		case 6: if (value & 1) value = ~value; break;
		default: value += (uint32_t)at; break;
		}
		/* clang-format on */
	}
	return value;
}

static double steps_per_second(int64_t nanoseconds)
{
	static uint32_t memory[WORDS]; /* its contents and other writers don't matter; the GVL is held */
	uint8_t code[CODE];
	uint32_t value = 1;
	int64_t begin = clock_thread_cpu(), now = begin;
	uint64_t turns = 0;

	for (size_t at = 0; at < CODE; at++)
		code[at] = (uint8_t)((at * 37u + 11u) >> 2);
	while (now - begin < nanoseconds) {
		for (int turn = 0; turn < TURNS; turn++)
			value = interpret(code, memory, value);
		turns += TURNS;
		now = clock_thread_cpu();
	}
	memory[0] = value;
	return (double)(turns * CODE) * (double)SECOND / (double)(now - begin);
}

double core_speed(int core, int64_t nanoseconds)
{
	cpu_set_t before, there;
	double speed;

	CPU_ZERO(&there);
	CPU_SET((unsigned)core % CPU_SETSIZE, &there);
	if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof before, &before) < 0 ||
	    sched_setaffinity(0, sizeof there, &there) < 0)
		return -1;
	speed = steps_per_second(nanoseconds);
	sched_setaffinity(0, sizeof before, &before);
	return speed;
}
