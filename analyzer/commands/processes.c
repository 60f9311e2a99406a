/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/processes.h"

#include "commands/run_choice.h"

static bool add_only(struct tpa_session *session, const struct tpa_process_report *report, json_t *json)
{
	json_t *only = report->process(session, 0, report->argument);
	bool good = only && json_object_update(json, only) == 0;

	json_decref(only);
	return good;
}

static bool add_all(struct tpa_session *session, const struct tpa_process_report *report, json_t *json)
{
	json_t *list = json_array(), *combined = tpa_json_combined(session->run);
	bool good = true;

	for (size_t i = 0; good && i < session->run->process_count; i++)
		good = json_array_append_new(list, report->process(session, i, report->argument)) == 0;
	if (good && report->combine)
		good = report->combine(session, combined, report->argument);
	json_object_set_new(json, "processes", list);
	json_object_set_new(json, "combined", combined);
	return good;
}

bool tpa_processes_json(struct tpa_session *session, const struct tpa_process_report *report)
{
	json_t *json = json_object();
	bool good = json_object_set_new(json, "schema", json_string("tprof/1")) == 0;

	good = good && json_object_set_new(json, "left_out", tpa_left_out_json(session->options)) == 0;
	good = good &&
	       (session->run->process_count == 1 ? add_only(session, report, json) : add_all(session, report, json));
	if (!good) {
		json_decref(json);
		return false;
	}
	return tpa_json_write(json, session->page.out);
}
