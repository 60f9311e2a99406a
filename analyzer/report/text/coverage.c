/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"

struct sum {
	uint64_t pointers, functions, objects;
};

static struct sum sum_of(const struct tp_trace *trace, unsigned state)
{
	struct sum sum = { 0, 0, 0 };

	for (size_t i = 0; i < trace->hooks_count; i++) {
		if (trace->hooks[i].state != state)
			continue;
		sum.pointers += trace->hooks[i].pointers;
		sum.functions += trace->hooks[i].functions;
		sum.objects += trace->hooks[i].pointers || trace->hooks[i].functions;
	}
	return sum;
}

void tp_hooks_print_line(const struct tp_page *page, const struct tp_trace *trace)
{
	struct sum done = sum_of(trace, TPROF_HOOKS_DONE);

	fprintf(page->out, "%s pointer%s of %s object%s", tp_count(done.pointers).text, tp_plural(done.pointers),
		tp_count(done.objects).text, tp_plural(done.objects));
	for (unsigned state = 0; state < TPROF_HOOKS_STATES; state++) {
		struct sum sum = sum_of(trace, state);

		if (state != TPROF_HOOKS_DONE && sum.functions)
			fprintf(page->out, "; not %s: %s", tp_count(sum.functions).text, tp_hooks_name(state));
	}
	fputc('\n', page->out);
}

bool tp_malloc_is_shared(const struct tp_trace *trace)
{
	const char *slash = strrchr(trace->malloc_path, '/');

	return strstr(slash ? slash : trace->malloc_path, ".so") != NULL; /* the program's own is as it was called */
}

void tp_hooks_print(const struct tp_page *page, const struct tp_trace *trace)
{
	if (!trace->hooks_count)
		return;
	fputs("hooked: ", page->out);
	tp_hooks_print_line(page, trace);
}

void tp_coverage_print(const struct tp_page *page, const struct tp_process *process)
{
	fputc('\n', page->out);
	if (process->trace->hooks_count)
		fputs("  ", page->out);
	tp_hooks_print(page, process->trace);
	fputs("  CPU time: ", page->out);
	tp_cpu_print_capture(page, process);
	fputc('\n', page->out);
}

bool tp_allocations_off(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->env_count; i++)
		if (strcmp(trace->env[i], "TPROF_ALLOC=off") == 0)
			return true;
	return false;
}

const char *tp_recording_cut(const struct tp_trace *trace)
{
	if (trace->header->flags & TPROF_FLAG_STOPPED)
		return "recording stopped before the process ended";
	if (trace->header->chunks_aside)
		return "the disk was full, and the trace's end is not in the file";
	if (trace->damage_count)
		return "the trace is damaged";
	return NULL;
}

static const char *unseen_without_sampling(const struct tp_process *process)
{
	if (tp_allocations_off(process->trace))
		return "TPROF_ALLOC=off";
	if (process->trace->header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		return "its malloc can't be seen";
	if (process->off_at_start && process->paused_ns >= process->duration_ns)
		return "recording was never switched on";
	return NULL;
}

static bool is_without_sample(const struct tp_process *process)
{
	return process->estimated && !process->heap.recorded_allocations && !process->heap.peak_blocks;
}

const char *tp_heap_unseen(const struct tp_process *process)
{
	const char *why = unseen_without_sampling(process);

	return why || !is_without_sample(process) ? why : "no block was sampled";
}

const char *tp_heap_unseen_in(const struct tp_run *run, const struct tp_process *process)
{
	bool none = true;

	for (size_t i = 0; i < run->process_count; i++)
		none = none && is_without_sample(&run->processes[i]);
	return none ? tp_heap_unseen(process) : unseen_without_sampling(process);
}

bool tp_heap_unknown(const struct tp_process *process)
{
	return tp_heap_unseen(process) && !process->heap.allocations && !process->heap.peak_blocks;
}
