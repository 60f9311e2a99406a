/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/result.h"

#include <stdlib.h>

#include "model/growth/growth.h"
#include "model/ops/ops.h"
#include "model/steps/steps.h"

void tp_run_free(struct tp_run *run)
{
	size_t i;

	if (!run)
		return;
	for (i = 0; i < run->process_count; i++) {
		struct tp_process *process = &run->processes[i];

		free(process->sites);
		free(process->map_sites);
		free(process->cpu_sites);
		tp_ops_result_free(process->ops, process->op_count);
		free(process->op_nodes);
		tp_growth_result_free(&process->growth);
		tp_steps_result_free(&process->steps);
		free(process->timeline);
		tp_marks_free(&process->marks);
		tp_allocator_free(&process->allocator);
		tp_makeup_free(&process->makeup);
		free(process->threads);
	}
	free(run->processes);
	free(run->timeline);
	free(run);
}

const struct tp_process *tp_stepping(const struct tp_run *run)
{
	const struct tp_process *most = &run->processes[0];

	for (size_t i = 1; i < run->process_count; i++)
		if (run->processes[i].steps.count > most->steps.count)
			most = &run->processes[i];
	return most;
}

const char *tp_process_op_name(const struct tp_process *process, uint32_t op)
{
	const struct tp_trace *trace = process->trace;

	if (!op)
		return NULL;
	return op < trace->op_count && trace->ops[op].name ? trace->ops[op].name : TP_UNNAMED;
}

uint64_t tp_cpu_ns(const struct tp_process *process, const struct tp_cpu *cpu)
{
	return cpu->periods * process->trace->header->cpu_period_ns;
}
