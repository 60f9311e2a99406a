/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory_sample.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/process.h"
#include "core/regions.h"
#include "core/resident.h"
#include "core/state.h"
#include "core/usage.h"

/* UINT64_MAX: the kernel does not tell, and nothing is read. */
static uint64_t read_faults(struct rusage *all)
{
	return tp_usage_read(all) ? tp_usage_faults(all) : UINT64_MAX;
}

/* Without files: the window of the trace comes and goes with them. What else of them comes does so by faults. */
static void note(uint64_t ticks, const struct tp_memory *memory, uint64_t faults, uint64_t changes)
{
	uint64_t private = memory->rss > memory->shared ? memory->rss - memory->shared : 0;

	tp_rss_cache_note(&tp_state.still, ticks, private / TP_PAGE, faults);
	tp_store(&tp_state.rss, memory->rss);
	tp_store(&tp_state.vms, memory->vms);
	tp_store(&tp_state.shared, memory->shared);
	tp_store(&tp_state.changes, changes);
}

static void read_now(struct tp_thread *thread, uint64_t faults)
{
	struct tp_resident resident;
	struct tp_memory memory;
	uint64_t ticks = tp_clock_before(), changes = tp_resident_changes();
	bool counted = tp_resident_count(ticks, faults, &resident);

	if (!tp_memory(&memory)) { /* right after it: the two are to fit together */
		tp_lost(TPROF_LOST_SAMPLE, 1);
		return;
	}
	note(ticks, &memory, faults, changes);
	if (counted && resident.again && !tp_load(&tp_state.still.alike))
		counted = false; /* it shrank */
	tp_emit_memory(thread, tp_clock_before(), &memory, counted ? &resident : NULL);
	tp_regions_due(thread, memory.rss);
}

void tp_sample_memory(struct tp_thread *thread)
{
	struct rusage all;

	read_now(thread, read_faults(&all));
}

/* What a sample now would say, at a step's end: the last one's numbers. */
static void repeat(struct tp_thread *thread)
{
	struct tp_memory memory = { .rss = tp_load(&tp_state.rss),
				    .vms = tp_load(&tp_state.vms),
				    .shared = tp_load(&tp_state.shared) };

	tp_emit_memory(thread, tp_clock_before(), &memory, NULL);
}

void tp_sample_memory_due(struct tp_thread *thread, uint64_t ticks, bool at_end)
{
	struct rusage all;
	uint64_t faults = read_faults(&all);
	bool still = tp_rss_cache_is(&tp_state.still, ticks, faults);

	if (faults != UINT64_MAX)
		tp_usage_emit_read(thread, tp_clock_before(), &all);
	if (at_end && tp_load(&tp_state.changes) != tp_resident_changes())
		still = false; /* it may show in VMS only */
	if (!still)
		read_now(thread, faults);
	else if (at_end)
		repeat(thread);
}
