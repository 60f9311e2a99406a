/* SPDX-License-Identifier: Apache-2.0 */
/* How a process relates to the others of its run. */
#include <stdio.h>

#include "report/json/json.h"
#include "report/rows/relatives.h"

static json_t *other_json(const struct tpa_other *other)
{
	return json_pack("{s:o, s:o, s:o}", "name", tpa_json_string(other->name), "pid",
			 tpa_json_number(other->header.pid), "trace", tpa_json_string(other->file));
}

static json_t *note_json(const struct tprof_header *header, const struct tprof_untraced *note, const char *name)
{
	bool fork = note->why == TPROF_UNFOLLOWED_OUTPUT;
	const char *advice = tpa_untraced_advice(note, name);
	json_t *json = json_object();
	char reason[200];

	snprintf(reason, sizeof(reason), fork ? "%s: %s" : "%s", tpa_untraced_reason(note), name);
	tpa_json_set(json, "name", fork ? json_null() : tpa_json_string(name));
	tpa_json_set(json, "pid", note->pid ? tpa_json_number(note->pid) : json_null());
	tpa_json_set(json, "count", tpa_json_number(note->count));
	tpa_json_set(json, "how", json_string(fork ? "fork" : tpa_untraced_replaced(header, note) ? "exec" : "start"));
	tpa_json_set(json, "reason", tpa_json_string(reason));
	tpa_json_set(json, "advice", advice ? json_string(advice) : json_null());
	return json;
}

static json_t *untraced_json(const struct tpa_trace *trace, const struct tpa_others *others)
{
	json_t *list = json_array();
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = tpa_next_untraced(trace->header, &at, name));)
		json_array_append_new(list, note_json(trace->header, note, name));
	for (size_t i = 0; i < others->count; i++) {
		note = tpa_forks_untraced(trace->header, &others->list[i]->header, name);
		if (note)
			json_array_append_new(list, note_json(trace->header, note, name));
	}
	return list;
}

json_t *tpa_others_json(const struct tpa_trace *trace)
{
	json_t *json = json_object(), *started = json_array(), *forked = json_array(), *traces = json_array();
	const struct tpa_other *next;
	struct tpa_others others;

	tpa_others_find(trace, &others);
	for (size_t i = 0; i < others.count; i++) {
		enum tpa_relative relation = tpa_relation_of(trace->header, &others.list[i]->header);

		if (relation == TPA_RELATIVE_STARTED || relation == TPA_RELATIVE_FORKED)
			json_array_append_new(relation == TPA_RELATIVE_STARTED ? started : forked,
					      other_json(others.list[i]));
		json_array_append_new(traces, tpa_json_string(others.list[i]->file));
	}
	next = tpa_next_program(trace, &others);
	tpa_json_set(json, "replaced_by", next ? other_json(next) : json_null());
	tpa_json_set(json, "started", started);
	tpa_json_set(json, "forked", forked);
	tpa_json_set(json, "not_recorded", untraced_json(trace, &others));
	tpa_json_set(json, "not_recorded_more", tpa_json_number(trace->header->untraced_more));
	tpa_json_set(json, "traces", traces);
	tpa_others_free(&others);
	return json;
}
