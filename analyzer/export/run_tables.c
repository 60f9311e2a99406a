/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a replayed run. */
#include <stdlib.h>

#include "export/sites.h"
#include "export/table_row.h"
#include "report/rows/sorted.h"
#include "report/rows/view.h"

static struct tpa_table_row row_of(const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	return (struct tpa_table_row){ .table = table, .sink = sink, .to = to };
}

static bool put_site(void *to, const struct tpa_export_site *site)
{
	struct tpa_table_row *row = to;
	const struct tpa_sums *sums = &site->sums;
	char *frames = tpa_stack_frames(site->stack, site->stack->first, site->stack->last), name[256];
	const uint64_t numbers[] = { sums->allocations, sums->bytes,	   sums->peak_bytes,
				     sums->peak_blocks, sums->live_bytes,  sums->live_blocks,
				     sums->temporary,	sums->short_lived, sums->largest };

	tpa_row_number(row, site->process->trace->header->pid);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		tpa_row_number(row, numbers[i]);
	if (site->growth) {
		tpa_row_real(row, site->growth->rate);
		tpa_row_text(row, tpa_verdict_name(site->growth->verdict, site->process->growth.seconds));
	} else {
		tpa_row_none(row);
		tpa_row_none(row);
	}
	tpa_row_text(row, site->op);
	tpa_row_place(row, tpa_stack_own(site->stack), name);
	tpa_row_text(row, frames);
	tpa_row_end(row);
	free(frames);
	return !row->failed;
}

bool tpa_make_sites(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	struct tpa_table_row row = row_of(table, sink, to);

	return tpa_export_sites(export, put_site, &row);
}

static void put_op(struct tpa_table_row *row, const struct tpa_process *process, const struct tpa_op_stats *op)
{
	const uint64_t times[] = { op->min_ns, op->p50_ns, op->p90_ns, op->p99_ns, op->max_ns };
	const uint64_t sums[] = { op->flop,
				  op->self_flop,
				  op->bytes,
				  op->self_bytes,
				  op->allocated_bytes,
				  op->self_allocated_bytes,
				  op->self_allocations };

	tpa_row_number(row, process->trace->header->pid);
	tpa_row_text(row, op->name);
	tpa_row_text(row, op->category);
	tpa_row_number(row, op->calls);
	tpa_row_number(row, op->total_ns);
	tpa_row_number(row, op->self_ns);
	tpa_row_real(row, op->mean_ns);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		tpa_row_number(row, times[i]);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		tpa_row_number(row, sums[i]);
	tpa_row_signed(row, op->net_bytes);
	tpa_row_number(row, op->peak_bytes);
	tpa_row_number(row, tpa_cpu_ns(process, &op->cpu));
	tpa_row_end(row);
}

bool tpa_make_ops(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	struct tpa_table_row row = row_of(table, sink, to);

	for (size_t i = 0; i < export->run->process_count; i++) {
		const struct tpa_process *process = &export->run->processes[i];
		struct tpa_op_list list;

		tpa_op_list(&list, process, "total", export->filter);
		for (size_t k = 0; k < list.count && !row.failed; k++)
			put_op(&row, process, list.ops[k]);
		free(list.ops);
	}
	return !row.failed;
}

bool tpa_make_steps(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	struct tpa_table_row row = row_of(table, sink, to);

	for (size_t i = 0; i < export->run->process_count; i++) {
		const struct tpa_process *process = &export->run->processes[i];

		for (size_t k = 0; k < process->steps.list_count && !row.failed; k++) {
			const struct tpa_step *step = &process->steps.list[k];

			tpa_row_number(&row, process->trace->header->pid);
			tpa_row_number(&row, step->first);
			tpa_row_number(&row, step->steps);
			tpa_row_number(&row, step->begin_ns);
			tpa_row_number(&row, step->end_ns);
			tpa_row_number(&row, tpa_step_time(step));
			tpa_row_number(&row, step->high_bytes);
			tpa_row_signed(&row, tpa_step_growth(step));
			tpa_row_number(&row, step->items);
			tpa_row_number(&row, step->flop);
			tpa_row_end(&row);
		}
	}
	return !row.failed;
}

bool tpa_make_timeline(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to)
{
	struct tpa_table_row row = row_of(table, sink, to);

	for (size_t i = 0; i < export->run->process_count; i++) {
		const struct tpa_process *process = &export->run->processes[i];

		for (size_t k = 0; k < process->point_count && !row.failed; k++) {
			const struct tpa_point *point = &process->timeline[k];

			tpa_row_number(&row, process->trace->header->pid);
			tpa_row_number(&row, point->time_ns);
			tpa_row_number(&row, point->live_bytes);
			tpa_row_number(&row, point->live_blocks);
			tpa_row_number(&row, point->mapped_bytes);
			tpa_row_number(&row, point->rss);
			tpa_row_number(&row, point->vms);
			tpa_row_end(&row);
		}
	}
	return !row.failed;
}
