/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/compare_listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/compare_label.h"
#include "report/rows/estimate.h"
#include "report/json/json.h"
#include "report/rows/name.h"
#include "report/text/op_listing.h"

static struct tp_table *table_of(const struct tp_variants *variants, const char *first)
{
	char titles[TP_TABLE_COLUMNS * 32], label[TP_LABEL_MAX];
	size_t used = (size_t)snprintf(titles, sizeof(titles), "%s", first);

	for (size_t i = 0; i < variants->count; i++) {
		tp_compare_label(variants, i, label);
		used += (size_t)snprintf(titles + used, sizeof(titles) - used, "|>%s", label);
	}
	return tp_table_new(titles);
}

/* ---- one number a variant ---- */

struct row_context {
	const struct tp_machine *machine;
	const struct tp_page *page;
};

static struct tp_text none(void)
{
	return (struct tp_text){ "-" };
}

static struct tp_text number_text(double number)
{
	struct tp_text text = none();

	if (number > 0)
		snprintf(text.text, sizeof(text.text), "%.4g", number);
	return text;
}

static struct tp_text runs_text(const struct row_context *context, const struct tp_variant *variant)
{
	(void)context;
	return tp_count(variant->run_count);
}

static struct tp_text parameters_text(const struct row_context *context, const struct tp_variant *variant)
{
	(void)context;
	return variant->parameters ? tp_count(variant->parameters) : none();
}

static struct tp_text step_text(const struct row_context *context, const struct tp_variant *variant)
{
	(void)context;
	return variant->step_ns > 0 ? tp_time(tp_round(variant->step_ns)) : none();
}

static struct tp_text interval_text(const struct row_context *context, const struct tp_variant *variant)
{
	struct tp_text text = none();
	double half = (variant->step_interval.high - variant->step_interval.low) / 2;

	(void)context;
	if (!isnan(half))
		text = tp_time(tp_round(half));
	return text;
}

static struct tp_text rate_text(const struct row_context *context, const struct tp_variant *variant)
{
	double rate = variant->step_ns > 0 ? variant->items_per_step / variant->step_ns * 1e9 : 0;

	(void)context;
	return rate < 1000 ? number_text(rate) : tp_count(tp_round(rate));
}

static struct tp_text flop_text(const struct row_context *context, const struct tp_variant *variant)
{
	(void)context;
	return number_text(variant->flop_per_step);
}

static double gflops(const struct tp_variant *variant)
{
	return variant->step_ns > 0 ? variant->flop_per_step / variant->step_ns : 0;
}

static struct tp_text gflops_text(const struct row_context *context, const struct tp_variant *variant)
{
	(void)context;
	return number_text(gflops(variant));
}

/* Of the model's FLOP, see tp_roof_utilisation(). Of the first run's cores and precision; -1: not known. */
static double utilisation(const struct tp_machine *machine, const struct tp_variant *variant)
{
	struct tp_utilisation use;

	if (!machine)
		return -1;
	use = tp_roof_utilisation(machine, tp_stepping(variant->runs[0]));
	return use.known ? variant->matrix_flop_per_step / variant->step_ns / use.peak : -1;
}

static struct tp_text utilisation_text(const struct row_context *context, const struct tp_variant *variant)
{
	double share = utilisation(context->machine, variant);
	struct tp_text text = none();

	if (share >= 0)
		snprintf(text.text, sizeof(text.text), "%.1f%%", 100 * share);
	return text;
}

static struct tp_numbers numbers_of(const struct tp_page *page, const struct tp_variant *variant)
{
	struct tp_numbers numbers = { page, { 0, 0 } };

	for (size_t i = 0; i < variant->run_count; i++)
		numbers.unseen = tp_unseen_larger(numbers.unseen, tp_run_unseen(variant->runs[i]));
	return numbers;
}

/* A peak of 0 bytes is one that was not recorded. */
static struct tp_text peak_text(const struct row_context *context, const struct tp_variant *variant)
{
	struct tp_numbers numbers = numbers_of(context->page, variant);

