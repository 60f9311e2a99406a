/* SPDX-License-Identifier: Apache-2.0 */
#include "export/tables.h"

#include <string.h>

#include "base/memory.h"
#include "export/table_row.h"

const struct tpa_table tpa_tables[] = {
	{ .name = "sites",
	  .help = "a stack and op that allocated",
	  .columns = { "process", "allocations", "allocated_bytes", "peak_bytes", "peak_blocks", "unfreed_bytes",
		       "unfreed_blocks", "temporary", "short_lived", "largest_bytes", "growth", "verdict", "op",
		       "function", "file", "line", "frames", NULL },
	  .make = tpa_make_sites },
	{ .name = "ops",
	  .help = "an op",
	  .columns = { "process",
		       "op",
		       "category",
		       "calls",
		       "total_ns",
		       "self_ns",
		       "mean_ns",
		       "min_ns",
		       "p50_ns",
		       "p90_ns",
		       "p99_ns",
		       "max_ns",
		       "flop",
		       "self_flop",
		       "bytes",
		       "self_bytes",
		       "allocated_bytes",
		       "self_allocated_bytes",
		       "self_allocations",
		       "net_bytes",
		       "peak_bytes",
		       "cpu_ns",
		       NULL },
	  .make = tpa_make_ops },
	{ .name = "calls",
	  .help = "a call of an op; of calls that were folded, all of a record",
	  .columns = { "process", "thread", "begin_ns", "duration_ns", "level", "op", "category", "shape", "flop",
		       "bytes", "unwound", "open", "calls", NULL },
	  .streamed = true,
	  .make = tpa_make_calls },
	{ .name = "steps",
	  .help = "a training step; in a long run several",
	  .columns = { "process", "step", "steps", "begin_ns", "end_ns", "time_ns", "high_bytes", "net_bytes", "items",
		       "flop", NULL },
	  .make = tpa_make_steps },
	{ .name = "samples",
	  .help = "a CPU sample",
	  .columns = { "process", "thread", "time_ns", "cpu_ns", "op", "function", "file", "line", "frames", NULL },
	  .streamed = true,
	  .make = tpa_make_samples },
	{ .name = "timeline",
	  .help = "a moment",
	  .columns = { "process", "time_ns", "live_bytes", "live_blocks", "mapped_bytes", "rss_bytes", "vms_bytes",
		       NULL },
	  .make = tpa_make_timeline },
	{ .name = "events",
	  .help = "an event, as dump has it",
	  .columns = { "process", "time_ns", "thread", "kind", "address", "size", "usable", "op", "text", "function",
		       "file", "line", "more", NULL },
	  .streamed = true,
	  .make = tpa_make_events },
	{ .name = NULL },
};

const struct tpa_table *tpa_table_find(const char *name)
{
	for (const struct tpa_table *table = tpa_tables; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

size_t tpa_table_width(const struct tpa_table *table)
{
	size_t count = 0;

	while (count < TPA_TABLE_COLUMNS_MOST && table->columns[count])
		count++;
	return count;
}

void tpa_row_place(struct tpa_table_row *row, const struct tpa_line *line, char *name)
{
	const struct tpa_location *location = line ? line->location : NULL;

	tpa_row_text(row, line ? tpa_line_name(line, name, 256) : NULL);
	tpa_row_text(row, location ? location->file : NULL);
	if (location && location->line > 0)
		tpa_row_number(row, (uint64_t)location->line);
	else
		tpa_row_none(row);
}

void tpa_row_end(struct tpa_table_row *row)
{
	if (!row->failed && !row->sink(row->to, row->table, row->cells))
		row->failed = true;
	row->count = 0;
}

char *tpa_stack_frames(const struct tpa_stack *stack, size_t first, size_t last)
{
	char *text = NULL, buffer[256];
	size_t count = 0, room = 0;

	for (size_t i = last; i > first; i--) {
		const char *name = tpa_line_name(&stack->lines[i - 1], buffer, sizeof(buffer));
		size_t length = strlen(name);

		tpa_grow(&text, &room, count + length + 1, 1);
		memcpy(text + count, name, length);
		count += length;
		for (char *c = memchr(text + count - length, ';', length); c;
		     c = memchr(c, ';', (size_t)(text + count - c)))
			*c = ':';
		text[count++] = ';';
	}
	tpa_grow(&text, &room, count + 1, 1);
	text[count ? count - 1 : 0] = 0;
	return text;
}
