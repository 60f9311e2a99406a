/* SPDX-License-Identifier: Apache-2.0 */
/* The results of the pointer search for blocks. */
#include <stdlib.h>

#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/reach_rows.h"

static const struct tpa_process *process_of(const struct tpa_growth_view *view)
{
	return &view->listing.run->processes[view->process];
}

json_t *tpa_reach_search_json(const struct tpa_growth_view *view)
{
	const struct tpa_trace *trace = process_of(view)->trace;
	uint64_t ticks = tpa_reach_latest(trace);
	char text[200];

	tpa_reach_say_unsearched(trace, text, sizeof(text));
	return json_pack("{s:s, s:o, s:o}", "at_end", tpa_reach_state(trace), "reason",
			 text[0] ? tpa_json_string(text) : json_null(), "time_ns",
			 ticks ? tpa_json_number(tpa_trace_ns(trace, ticks)) : json_null());
}

static json_t *json_sum(const struct tpa_growth_view *view, const struct tpa_reach_sum *sum)
{
	const struct tpa_process *process = process_of(view);
	json_int_t own;
	json_t *stack = tpa_json_stack(process->trace, view->listing.symbols[view->process], sum->node, NULL, &own);

	return json_pack("{s:o, s:o, s:o, s:o, s:I}", "bytes", tpa_json_number(sum->bytes), "blocks",
			 tpa_json_number(sum->blocks), "op", tpa_json_string(tpa_process_op_name(process, sum->op)),
			 "stack", stack, "own", own);
}

json_t *tpa_reach_json(const struct tpa_growth_view *view)
{
	const struct tpa_trace *trace = process_of(view)->trace;
	uint64_t ticks = tpa_reach_latest(trace), top = view->listing.top;
	json_t *json = json_object();

	if (!ticks) {
		json_decref(json);
		return json_null();
	}
	tpa_json_set(json, "time_ns", tpa_json_number(tpa_trace_ns(trace, ticks)));
	tpa_json_set(json, "threads_waiting", json_integer(trace->header->snapshot_waiting));
	tpa_json_set(json, "threads_running", json_integer(trace->header->snapshot_running));
	tpa_json_set(json, "threads_searched", json_integer(trace->header->snapshot_known));
	tpa_json_set(json, "registers_unseen", tpa_json_number(tpa_reach_unseen_registers(trace)));
	for (size_t i = 0; i < TPA_REACH_KINDS; i++) {
		struct tpa_reach_found found = tpa_reach_find(view, tpa_reach_kinds[i].reach);
		json_t *list = json_array();

		for (size_t k = 0; k < found.count && (!top || k < top); k++)
			json_array_append_new(list, json_sum(view, found.list[k]));
		tpa_json_set(json, tpa_reach_kinds[i].key,
			     json_pack("{s:o, s:o, s:o, s:o}", "bytes", tpa_json_number(found.bytes), "blocks",
				       tpa_json_number(found.blocks), "sites_total", tpa_json_number(found.count),
				       "sites", list));
		free(found.list);
	}
	return json;
}