	return variant->peak_bytes ? tp_about(&numbers, tp_bytes(variant->peak_bytes, context->page->exact)) : none();
}

static struct tp_text rss_text(const struct row_context *context, const struct tp_variant *variant)
{
	return variant->rss_peak ? tp_bytes(variant->rss_peak, context->page->exact) : none();
}

static const struct {
	const char *name;
	struct tp_text (*text)(const struct row_context *context, const struct tp_variant *variant);
} rows[] = {
	{ "runs", runs_text },
	{ "parameters", parameters_text },
	{ "step", step_text },
	{ "  95% of the mean, +-", interval_text },
	{ "items a second", rate_text },
	{ "FLOP a step", flop_text },
	{ "GFLOP/s", gflops_text },
	{ "of what the cores can do", utilisation_text },
	{ "memory at the peak", peak_text },
	{ "RSS at most", rss_text },
};

static void print_overview(const struct tp_page *page, const struct tp_variants *variants,
			   const struct tp_machine *machine)
{
	struct tp_table *table = table_of(variants, "");
	struct row_context context = { machine, page };

	for (size_t r = 0; table && r < sizeof(rows) / sizeof(rows[0]); r++) {
		tp_table_add(table, TP_STYLE_PLAIN, rows[r].name);
		for (size_t i = 0; i < variants->count; i++)
			tp_table_add(table, TP_STYLE_NUMBER, rows[r].text(&context, &variants->list[i]).text);
	}
	if (table)
		tp_table_print(table, page, 2);
	tp_table_free(table);
}

/* ---- ops ---- */

/* All ops of all variants, each once, the largest part that it has in any first. */
struct union_op {
	const struct tp_variant_op *op;
	double share;
	uint64_t peak;
	bool chosen;
};

static struct union_op *union_of(const struct tp_variants *variants, size_t *count)
{
	size_t room = 1;
	struct union_op *list;

	for (size_t i = 0; i < variants->count; i++)
		room += variants->list[i].op_count;
	list = calloc(room, sizeof(*list));
	*count = 0;
	for (size_t i = 0; list && i < variants->count; i++) {
		for (size_t k = 0; k < variants->list[i].op_count; k++) {
			const struct tp_variant_op *op = &variants->list[i].ops[k];
			bool seen = false;

			for (size_t before = 0; before < i && !seen; before++)
				seen = tp_variant_op(&variants->list[before], op->sum.name, op->sum.category) != NULL;
			if (!seen)
				list[(*count)++].op = op;
		}
	}
	for (size_t n = 0; n < *count; n++) {
		for (size_t i = 0; i < variants->count; i++) {
			const struct tp_variant_op *op =
				tp_variant_op(&variants->list[i], list[n].op->sum.name, list[n].op->sum.category);

			list[n].share = op && op->share > list[n].share ? op->share : list[n].share;
			list[n].peak = op && op->peak_bytes > list[n].peak ? op->peak_bytes : list[n].peak;
		}
	}
	return list;
}

static int by_share(const void *left, const void *right)
{
	const struct union_op *a = left, *b = right;

	return a->share > b->share ? -1 : a->share < b->share;
}

static int by_peak(const void *left, const void *right)
{
	const struct union_op *a = left, *b = right;

	return a->peak > b->peak ? -1 : a->peak < b->peak;
}

static struct tp_roof_place place_of(const struct tp_machine *machine, const struct tp_variant *variant,
				     const struct tp_variant_op *op)
{
	if (!machine || !op->sum.category)
		return (struct tp_roof_place){ .op = &op->sum };
	return tp_roof_place(machine, tp_roof_cores(machine, tp_stepping(variant->runs[0])), &op->sum);
}

