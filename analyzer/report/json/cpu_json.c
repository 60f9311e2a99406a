/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json.h"
#include "report/json/json_stack.h"

static void set_thread(json_t *json, const struct tpa_process *process, uint32_t number)
{
	tpa_json_set(json, "thread", tpa_json_number(number));
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].thread == number) {
			tpa_json_set(json, "name", tpa_json_string(process->threads[i].name));
			tpa_json_set(json, "tid", tpa_json_number(process->threads[i].tid));
		}
}

static void set_name(json_t *json, const struct tpa_cpu_listing *context, const struct tpa_cpu_row *row)
{
	enum tpa_by by = context->options.relation ? TPA_BY_FUNCTION : context->options.by;
	const struct tpa_process *process = &context->run->processes[row->process];
	json_int_t own;

	if (by == TPA_BY_THREAD) {
		set_thread(json, process, row->thread);
		return;
	}
	if (by == TPA_BY_OP) {
		tpa_json_set(json, "op", tpa_json_string(row->op));
		return;
	}
	tpa_json_line(json, &row->line, by);
	if (by == TPA_BY_STACK)
		tpa_json_set(json, "stack",
			     tpa_json_stack(process->trace, context->symbols[row->process], row->node, NULL, &own));
}

static json_t *json_row(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows,
			const struct tpa_cpu_row *row)
{
	json_t *json = json_object();

	set_name(json, context, row);
	if (!context->options.relation) {
		tpa_json_set(json, "self_samples", tpa_json_number(row->self.samples));
		tpa_json_set(json, "self_ns", tpa_json_number(row->self_ns));
		tpa_json_set(json, "self_share", json_real(tpa_cpu_share(rows, &row->self)));
		tpa_json_set(json, "self_share_ci95", tpa_json_interval(tpa_cpu_interval(rows, &row->self)));
	}
	tpa_json_set(json, "total_samples", tpa_json_number(row->total.samples));
	tpa_json_set(json, "total_ns", tpa_json_number(row->total_ns));
	tpa_json_set(json, "total_share", json_real(tpa_cpu_share(rows, &row->total)));
	tpa_json_set(json, "total_share_ci95", tpa_json_interval(tpa_cpu_interval(rows, &row->total)));
	return json;
}

json_t *tpa_cpu_json(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count && (!context->top || i < context->top); i++)
		json_array_append_new(list, json_row(context, rows, &rows->rows[i]));
	return list;
}
