/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/compare_listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/compare_rows.h"
#include "report/text/name.h"
#include "report/text/numbers.h"

static struct tpa_table *table_of(const struct tpa_variants *variants, const char *first)
{
	char titles[TPA_TABLE_COLUMNS * 32], label[TPA_LABEL_MAX];
	size_t used = (size_t)snprintf(titles, sizeof(titles), "%s", first);

	for (size_t i = 0; i < variants->count; i++) {
		tpa_compare_label(variants, i, label);
		used += (size_t)snprintf(titles + used, sizeof(titles) - used, "|>%s", label);
	}
	return tpa_table_new(titles);
}

/* ---- one number a variant ---- */

struct row_context {
	const struct tpa_machine *machine;
	const struct tpa_page *page;
};

static struct tpa_text none(void)
{
	return (struct tpa_text){ "-" };
}

static struct tpa_text number_text(double number)
{
	return number > 0 ? tpa_text_of("%.4g", number) : none();
}

static struct tpa_text runs_text(const struct row_context *context, const struct tpa_variant *variant)
{
	(void)context;
	return tpa_count(variant->run_count);
}

static struct tpa_text parameters_text(const struct row_context *context, const struct tpa_variant *variant)
{
	(void)context;
	return variant->parameters ? tpa_count(variant->parameters) : none();
}

static struct tpa_text step_text(const struct row_context *context, const struct tpa_variant *variant)
{
	(void)context;
	return variant->step_ns > 0 ? tpa_time(tpa_round(variant->step_ns)) : none();
}

static struct tpa_text interval_text(const struct row_context *context, const struct tpa_variant *variant)
{
	double half = (variant->step_interval.high - variant->step_interval.low) / 2;

	(void)context;
	return isnan(half) ? none() : tpa_time(tpa_round(half));
}

static struct tpa_text rate_text(const struct row_context *context, const struct tpa_variant *variant)
{
	double rate = variant->step_ns > 0 ? variant->items_per_step / variant->step_ns * 1e9 : 0;

	(void)context;
	return rate < 1000 ? number_text(rate) : tpa_count(tpa_round(rate));
}

static struct tpa_text flop_text(const struct row_context *context, const struct tpa_variant *variant)
{
	(void)context;
	return number_text(variant->flop_per_step);
}

static struct tpa_text gflops_text(const struct row_context *context, const struct tpa_variant *variant)
{
	(void)context;
	return number_text(tpa_compare_gflops(variant));
}

static struct tpa_text utilisation_text(const struct row_context *context, const struct tpa_variant *variant)
{
	double share = tpa_compare_utilisation(context->machine, variant);

	return share >= 0 ? tpa_text_of("%.1f%%", 100 * share) : none();
}

static struct tpa_numbers numbers_of(const struct tpa_page *page, const struct tpa_variant *variant)
{
	struct tpa_numbers numbers = { page, { 0, 0 } };

	for (size_t i = 0; i < variant->run_count; i++)
		numbers.unseen = tpa_unseen_larger(numbers.unseen, tpa_run_unseen(variant->runs[i]));
	return numbers;
}

/* A peak of 0 bytes is one that was not recorded. */
static struct tpa_text peak_text(const struct row_context *context, const struct tpa_variant *variant)
{
	struct tpa_numbers numbers = numbers_of(context->page, variant);

	return variant->peak_bytes ? tpa_about(&numbers, tpa_bytes(variant->peak_bytes, context->page->exact)) : none();
}

static struct tpa_text rss_text(const struct row_context *context, const struct tpa_variant *variant)
{
	return variant->rss_peak ? tpa_bytes(variant->rss_peak, context->page->exact) : none();
}

static const struct {
	const char *name;
	struct tpa_text (*text)(const struct row_context *context, const struct tpa_variant *variant);
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

static void print_overview(const struct tpa_page *page, const struct tpa_variants *variants,
			   const struct tpa_machine *machine)
{
	struct tpa_table *table = table_of(variants, "");
	struct row_context context = { machine, page };

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		tpa_table_add(table, TPA_STYLE_PLAIN, rows[r].name);
		for (size_t i = 0; i < variants->count; i++)
			tpa_table_add(table, TPA_STYLE_NUMBER, rows[r].text(&context, &variants->list[i]).text);
	}
	tpa_table_end(table, page);
}

