/* SPDX-License-Identifier: Apache-2.0 */
/* "answer": the contents of the first page. */
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/cover.h"
#include "report/rows/findings.h"
#include "report/rows/source_text.h"

static json_t *json_share(uint64_t part, uint64_t whole)
{
	return json_real(whole ? (double)part / (double)whole : 0);
}

/* The line's text if its file exists, else its function; for a group its name. */
static json_t *json_name(const struct tpa_process *process, const struct tpa_cover_row *row)
{
	char text[1000];

	if (!row->line.location)
		return tpa_json_string(row->group);
	if (!row->function && tpa_source_text(process->trace, &row->line, text, sizeof(text)))
		return tpa_json_string(text);
	return tpa_json_string(tpa_line_name(&row->line, text, sizeof(text)));
}

/* Null if the row has no place in the code. */
static json_t *json_place(const struct tpa_cover_row *row)
{
	json_t *json = row->line.location ? tpa_json_frame(&row->line) : json_null();

	if (row->function && row->line.location)
		tpa_json_set(json, "line", json_null()); /* the row covers several lines */
	return json;
}

static json_t *json_parts(const struct tpa_cover_row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->part_count; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "name", tpa_json_string(row->parts[i].name),
						      "bytes", tpa_json_number(row->parts[i].amount)));
	return list;
}

json_t *tpa_cover_json(const struct tpa_run *run, const struct tpa_cover *cover)
{
	json_t *json = json_object(), *rows = json_array();

	for (size_t i = 0; i < cover->count; i++) {
		const struct tpa_cover_row *row = &cover->rows[i];

		json_array_append_new(rows,
				      json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "bytes",
						tpa_json_number(row->amount), "blocks", tpa_json_number(row->blocks),
						"share", json_share(row->amount, cover->amount), "name",
						json_name(&run->processes[row->process], row), "frame", json_place(row),
						"about", tpa_about_name(row->about), "parts", json_parts(row)));
	}
	tpa_json_set(json, "view", json_string(tpa_cover_is_by_line(cover) ? "line" : "function"));
	tpa_json_set(json, "share", json_share(cover->covered, cover->amount));
	tpa_json_set(json, "rows", rows);
	return json;
}

static json_t *json_leak(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_growth_site *site = &finding->site;
	const struct tpa_line *line = &finding->lines[0].line;
	bool seconds = tpa_growth_stats_of(view)->seconds;
	json_t *json = json_object();
	char name[400];

	tpa_json_set(json, "bytes_per_step", seconds ? json_null() : json_real(site->rate));
	tpa_json_set(json, "bytes_per_second", seconds ? json_real(site->rate) : json_null());
	tpa_json_set(json, "ci95", tpa_json_interval((struct tpa_interval){ site->low, site->high }));
	tpa_json_set(json, "since_step", seconds ? json_null() : tpa_json_number(site->since));
	tpa_json_set(json, "bytes", tpa_json_number(site->bytes));
	tpa_json_set(json, "blocks", finding->mapped ? json_null() : tpa_json_number(site->blocks));
	tpa_json_set(json, "stacks", tpa_json_number(site->members));
	tpa_json_set(json, "pinned",
		     finding->pinned.known ? json_pack("{s:o, s:f}", "bytes", tpa_json_number(finding->pinned.bytes),
						       "rate", finding->pinned.rate)
					   : json_null());
	tpa_json_set(json, "what",
		     finding->arenas  ? json_string(TPA_ARENAS_NAME)
		     : line->location ? tpa_json_string(tpa_line_name(line, name, sizeof(name)))
				      : json_null());
	tpa_json_set(json, "frame", line->location ? tpa_json_frame(line) : json_null());
	tpa_json_set(json, "holder", tpa_finding_holder_json(view, finding));
	return json;
}

json_t *tpa_findings_answer_json(const struct tpa_growth_view *view)
{
	struct tpa_findings findings = { NULL };
	json_t *list = json_array();

	if (tpa_findings_enough(view))
		tpa_findings_find(&findings, view, false);
	for (size_t i = 0; i < findings.leaks; i++)
		json_array_append_new(list, json_leak(view, &findings.list[i]));
	tpa_findings_free(&findings);
	return list;
}

/* "compute", "memory", or null. */
static json_t *json_bound(tpa_priority_roof *roof, void *context, const struct tpa_op_stats *op)
{
	json_t *place = roof ? roof(context, op) : NULL;
	json_t *bound = json_incref(json_object_get(place, "bound"));

	json_decref(place);
	return bound ? bound : json_null();
}

json_t *tpa_time_answer_json(const struct tpa_run *run, const struct tpa_op_list *ops, const struct tpa_cover *cpu,
			     size_t top, tpa_priority_roof *roof, void *context)
{
	json_t *rows = json_array();
	uint64_t all = 0;

	for (size_t i = 0; i < ops->count; i++)
		all += ops->ops[i]->self_ns;
	for (size_t i = 0; i < ops->count && i < top; i++) {
		const struct tpa_op_stats *op = ops->ops[i];

		json_array_append_new(
			rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:n, s:o}", "kind", "op", "name",
					tpa_json_string(op->name), "self_ns", tpa_json_number(op->self_ns), "wait_ns",
					op->has_threads ? tpa_json_number(op->threads_wait_ns) : json_null(), "share",
					json_share(op->self_ns, all), "frame", "bound", json_bound(roof, context, op)));
	}
	for (size_t i = 0; i < cpu->count && i < top; i++)
		json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:n, s:o, s:o, s:n}", "kind", "line", "name",
						      json_name(&run->processes[cpu->rows[i].process], &cpu->rows[i]),
						      "self_ns", tpa_json_number(cpu->rows[i].amount), "wait_ns",
						      "share", json_share(cpu->rows[i].amount, cpu->amount), "frame",
						      json_place(&cpu->rows[i]), "bound"));
	return json_pack("{s:o}", "rows", rows);
}