static void share_cell(struct tp_table *table, const struct tp_machine *machine, const struct tp_variant *variant,
		       const struct tp_variant_op *op)
{
	struct tp_roof_place place;
	char text[64];

	if (!op || !op->sum.calls) {
		tp_table_add(table, TP_STYLE_DIM, "-");
		return;
	}
	place = place_of(machine, variant, op);
	if (place.bound == TP_BOUND_UNKNOWN)
		snprintf(text, sizeof(text), "%.1f%%", 100 * op->share);
	else
		snprintf(text, sizeof(text), "%s %.0f%%  %.1f%%",
			 tp_roof_explains(&place) ? tp_bound_names[place.bound] : "no roof", 100 * place.fraction,
			 100 * op->share);
	tp_table_add(table, TP_STYLE_NUMBER, text);
}

static void peak_cell(struct tp_table *table, const struct tp_page *page, const struct tp_variant *variant,
		      const struct tp_variant_op *op)
{
	struct tp_numbers numbers = numbers_of(page, variant);

	tp_table_add(table, TP_STYLE_NUMBER,
		     op && op->peak_bytes ? tp_about(&numbers, tp_bytes(op->peak_bytes, page->exact)).text : "-");
}

static void name_cell(struct tp_table *table, const struct tp_page *page, const char *name)
{
	char shorter[400];

	tp_table_add(table, TP_STYLE_FUNCTION, tp_short_name(page, name, 40, shorter, sizeof(shorter)));
}

static const struct tp_variant_op *in(const struct tp_variant *variant, const struct union_op *row)
{
	return tp_variant_op(variant, row->op->sum.name, row->op->sum.category);
}

static void print_ops(const struct tp_page *page, const struct tp_variants *variants, const struct tp_machine *machine,
		      const struct union_op *list, size_t count)
{
	struct tp_table *table = table_of(variants, "op");

	for (size_t n = 0; table && n < count && list[n].share > 0; n++) {
		name_cell(table, page, list[n].op->sum.name);
		for (size_t i = 0; i < variants->count; i++)
			share_cell(table, machine, &variants->list[i], in(&variants->list[i], &list[n]));
	}
	tp_headline(page, "Share of the time in ops%s",
		    machine ? "; what bounds it, and how much of its roof it reached" : "");
	if (table)
		tp_table_print(table, page, 2);
	tp_table_free(table);
}

static void print_peaks(const struct tp_page *page, const struct tp_variants *variants, const struct union_op *list,
			size_t count)
{
	struct tp_table *table = table_of(variants, "op");

	for (size_t n = 0; table && n < count && list[n].peak; n++) {
		name_cell(table, page, list[n].op->sum.name);
		for (size_t i = 0; i < variants->count; i++)
			peak_cell(table, page, &variants->list[i], in(&variants->list[i], &list[n]));
	}
	tp_headline(page, "Memory at the peak, by the op that allocated it");
	if (table)
		tp_table_print(table, page, 2);
	tp_table_free(table);
}

void tp_compare_print(const struct tp_page *page, const struct tp_variants *variants, const struct tp_machine *machine,
		      uint64_t top)
{
	size_t count = 0, shown;
	struct union_op *list = union_of(variants, &count);

	print_overview(page, variants, machine);
	if (!list)
		return;
	shown = top && top < count ? (size_t)top : count;
	qsort(list, count, sizeof(*list), by_share);
	print_ops(page, variants, machine, list, shown);
	qsort(list, count, sizeof(*list), by_peak);
	print_peaks(page, variants, list, shown);
	free(list);
	if (!machine)
		tp_print(page, TP_STYLE_DIM,
			 "\n  tprof-analyze roofline measures this machine; then it says what bounds them\n");
}

/* ---- JSON ---- */

static json_t *op_json(const struct tp_machine *machine, const struct tp_variant *variant,
		       const struct tp_variant_op *op)
{
	struct tp_roof_place place = place_of(machine, variant, op);
	json_t *json = json_object();

	json_object_set_new(json, "name", tp_json_string(op->sum.name));
	json_object_set_new(json, "category", tp_json_string(op->sum.category));
	json_object_set_new(json, "calls", tp_json_number(op->sum.calls));
	json_object_set_new(json, "total_ns", tp_json_number(op->sum.total_ns));
	json_object_set_new(json, "self_ns", tp_json_number(op->sum.self_ns));
	json_object_set_new(json, "share", json_real(op->share));
	json_object_set_new(json, "self_flop", tp_json_number(op->sum.self_flop));
	json_object_set_new(json, "peak_bytes", tp_json_number(op->peak_bytes));
	if (place.bound != TP_BOUND_UNKNOWN) {
		json_object_set_new(json, "bound", json_string(tp_bound_names[place.bound]));
		json_object_set_new(json, "gflops", json_real(place.gflops));
		json_object_set_new(json, "roof_fraction", json_real(place.fraction));
	}
	return json;
}

