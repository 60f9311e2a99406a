/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/thread_listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/text/name.h"
#include "report/text/numbers.h"

/* Which columns there are. */
struct columns {
	bool cpu, ops, memory;
};

static struct columns columns_of(const struct tpa_process *process)
{
	struct columns columns = { .cpu = process->cpu.samples };

	for (size_t i = 0; i < process->thread_count; i++) {
		columns.ops = columns.ops || process->threads[i].op_ns;
		columns.memory = columns.memory || process->threads[i].allocations || process->threads[i].frees;
	}
	return columns;
}

static struct tpa_table *make_table(const struct columns *columns)
{
	char titles[300];

	snprintf(titles, sizeof(titles), ">thread|>tid|name|>first seen|>last seen%s%s%s|*%s",
		 columns->cpu ? "|>CPU time" : "", columns->ops ? "|>in ops" : "",
		 columns->memory ? "|>allocations|>frees|>bytes|>at the peak|>unfreed" : "",
		 columns->cpu ? "most CPU time in" : "allocated most in");
	return tpa_table_new(titles);
}

static void add_memory(struct tpa_table *table, const struct tpa_numbers *numbers, const struct tpa_thread_row *row)
{
	const struct tpa_thread_stats *stats = row->stats;

	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_count(numbers, stats->allocations, stats->allocations_variance));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_count(numbers, stats->frees, stats->frees_variance));
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_some_bytes(numbers, stats->bytes, stats->bytes_variance));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_bytes(numbers, row->peak_bytes, row->peak_bytes_variance));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_bytes(numbers, row->live_bytes, row->live_bytes_variance));
}

static void add_row(struct tpa_table *table, const struct tpa_page *page, const struct tpa_process *process,
		    const struct columns *columns, const struct tpa_thread_row *row)
{
	const struct tpa_line *line = columns->cpu ? &row->cpu_line : &row->alloc_line;
	struct tpa_numbers numbers = { page, process->unseen };
	const struct tpa_thread_stats *stats = row->stats;
	char name[400], shorter[400];

	tpa_cell(table, TPA_STYLE_PLAIN, tpa_text_of("%" PRIu64, (uint64_t)stats->thread));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_text_of("%" PRIu32, stats->tid));
	tpa_table_add(table, TPA_STYLE_FUNCTION, stats->name);
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_time(stats->first_ns));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_time(stats->last_ns));
	if (columns->cpu)
		tpa_table_add(table, TPA_STYLE_NUMBER,
			      stats->cpu.samples ? tpa_time(tpa_cpu_ns(process, &stats->cpu)).text : "-");
	if (columns->ops)
		tpa_table_add(table, TPA_STYLE_PLAIN, stats->op_ns ? tpa_time(stats->op_ns).text : "-");
	if (columns->memory)
		add_memory(table, &numbers, row);
	if (!line->location)
		tpa_table_add(table, TPA_STYLE_DIM, "-");
	else
		tpa_table_add(
			table, TPA_STYLE_FUNCTION,
			tpa_short_name(page, tpa_line_name(line, name, sizeof(name)), 60, shorter, sizeof(shorter)));
}

void tpa_threads_print(const struct tpa_page *page, const struct tpa_process *process,
		       const struct tpa_thread_rows *rows, uint64_t top)
{
	size_t count = top && top < rows->count ? (size_t)top : rows->count;
	const struct columns columns = columns_of(process);
	struct tpa_table *table = make_table(&columns);

	tpa_headline(page, "Threads (%zu)", rows->count);
	for (size_t i = 0; i < count; i++)
		add_row(table, page, process, &columns, &rows->rows[i]);
	tpa_table_end(table, page);
	tpa_rest_print(page, rows->count, count, " thread");
}
