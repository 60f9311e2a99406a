/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/compare_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/compare_rows.h"
#include "report/text/columns.h"
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

/* ---- one number per variant ---- */

static void print_overview(const struct tpa_page *page, const struct tpa_variants *variants,
			   const struct tpa_machine *machine)
{
	struct tpa_table *table = table_of(variants, "");
	const char *keys =
		"runs parameters step_ns step_ci95_ns items_per_s flop_per_step gflops utilisation peak_bytes "
		"rss_peak";
	const struct tpa_row_context context = { .more = machine };
	const struct tpa_column *column;
	char mark;

	while ((column = tpa_column_next(tpa_variant_columns, &keys, &mark))) {
		tpa_table_add(table, TPA_STYLE_PLAIN, column->title);
		for (size_t i = 0; i < variants->count; i++)
			tpa_cell(table, TPA_STYLE_NUMBER, tpa_column_text(page, column, &variants->list[i], &context));
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
	const struct tpa_numbers numbers = { page, tpa_compare_unseen(variant) };

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
