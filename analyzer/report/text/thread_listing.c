/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/thread_listing.h"

#include "report/text/columns.h"
#include "report/text/name.h"

/* Adds the line that took most of the thread's CPU time, or without samples its largest allocator. */
static void add_line(struct tpa_table *table, const struct tpa_page *page, const struct tpa_line *line)
{
	char name[400], shorter[400];

	if (!line->location)
		tpa_table_add(table, TPA_STYLE_DIM, "-");
	else
		tpa_table_add(
			table, TPA_STYLE_FUNCTION,
			tpa_short_name(page, tpa_line_name(line, name, sizeof(name)), 60, shorter, sizeof(shorter)));
}

/* Chooses the columns. */
static void choose(const struct tpa_process *process, char *keys, size_t size)
{
	bool ops = false, memory = false;

	for (size_t i = 0; i < process->thread_count; i++) {
		ops |= process->threads[i].op_ns > 0;
		memory |= process->threads[i].allocations || process->threads[i].frees;
	}
	snprintf(keys, size, "thread tid +name first_ns last_ns%s%s%s", process->cpu.samples ? " *cpu_ns" : "",
		 ops ? " op_ns" : "", memory ? " allocations frees *bytes peak_bytes unfreed_bytes" : "");
}

void tpa_threads_print(const struct tpa_page *page, const struct tpa_process *process,
		       const struct tpa_thread_rows *rows, uint64_t top)
{
	size_t count = top && top < rows->count ? (size_t)top : rows->count;
	const struct tpa_row_context context = { .process = process, .unseen = process->unseen };
	bool cpu = process->cpu.samples;
	struct tpa_table *table;
	char keys[200];

	choose(process, keys, sizeof(keys));
	table = tpa_columns_begin(page, tpa_thread_columns, keys, cpu ? "*most CPU time in" : "*allocated most in");
	tpa_headline(page, "Threads (%zu)", rows->count);
	for (size_t i = 0; i < count; i++) {
		tpa_columns_add(table, page, tpa_thread_columns, keys, &rows->rows[i], &context);
		add_line(table, page, cpu ? &rows->rows[i].cpu_line : &rows->rows[i].alloc_line);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, rows->count, count, " thread");
}
