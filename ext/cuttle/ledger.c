/* Histograms of where requests spend their time; see ledger.h. */
#include "ledger.h"

#include <assert.h>
#include <stdio.h>

static_assert(CUTTLE_LEDGER_PARTS == 16, "cuttle_ledger_bucket takes four bits of a time");

static const char *const names[CUTTLE_PHASES] = {
	[CUTTLE_PHASE_ACCEPT] = "accept", [CUTTLE_PHASE_READ] = "read", [CUTTLE_PHASE_QUEUE] = "queue",
	[CUTTLE_PHASE_APP] = "app",       [CUTTLE_PHASE_CPU] = "cpu",   [CUTTLE_PHASE_GVL] = "gvl",
	[CUTTLE_PHASE_GC] = "gc",         [CUTTLE_PHASE_WAIT] = "wait", [CUTTLE_PHASE_WRITE] = "write",
	[CUTTLE_PHASE_TOTAL] = "total",
};

const char *cuttle_phase_name(enum cuttle_phase phase)
{
	return names[phase];
}

/* A collection's time is on the CPU's clock too, or almost. */
void cuttle_phases_divide(struct cuttle_phases *phases, const struct cuttle_effort *effort)
{
	uint64_t app = phases->at[CUTTLE_PHASE_APP];
	uint64_t gvl = cuttle_phase_known(effort->known, CUTTLE_PHASE_GVL) ? effort->spent.gvl : 0;
	uint64_t gc = cuttle_phase_known(effort->known, CUTTLE_PHASE_GC) ? effort->spent.gc : 0;
	uint64_t cpu = cuttle_between(gc, effort->spent.cpu);

	if (cuttle_phase_known(effort->known, CUTTLE_PHASE_GVL))
		cuttle_phase_set(phases, CUTTLE_PHASE_GVL, gvl);
	if (cuttle_phase_known(effort->known, CUTTLE_PHASE_GC))
		cuttle_phase_set(phases, CUTTLE_PHASE_GC, gc);
	if (!cuttle_phase_known(effort->known, CUTTLE_PHASE_CPU))
		return;
	cuttle_phase_set(phases, CUTTLE_PHASE_CPU, cpu);
	cuttle_phase_set(phases, CUTTLE_PHASE_WAIT, cuttle_between(cpu + gvl + gc, app));
}

size_t cuttle_phases_render(const struct cuttle_phases *phases, char text[CUTTLE_TIMING_ROOM])
{
	size_t length = 0;

	for (int phase = 0; phase <= CUTTLE_PHASE_WAIT; phase++) {
		uint64_t microseconds = phases->at[phase] / 1000;
		int added;

		if (!cuttle_phase_known(phases->known, phase))
			continue;
		added = snprintf(text + length, CUTTLE_TIMING_ROOM - length, "%s%s;dur=%llu.%03llu", length ? ", " : "",
				 names[phase], (unsigned long long)(microseconds / 1000),
				 (unsigned long long)(microseconds % 1000));
		if (added < 0 || (size_t)added >= CUTTLE_TIMING_ROOM - length)
			break; /* longer than any time that there is */
		length += (size_t)added;
	}
	return length;
}

uint64_t cuttle_ledger_bound(unsigned bucket)
{
	unsigned power = CUTTLE_LEDGER_LEAST + (bucket - 1) / CUTTLE_LEDGER_PARTS;
	unsigned part = (bucket - 1) % CUTTLE_LEDGER_PARTS;

	if (bucket == 0)
		return UINT64_C(1) << CUTTLE_LEDGER_LEAST;
	if (bucket >= CUTTLE_LEDGER_BUCKETS - 1)
		return UINT64_MAX;
	return (uint64_t)(CUTTLE_LEDGER_PARTS + 1 + part) << (power - 4);
}

/* There is one writer, so a load and a store are enough, without locking the bus. */
static void increase(_Atomic uint64_t *number, uint64_t by)
{
	atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by, memory_order_relaxed);
}

void cuttle_ledger_add(struct cuttle_ledger *ledger, const struct cuttle_phases *phases)
{
	for (uint32_t known = phases->known; known; known &= known - 1) {
		unsigned phase = (unsigned)__builtin_ctz(known);
		uint64_t nanoseconds = phases->at[phase];

		increase(&ledger->counts[phase][cuttle_ledger_bucket(nanoseconds)], 1);
		increase(&ledger->sums[phase], nanoseconds);
	}
}

uint64_t cuttle_ledger_read(struct cuttle_ledger *ledger, enum cuttle_phase phase,
			    uint64_t counts[CUTTLE_LEDGER_BUCKETS])
{
	uint64_t sum = atomic_load_explicit(&ledger->sums[phase], memory_order_relaxed);

	for (unsigned bucket = 0; bucket < CUTTLE_LEDGER_BUCKETS; bucket++)
		counts[bucket] += atomic_load_explicit(&ledger->counts[phase][bucket], memory_order_relaxed);
	return sum;
}
