/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has to do with the others of its run. */
#include <stdio.h>

#include "report/json/json.h"
#include "report/rows/relatives.h"

static json_t *other_json(const struct tp_other *other)
{
	return json_pack("{s:o, s:o, s:o}", "name", tp_json_string(other->name), "pid",
			 tp_json_number(other->header.pid), "trace", tp_json_string(other->file));
}

static json_t *untraced_json(const struct tp_trace *trace)
{
	json_t *list = json_array();
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = tp_next_untraced(trace, &at, name));) {
		bool fork = note->why == TPROF_UNFOLLOWED_OUTPUT;
		char reason[200];

		snprintf(reason, sizeof(reason), fork ? "%s: %s" : "%s", tp_untraced_reason(note), name);
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:s, s:o}", "name", fork ? json_null() : tp_json_string(name),
					"pid", tp_json_number(note->pid), "count", tp_json_number(note->count), "how",
					fork				    ? "fork"
					: tp_untraced_replaced(trace, note) ? "exec"
									    : "start",
					"reason", tp_json_string(reason)));
	}
	return list;
}

json_t *tp_others_json(const struct tp_trace *trace)
{
	json_t *json = json_object(), *started = json_array(), *forked = json_array(), *traces = json_array();
	const struct tp_other *next;
	struct tp_others others;
	bool good = tp_others_find(trace, &others);

	for (size_t i = 0; good && i < others.count; i++) {
		enum tp_relative relation = tp_relation_of(trace->header, &others.list[i].header);

		if (relation == TP_RELATIVE_STARTED || relation == TP_RELATIVE_FORKED)
			json_array_append_new(relation == TP_RELATIVE_STARTED ? started : forked,
					      other_json(&others.list[i]));
		json_array_append_new(traces, tp_json_string(others.list[i].file));
	}
	next = tp_next_program(trace, &others);
	json_object_set_new(json, "replaced_by", next ? other_json(next) : json_null());
	json_object_set_new(json, "started", started);
	json_object_set_new(json, "forked", forked);
	json_object_set_new(json, "not_recorded", untraced_json(trace));
	json_object_set_new(json, "not_recorded_more", tp_json_number(trace->header->untraced_more));
	json_object_set_new(json, "traces", traces);
	tp_others_free(&others);
	return json;
}
