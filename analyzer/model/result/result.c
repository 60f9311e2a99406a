/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/result.h"

#include <stdlib.h>

#include "base/aside.h"
#include "model/growth/growth.h"
#include "model/ops/ops.h"
#include "model/steps/steps.h"

void tpa_process_lay_aside(struct tpa_process *process)
{
	struct tpa_growth_stats *growth = &process->growth;

	tpa_lay_aside(&process->sites, process->site_count * sizeof(*process->sites));
	if (process->site_variances)
		tpa_lay_aside(&process->site_variances, process->site_count * sizeof(*process->site_variances));
	tpa_lay_aside(&process->map_sites, process->map_site_count * sizeof(*process->map_sites));
	tpa_lay_aside(&process->cpu_sites, process->cpu_site_count * sizeof(*process->cpu_sites));
	tpa_lay_aside(&process->ranks.calls, process->ranks.call_count * sizeof(*process->ranks.calls));
	tpa_lay_aside(&growth->curves, growth->curve_count * sizeof(*growth->curves));
	tpa_lay_aside(&growth->heap.list, growth->heap.count * sizeof(*growth->heap.list));
	tpa_lay_aside(&growth->maps.list, growth->maps.count * sizeof(*growth->maps.list));
	tpa_lay_aside(&growth->rates, growth->rate_count * sizeof(*growth->rates));
}

void tpa_run_free(struct tpa_run *run)
{
	size_t i;

	if (!run)
		return;
	for (i = 0; i < run->process_count; i++) {
		struct tpa_process *process = &run->processes[i];

		free(process->sites);
		free(process->site_variances);
		free(process->map_sites);
		free(process->cpu_sites);
		tpa_ops_result_free(process->ops, process->op_count);
		free(process->op_nodes);
		tpa_growth_result_free(&process->growth);
		tpa_steps_result_free(&process->steps);
		free(process->timeline);
		tpa_marks_free(&process->marks);
		tpa_allocator_free(&process->allocator);
		tpa_makeup_free(&process->makeup);
		free(process->copies.list);
		tpa_hole_series_free(&process->holes);
		tpa_level_stats_free(&process->levels);
		free(process->threads);
		free(process->ranks.calls);
		free(process->ranks.parts);
		free(process->ranks.communicators);
	}
	free(run->processes);
	free(run->timeline);
	free(run);
}

const struct tpa_process *tpa_stepping(const struct tpa_run *run)
{
	const struct tpa_process *most = &run->processes[0];

	for (size_t i = 1; i < run->process_count; i++)
		if (run->processes[i].steps.count > most->steps.count)
			most = &run->processes[i];
	return most;
}

const char *tpa_process_op_name(const struct tpa_process *process, uint32_t op)
{
	const struct tpa_trace *trace = process->trace;

	if (!op)
		return NULL;
	if (op < trace->op_count && trace->ops[op].parallel == TPA_PARALLEL_PART && trace->ops[op].region)
		op = trace->ops[op].region;
	return op < trace->op_count && trace->ops[op].name ? trace->ops[op].name : TPA_UNNAMED;
}

uint64_t tpa_cpu_ns(const struct tpa_process *process, const struct tpa_cpu *cpu)
{
	return cpu->periods * process->trace->header->cpu_period_ns;
}

uint64_t tpa_run_cpu_ns(const struct tpa_run *run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->process_count; i++)
		sum += tpa_cpu_ns(&run->processes[i], &run->processes[i].cpu);
	return sum;
}
