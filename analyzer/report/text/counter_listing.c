/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/counter_listing.h"

#include <stdio.h>
#include <string.h>

#include "report/text/name.h"

/* Instructions per cycle; negative if not counted. */
static double per_cycle(const struct tpa_trace *trace, const struct tpa_counters *counters)
{
	int instructions = tpa_trace_counter(trace, "instructions"), cycles = tpa_trace_counter(trace, "cycles");

	if (instructions < 0 || cycles < 0 || !counters->value[cycles])
		return -1;
	return (double)counters->value[instructions] / (double)counters->value[cycles];
}

static struct tpa_table *table_of(const struct tpa_trace *trace, bool with_ipc)
{
	char titles[TPROF_COUNTERS_MAX * 40 + 32] = "";

	for (size_t i = 0; i < trace->counter_count; i++) {
		const struct tpa_counter *counter = &trace->counters[i];
		size_t used = strlen(titles);

		if (counter->number)
			snprintf(titles + used, sizeof(titles) - used, ">%.30s%s|", counter->name,
				 counter->flags & TPROF_COUNTER_USER ? ":u" : "");
	}
	strncat(titles, with_ipc ? ">IPC|*op" : "*op", sizeof(titles) - strlen(titles) - 1);
	return tpa_table_new(titles);
}

static void add_row(struct tpa_table *table, const struct tpa_page *page, const struct tpa_trace *trace,
		    const struct tpa_op_stats *op, bool with_ipc)
{
	char shorter[400];
	double rate = per_cycle(trace, &op->counters);

	for (size_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].number)
			tpa_cell(table, TPA_STYLE_NUMBER, tpa_count(op->counters.value[trace->counters[i].number - 1]));
	if (with_ipc)
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_text_of(rate >= 0 ? "%.2f" : "-", rate));
	tpa_table_add(table, TPA_STYLE_FUNCTION, tpa_short_name(page, op->name, 60, shorter, sizeof(shorter)));
}

void tpa_op_counters_print(const struct tpa_page *page, const struct tpa_process *process,
			   const struct tpa_op_list *list, uint64_t top)
{
	const struct tpa_trace *trace = process->trace;
	bool with_ipc = per_cycle(trace, &process->counters) >= 0;
	struct tpa_table *table;

	if (!tpa_counters_counted(trace) || !list->count)
		return;
	table = table_of(trace, with_ipc);
	for (size_t i = 0; i < list->count && (!top || i < top); i++)
		add_row(table, page, trace, list->ops[i], with_ipc);
	tpa_headline(page, "Counters, while the op was open, of its thread");
	tpa_table_end(table, page);
	if (process->counters.idle_ns)
		tpa_print(page, TPA_STYLE_WARN,
			  "  the hardware counters were lent to others for %s: their numbers are too small\n",
			  tpa_time(process->counters.idle_ns).text);
}
