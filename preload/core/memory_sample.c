/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory_sample.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/resident.h"
#include "core/state.h"
#include "core/usage.h"

/* UINT64_MAX: the kernel does not tell. */
static uint64_t read_faults(struct rusage *all)
{
	return tpc_usage_read(all) ? tpc_usage_faults(all) : UINT64_MAX;
}

/* Without file pages: the mapped part of the trace changes. Other file pages come by faults. */
static void note(uint64_t ticks, const struct tpc_memory *memory, uint64_t faults, uint64_t changes)
{
	uint64_t private = memory->rss > memory->shared ? memory->rss - memory->shared : 0;

	tpc_rss_cache_note(&tpc_state.still, ticks, private / TPC_PAGE, faults);
	tpc_store(&tpc_state.rss, memory->rss);
	tpc_store(&tpc_state.vms, memory->vms);
	tpc_store(&tpc_state.shared, memory->shared);
	tpc_store(&tpc_state.changes, changes);
}

static void read_now(struct tpc_thread *thread, uint64_t faults)
{
	struct tpc_resident resident;
	struct tpc_memory memory;
	uint64_t ticks = tpc_clock_before(), changes = tpc_resident_changes();
	bool counted = tpc_resident_count(ticks, faults, &resident);

	if (!tpc_memory(&memory)) { /* right after it, so that both describe the same moment */
		tpc_lost(TPROF_LOST_SAMPLE, 1);
		return;
	}
	note(ticks, &memory, faults, changes);
	if (counted && resident.again && !tpc_load(&tpc_state.still.alike))
		counted = false; /* it shrank */
	tpc_emit_memory(thread, tpc_clock_before(), &memory, counted ? &resident : NULL);
	tpc_regions_due(thread, memory.rss);
}

void tpc_sample_memory(struct tpc_thread *thread)
{
	struct rusage all;

	read_now(thread, read_faults(&all));
}

/* Writes the last sample again, at the end of a step. */
static void repeat(struct tpc_thread *thread)
{
	struct tpc_memory memory = { .rss = tpc_load(&tpc_state.rss),
				     .vms = tpc_load(&tpc_state.vms),
				     .shared = tpc_load(&tpc_state.shared) };

	tpc_emit_memory(thread, tpc_clock_before(), &memory, NULL);
}

void tpc_sample_memory_due(struct tpc_thread *thread, uint64_t ticks, bool at_end)
{
	struct rusage all;
	uint64_t faults = read_faults(&all);
	bool still = tpc_rss_cache_is(&tpc_state.still, ticks, faults);

	if (faults != UINT64_MAX)
		tpc_usage_emit_read(thread, tpc_clock_before(), &all);
	if (at_end && tpc_load(&tpc_state.changes) != tpc_resident_changes())
		still = false; /* only VMS may have changed */
	if (!still)
		read_now(thread, faults);
	else if (at_end)
		repeat(thread);
}
