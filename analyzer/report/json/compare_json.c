/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side. */
#include "report/json/json.h"

#include <stdlib.h>

#include "report/rows/compare_rows.h"

static json_t *op_json(const struct tpa_machine *machine, const struct tpa_variant *variant,
		       const struct tpa_variant_op *op)
{
	struct tpa_roof_place place = tpa_compare_place(machine, variant, op);
	json_t *json = json_object();

	tpa_json_set(json, "name", tpa_json_string(op->sum.name));
	tpa_json_set(json, "category", tpa_json_string(op->sum.category));
	tpa_json_set(json, "calls", tpa_json_number(op->sum.calls));
	tpa_json_set(json, "total_ns", tpa_json_number(op->sum.total_ns));
	tpa_json_set(json, "self_ns", tpa_json_number(op->sum.self_ns));
	tpa_json_set(json, "share", json_real(op->share));
	tpa_json_set(json, "self_flop", tpa_json_number(op->sum.self_flop));
	tpa_json_set(json, "peak_bytes", tpa_json_number(op->peak_bytes));
	if (place.bound != TPA_BOUND_UNKNOWN) {
		tpa_json_set(json, "bound", json_string(tpa_bound_names[place.bound]));
		tpa_json_set(json, "gflops", json_real(place.gflops));
		tpa_json_set(json, "roof_fraction", json_real(place.fraction));
	}
	return json;
}

/* Moves the first `top` ops of each table of the text to the front. Returns their number. */
static size_t choose(struct tpa_compare_op *list, size_t count, uint64_t top)
{
	size_t chosen = 0;

	if (top > count)
		top = count;
	qsort(list, count, sizeof(*list), tpa_compare_by_peak);
	for (size_t n = 0; n < top; n++)
		list[n].chosen = true;
	qsort(list, count, sizeof(*list), tpa_compare_by_share);
	for (size_t n = 0; n < count; n++) {
		if (n < top || list[n].chosen)
			list[chosen++] = list[n];
	}
	return chosen;
}

static bool is_chosen(const struct tpa_variant *variant, const struct tpa_variant_op *op,
		      const struct tpa_compare_op *list, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		if (tpa_compare_op_in(variant, &list[n]) == op)
			return true;
	}
	return false;
}

/* `list`: the selected ops; NULL: all. */
static json_t *variant_json(const struct tpa_variants *variants, size_t number, const struct tpa_machine *machine,
			    const struct tpa_compare_op *list, size_t count)
{
	const struct tpa_variant *variant = &variants->list[number];
	json_t *json = json_object(), *files = json_array(), *ops = json_array();
	const struct tpa_row_context context = { .more = machine };
	char label[TPA_LABEL_MAX];

	tpa_compare_label(variants, number, label);
	for (size_t i = 0; i < variant->run_count; i++)
		for (size_t p = 0; p < variant->runs[i]->process_count; p++)
			json_array_append_new(files, tpa_json_string(variant->runs[i]->processes[p].trace->file));
	for (size_t i = 0; i < variant->op_count; i++) {
		if (!list || is_chosen(variant, &variant->ops[i], list, count))
			json_array_append_new(ops, op_json(machine, variant, &variant->ops[i]));
	}
	tpa_json_set(json, "label", tpa_json_string(label));
	tpa_json_keys(json, tpa_variant_columns, "runs", variant, &context);
	tpa_json_set(json, "files", files);
	tpa_json_keys(
		json, tpa_variant_columns,
		"parameters step_ns step_ci95_ns items_per_step flop_per_step gflops utilisation peak_bytes rss_peak",
		variant, &context);
	tpa_json_set(json, "ops", ops);
	return json;
}

json_t *tpa_compare_json(const struct tpa_variants *variants, const struct tpa_machine *machine, uint64_t top)
{
	size_t count = 0;
	struct tpa_compare_op *ops = top ? tpa_compare_ops(variants, &count) : NULL;
	json_t *list = json_array();

	if (ops)
		count = choose(ops, count, top);
	for (size_t i = 0; i < variants->count; i++)
		json_array_append_new(list, variant_json(variants, i, machine, ops, count));
	free(ops);
	return json_pack("{s:s, s:o}", "schema", "tprof/1", "variants", list);
}