static json_t *real_or_null(double number, bool known)
{
	return known ? json_real(number) : json_null();
}

/* The first `top` of either of the text's tables go to the front. Returns how many that is. */
static size_t choose(struct union_op *list, size_t count, uint64_t top)
{
	size_t chosen = 0;

	if (top > count)
		top = count;
	qsort(list, count, sizeof(*list), by_peak);
	for (size_t n = 0; n < top; n++)
		list[n].chosen = true;
	qsort(list, count, sizeof(*list), by_share);
	for (size_t n = 0; n < count; n++) {
		if (n < top || list[n].chosen)
			list[chosen++] = list[n];
	}
	return chosen;
}

static bool is_chosen(const struct tp_variant *variant, const struct tp_variant_op *op, const struct union_op *list,
		      size_t count)
{
	for (size_t n = 0; n < count; n++) {
		if (in(variant, &list[n]) == op)
			return true;
	}
	return false;
}

/* `list`: the ops that are wanted; NULL: all. */
static json_t *variant_json(const struct tp_variants *variants, size_t number, const struct tp_machine *machine,
			    const struct union_op *list, size_t count)
{
	const struct tp_variant *variant = &variants->list[number];
	json_t *json = json_object(), *files = json_array(), *ops = json_array();
	double share = utilisation(machine, variant);
	char label[TP_LABEL_MAX];

	tp_compare_label(variants, number, label);
	for (size_t i = 0; i < variant->run_count; i++)
		for (size_t p = 0; p < variant->runs[i]->process_count; p++)
			json_array_append_new(files, tp_json_string(variant->runs[i]->processes[p].trace->file));
	for (size_t i = 0; i < variant->op_count; i++) {
		if (!list || is_chosen(variant, &variant->ops[i], list, count))
			json_array_append_new(ops, op_json(machine, variant, &variant->ops[i]));
	}
	json_object_set_new(json, "label", tp_json_string(label));
	json_object_set_new(json, "runs", tp_json_number(variant->run_count));
	json_object_set_new(json, "files", files);
	json_object_set_new(json, "parameters",
			    variant->parameters ? tp_json_number(variant->parameters) : json_null());
	json_object_set_new(json, "step_ns", real_or_null(variant->step_ns, variant->step_ns > 0));
	json_object_set_new(json, "step_ci95_ns", tp_json_interval_ns(variant->step_interval));
	json_object_set_new(json, "items_per_step", json_real(variant->items_per_step));
	json_object_set_new(json, "flop_per_step", json_real(variant->flop_per_step));
	json_object_set_new(json, "gflops", json_real(gflops(variant)));
	json_object_set_new(json, "utilisation", real_or_null(share, share >= 0));
	json_object_set_new(json, "peak_bytes", tp_json_number(variant->peak_bytes));
	json_object_set_new(json, "rss_peak", tp_json_number(variant->rss_peak));
	json_object_set_new(json, "ops", ops);
	return json;
}

json_t *tp_compare_json(const struct tp_variants *variants, const struct tp_machine *machine, uint64_t top)
{
	size_t count = 0;
	struct union_op *ops = top ? union_of(variants, &count) : NULL;
	json_t *list = json_array();

	if (ops)
		count = choose(ops, count, top);
	for (size_t i = 0; i < variants->count; i++)
		json_array_append_new(list, variant_json(variants, i, machine, ops, count));
	free(ops);
	return json_pack("{s:s, s:o}", "schema", "tprof/1", "variants", list);
}
