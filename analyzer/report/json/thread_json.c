/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json.h"
#include "report/rows/thread_rows.h"

static json_t *json_line(const struct tpa_line *line, const char *key, uint64_t value)
{
	char name[400];

	if (!line->location)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "function", tpa_json_string(tpa_line_name(line, name, sizeof(name))),
			 "module", tpa_json_string(line->symbol->module), key, tpa_json_number(value));
}

static json_t *json_row(const struct tpa_process *process, const struct tpa_thread_row *row)
{
	const struct tpa_thread_stats *stats = row->stats;
	struct tpa_unseen unseen = process->unseen;
	const struct tpa_json_estimable estimable[] = {
		{ "allocations", stats->allocations, stats->allocations_variance, unseen.blocks },
		{ "frees", stats->frees, stats->frees_variance, unseen.blocks },
		{ "bytes", stats->bytes, stats->bytes_variance, unseen.bytes },
		{ "peak_bytes", row->peak_bytes, row->peak_bytes_variance, unseen.bytes },
		{ "peak_blocks", row->peak_blocks, row->peak_blocks_variance, unseen.blocks },
		{ "unfreed_bytes", row->live_bytes, row->live_bytes_variance, unseen.bytes },
		{ "unfreed_blocks", row->live_blocks, row->live_blocks_variance, unseen.blocks },
	};
	json_t *json = json_object();

	tpa_json_set(json, "thread", tpa_json_number(stats->thread));
	tpa_json_set(json, "tid", tpa_json_number(stats->tid));
	tpa_json_set(json, "name", tpa_json_string(stats->name));
	tpa_json_set(json, "first_ns", tpa_json_number(stats->first_ns));
	tpa_json_set(json, "last_ns", tpa_json_number(stats->last_ns));
	tpa_json_set(json, "cpu_samples", tpa_json_number(stats->cpu.samples));
	tpa_json_set(json, "cpu_ns", tpa_json_number(tpa_cpu_ns(process, &stats->cpu)));
	tpa_json_set(json, "op_ns", tpa_json_number(stats->op_ns));
	tpa_json_estimables(json, estimable, sizeof(estimable) / sizeof(estimable[0]));
	tpa_json_set(json, "top_cpu", json_line(&row->cpu_line, "ns", row->cpu_line_ns));
	tpa_json_set(json, "top_allocation", json_line(&row->alloc_line, "bytes", row->alloc_line_bytes));
	return json;
}

json_t *tpa_threads_json(const struct tpa_process *process, const struct tpa_thread_rows *rows, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count && (!top || i < top); i++)
		json_array_append_new(list, json_row(process, &rows->rows[i]));
	return list;
}
