/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/counter_listing.h"

#include <stdio.h>
#include <string.h>

#include "report/json/json.h"
#include "report/rows/name.h"

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

static size_t counted(const struct tp_trace *trace)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->counter_count; i++)
		count += trace->counters[i].number != 0;
	return count;
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

	if (!counted(trace) || !list->count)
		return;
	table = table_of(trace, with_ipc);
	for (size_t i = 0; table && i < list->count && (!top || i < top); i++)
		add_row(table, page, trace, list->ops[i], with_ipc);
	tp_headline(page, "Counters, while the op was open, of its thread");
	if (table)
		tp_table_print(table, page, 2);
	tp_table_free(table);
	if (process->counters.idle_ns)
		tp_print(page, TP_STYLE_WARN,
			 "  the hardware counters were lent to others for %s: their numbers are too small\n",
			 tp_time(process->counters.idle_ns).text);
}

/* ---- JSON ---- */

static json_t *values_of(const struct tp_trace *trace, const struct tp_counters *counters)
{
	json_t *json = json_object();

	for (size_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].number)
			json_object_set_new(json, trace->counters[i].name,
					    tp_json_number(counters->value[trace->counters[i].number - 1]));
	return json;
}

void tp_op_counters_json(const struct tp_process *process, const struct tp_op_list *list, json_t *ops)
{
	for (size_t i = 0; counted(process->trace) && i < json_array_size(ops) && i < list->count; i++) {
		json_t *op = json_array_get(ops, i);

		json_object_set_new(op, "counters", values_of(process->trace, &list->ops[i]->counters));
		json_object_set_new(op, "self_counters", values_of(process->trace, &list->ops[i]->self_counters));
	}
}

json_t *tp_counters_json(const struct tp_process *process)
{
	const struct tp_trace *trace = process->trace;
	json_t *list = trace->counter_count ? json_array() : NULL;

	for (size_t i = 0; list && i < trace->counter_count; i++) {
		const struct tp_counter *counter = &trace->counters[i];
		json_t *json = json_object();

		json_object_set_new(json, "name", json_string(counter->name));
		json_object_set_new(json, "counted", json_boolean(counter->number != 0));
		if (counter->number) {
			json_object_set_new(json, "value",
					    tp_json_number(process->counters.value[counter->number - 1]));
			json_object_set_new(json, "user_only", json_boolean(counter->flags & TPROF_COUNTER_USER));
		} else {
			json_object_set_new(json, "reason", json_string(strerror(counter->error)));
		}
		json_array_append_new(list, json);
	}
	return list;
}