/* ---- ops ---- */

static void share_cell(struct tpa_table *table, const struct tpa_machine *machine, const struct tpa_variant *variant,
		       const struct tpa_variant_op *op)
{
	struct tpa_roof_place place;
	char text[64];

	if (!op || !op->sum.calls) {
		tpa_table_add(table, TPA_STYLE_DIM, "-");
		return;
	}
	place = tpa_compare_place(machine, variant, op);
	if (place.bound == TPA_BOUND_UNKNOWN)
		snprintf(text, sizeof(text), "%.1f%%", 100 * op->share);
	else
		snprintf(text, sizeof(text), "%s %.0f%%  %.1f%%",
			 tpa_roof_explains(&place) ? tpa_bound_names[place.bound] : "no roof", 100 * place.fraction,
			 100 * op->share);
	tpa_table_add(table, TPA_STYLE_NUMBER, text);
}

static void peak_cell(struct tpa_table *table, const struct tpa_page *page, const struct tpa_variant *variant,
		      const struct tpa_variant_op *op)
{
	struct tpa_numbers numbers = numbers_of(page, variant);

	tpa_table_add(table, TPA_STYLE_NUMBER,
		      op && op->peak_bytes ? tpa_about(&numbers, tpa_bytes(op->peak_bytes, page->exact)).text : "-");
}

static void name_cell(struct tpa_table *table, const struct tpa_page *page, const char *name)
{
	char shorter[400];

	tpa_table_add(table, TPA_STYLE_FUNCTION, tpa_short_name(page, name, 40, shorter, sizeof(shorter)));
}

static void print_ops(const struct tpa_page *page, const struct tpa_variants *variants,
		      const struct tpa_machine *machine, const struct tpa_compare_op *list, size_t count)
{
	struct tpa_table *table = table_of(variants, "op");

	for (size_t n = 0; n < count && list[n].share > 0; n++) {
		name_cell(table, page, list[n].op->sum.name);
		for (size_t i = 0; i < variants->count; i++)
			share_cell(table, machine, &variants->list[i], tpa_compare_op_in(&variants->list[i], &list[n]));
	}
	tpa_headline(page, "Share of the time in ops%s",
		     machine ? "; what bounds it, and how much of its roof it reached" : "");
	tpa_table_end(table, page);
}

static void print_peaks(const struct tpa_page *page, const struct tpa_variants *variants,
			const struct tpa_compare_op *list, size_t count)
{
	struct tpa_table *table = table_of(variants, "op");

	for (size_t n = 0; n < count && list[n].peak; n++) {
		name_cell(table, page, list[n].op->sum.name);
		for (size_t i = 0; i < variants->count; i++)
			peak_cell(table, page, &variants->list[i], tpa_compare_op_in(&variants->list[i], &list[n]));
	}
	tpa_headline(page, "Memory at the peak, by the op that allocated it");
	tpa_table_end(table, page);
}

void tpa_compare_print(const struct tpa_page *page, const struct tpa_variants *variants,
		       const struct tpa_machine *machine, uint64_t top)
{
	size_t count = 0, shown;
	struct tpa_compare_op *list = tpa_compare_ops(variants, &count);

	print_overview(page, variants, machine);
	if (!list)
		return;
	shown = top && top < count ? (size_t)top : count;
	qsort(list, count, sizeof(*list), tpa_compare_by_share);
	print_ops(page, variants, machine, list, shown);
	qsort(list, count, sizeof(*list), tpa_compare_by_peak);
	print_peaks(page, variants, list, shown);
	free(list);
	if (!machine)
		tpa_print(page, TPA_STYLE_DIM,
			  "\n  tprof-analyze roofline measures this machine; then it says what bounds them\n");
}
