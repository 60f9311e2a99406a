/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/op_waits.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Is the innermost function of the stack known to wait? */
static bool is_waiting(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	const struct tpa_symbol *symbol;

	if (node < TPROF_NODE_FIRST || node >= trace->node_count)
		return false;
	symbol = tpa_symbols_frame(symbols, trace->nodes[node].frame);
	return symbol->count && symbol->locations[0].known.waits;
}

void tpa_op_waits_find(struct tpa_process *process, struct tpa_symbols *symbols)
{
	const struct tpa_trace *trace = process->trace;
	struct tpa_op_stats **by_op = tpa_zalloc(trace->op_count + 2, sizeof(struct tpa_op_stats *));

	for (size_t i = 0; i < process->op_count; i++) {
		struct tpa_op_stats *op = &process->ops[i];

		op->cpu = op->spinning = (struct tpa_cpu){ 0 };
		op->cpu_period_ns = trace->header->cpu_period_ns;
		by_op[op->op] = op;
	}
	for (size_t i = 0; i < process->cpu_site_count; i++) {
		const struct tpa_cpu_site *site = &process->cpu_sites[i];
		struct tpa_op_stats *op = by_op[site->op];

		if (!op)
			continue;
		tpa_cpu_add(&op->cpu, &site->cpu);
		if (is_waiting(trace, symbols, site->node))
			tpa_cpu_add(&op->spinning, &site->cpu);
	}
	free(by_op);
}

#define NONE_MET 3.689 /* upper limit if no sample was met: with this mean, a Poisson count is 0 in 2.5% of cases */

struct tpa_interval tpa_op_cpu_interval(const struct tpa_op_stats *op, const struct tpa_cpu *cpu)
{
	struct tpa_interval samples = tpa_interval_estimate((double)cpu->periods, cpu->squares, 1);
	double period = (double)op->cpu_period_ns;

	if (!cpu->periods)
		samples.high = NONE_MET;
	return (struct tpa_interval){ samples.low * period, fmin(samples.high * period, (double)op->self_ns) };
}

static double within(double ns, double most)
{
	return ns < 0 ? 0 : ns > most ? most : ns;
}

/* Not known for ops with folded calls: samples during those calls count for the enclosing op. */
bool tpa_op_not_running(const struct tpa_op_stats *op, uint64_t *ns, struct tpa_interval *interval)
{
	double self = (double)op->self_ns, period = (double)op->cpu_period_ns;
	struct tpa_interval cpu;

	if (!op->cpu_period_ns || op->folded)
		return false;
	cpu = tpa_op_cpu_interval(op, &op->cpu);
	*ns = tpa_round(within(self - (double)op->cpu.periods * period, self));
	*interval = (struct tpa_interval){ within(self - cpu.high, self), within(self - cpu.low, self) };
	return true;
}
