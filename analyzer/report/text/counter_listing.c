/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/counter_listing.h"

#include <stdio.h>
#include <string.h>

#include "report/text/name.h"

/* Instructions a cycle; below 0: not counted. */
static double per_cycle(const struct tp_trace *trace, const struct tp_counters *counters)
{
	int instructions = tp_trace_counter(trace, "instructions"), cycles = tp_trace_counter(trace, "cycles");

	if (instructions < 0 || cycles < 0 || !counters->value[cycles])
		return -1;
	return (double)counters->value[instructions] / (double)counters->value[cycles];
}

static struct tp_table *table_of(const struct tp_trace *trace, bool with_ipc)
{
	char titles[TPROF_COUNTERS_MAX * 40 + 32] = "";

	for (size_t i = 0; i < trace->counter_count; i++) {
		const struct tp_counter *counter = &trace->counters[i];
		size_t used = strlen(titles);

		if (counter->number)
			snprintf(titles + used, sizeof(titles) - used, ">%.30s%s|", counter->name,
				 counter->flags & TPROF_COUNTER_USER ? ":u" : "");
	}
	strncat(titles, with_ipc ? ">IPC|*op" : "*op", sizeof(titles) - strlen(titles) - 1);
	return tp_table_new(titles);
}

static void add_row(struct tp_table *table, const struct tp_page *page, const struct tp_trace *trace,
		    const struct tp_op_stats *op, bool with_ipc)
{
	char shorter[400], ipc[32] = "-";
	double rate = per_cycle(trace, &op->counters);

	for (size_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].number)
			tp_table_add(table, TP_STYLE_NUMBER,
				     tp_count(op->counters.value[trace->counters[i].number - 1]).text);
	if (rate >= 0)
		snprintf(ipc, sizeof(ipc), "%.2f", rate);
	if (with_ipc)
		tp_table_add(table, TP_STYLE_PLAIN, ipc);
	tp_table_add(table, TP_STYLE_FUNCTION, tp_short_name(page, op->name, 60, shorter, sizeof(shorter)));
}

void tp_op_counters_print(const struct tp_page *page, const struct tp_process *process, const struct tp_op_list *list,
			  uint64_t top)
{
	const struct tp_trace *trace = process->trace;
	bool with_ipc = per_cycle(trace, &process->counters) >= 0;
	struct tp_table *table;

	if (!tp_counters_counted(trace) || !list->count)
		return;
	table = table_of(trace, with_ipc);
	for (size_t i = 0; i < list->count && (!top || i < top); i++)
		add_row(table, page, trace, list->ops[i], with_ipc);
	tp_headline(page, "Counters, while the op was open, of its thread");
	tp_table_print(table, page, 2);
	tp_table_free(table);
	if (process->counters.idle_ns)
		tp_print(page, TP_STYLE_WARN,
			 "  the hardware counters were lent to others for %s: their numbers are too small\n",
			 tp_time(process->counters.idle_ns).text);
}

/* ---- JSON ---- */
