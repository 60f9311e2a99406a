/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/roof_listing.h"

#include <stdio.h>

#include "report/text/name.h"

static struct tpa_text rate_text(double rate)
{
	return tpa_text_of(rate > 0 ? rate < 99.95 ? "%.3g" : "%.0f" : "-", rate);
}

/* Adds a row for the precisions from `first` to `last`, if there are any. */
static bool add_width(struct tpa_table *table, const struct tpa_machine *machine, enum tpa_width width,
		      enum tpa_precision first, enum tpa_precision last)
{
	const struct tpa_rate *rates = machine->flops[width];
	bool any = false;

	for (int precision = (int)first; precision <= (int)last; precision++)
		any |= rates[precision].one > 0;
	if (!any)
		return false;
	tpa_table_add(table, TPA_STYLE_PLAIN, tpa_width_names[width]);
	for (int precision = (int)first; precision <= (int)last; precision++) {
		tpa_cell(table, TPA_STYLE_NUMBER, rate_text(rates[precision].one));
		tpa_cell(table, TPA_STYLE_NUMBER, rate_text(rates[precision].all));
	}
	return true;
}

void tpa_machine_print(const struct tpa_page *page, const struct tpa_machine *machine)
{
	struct tpa_table *table = tpa_table_new("GFLOP/s|>single, 1 core|>all cores|>double, 1 core|>all cores");
	struct tpa_table *narrow =
		tpa_table_new("narrow types|>bf16, 1 core|>all cores|>f16, 1 core|>all cores|>int8, 1 core|>all cores");
	bool any = false;

	tpa_headline(page, "Machine: %s, %u core%s", machine->cpu, machine->cores, tpa_plural(machine->cores));
	for (int width = 0; width < TPA_WIDTHS; width++) {
		add_width(table, machine, (enum tpa_width)width, TPA_SINGLE, TPA_DOUBLE);
		if (narrow)
			any |= add_width(narrow, machine, (enum tpa_width)width, TPA_BF16, TPA_INT8);
	}
	tpa_table_end(table, page);
	if (any) {
		fputc('\n', page->out);
		tpa_table_end(narrow, page);
	} else {
		tpa_table_free(narrow);
	}
	fputc('\n', page->out);
	table = tpa_table_new("reading from|>of a size of|>GB/s, 1 core|>all cores");
	for (int level = 0; level < TPA_LEVELS; level++) {
		uint64_t size = level < TPA_LEVEL_MEMORY ? machine->cache_bytes[level] : 0;

		if (!(machine->bandwidth[level].one > 0))
			continue;
		tpa_table_add(table, TPA_STYLE_PLAIN, tpa_level_names[level]);
		tpa_table_add(table, TPA_STYLE_PLAIN, size ? tpa_bytes(size, page->exact).text : "-");
		tpa_cell(table, TPA_STYLE_NUMBER, rate_text(machine->bandwidth[level].one));
		tpa_cell(table, TPA_STYLE_NUMBER, rate_text(machine->bandwidth[level].all));
	}
	tpa_table_end(table, page);
}

static struct tpa_text fraction_text(double fraction)
{
	return tpa_text_of(fraction < 0.001 ? "<0.1%%" : "%.1f%%", 100 * fraction);
}

/* "memory, L2" */
static void bound_cell(struct tpa_table *table, const struct tpa_roof_place *place)
{
	bool cached = place->bound == TPA_BOUND_MEMORY && place->level != TPA_LEVEL_MEMORY;
	char bound[64];

	if (tpa_roof_missing(place)) {
		tpa_table_add(table, TPA_STYLE_DIM, tpa_roof_missing(place));
		return;
	}
	snprintf(bound, sizeof(bound), "%s%s%s", tpa_bound_names[place->bound], cached ? ", " : "",
		 cached ? tpa_level_names[place->level] : "");
	tpa_table_add(table, TPA_STYLE_PLAIN, bound);
}

static void add_row(struct tpa_table *table, const struct tpa_page *page, const struct tpa_roof_place *place)
{
	char shorter[400], type[16];

	snprintf(type, sizeof(type), "%s%s",
		 place->precision < TPA_UNSAID ? tpa_precision_names[place->precision] : "-", place->mixed ? "+" : "");
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(tpa_round(place->time_ns)));
	tpa_cell(table, TPA_STYLE_PLAIN, rate_text(place->gflops));
	tpa_cell(table, TPA_STYLE_PLAIN, rate_text(place->gbytes));
	tpa_cell(table, TPA_STYLE_PLAIN, rate_text(place->intensity));
	bound_cell(table, place);
	tpa_table_add(table, TPA_STYLE_PLAIN, type);
	tpa_cell(table, TPA_STYLE_PLAIN, rate_text(place->roof));
	tpa_cell(table, TPA_STYLE_NUMBER, fraction_text(place->fraction));
	tpa_cell(table, TPA_STYLE_PLAIN,
		 tpa_time(place->time_ns > place->ideal_ns ? tpa_round(place->time_ns - place->ideal_ns) : 0));
	tpa_table_add(table, TPA_STYLE_FUNCTION, tpa_short_name(page, place->op->name, 60, shorter, sizeof(shorter)));
}

/*
 * No op is faster than the machine: either the machine was busy when it was measured, or the ops did less work than
 * recorded.
 */
static void print_doubt(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (places[i].fraction <= 1.1)
			continue;
		tpa_print(page, TPA_STYLE_WARN,
			  "  %.100s is above its roof: the machine was busy when it was measured (--measure repeats "
			  "it), or the op did less work than it says\n",
			  places[i].op->name);
		return;
	}
}

/* Places count only known work, which excludes exponentials, roots and iterations. */
static void print_uncounted(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += places[i].op->uncounted > 0 && places[i].bound == TPA_BOUND_MEMORY &&
			 tpa_roof_explains(&places[i]);
	if (found)
		tpa_print(page, TPA_STYLE_DIM,
			  "      %s of the memory-bound ops compute%s functions without a count of FLOP (exponentials, "
			  "roots), which may bound %s\n",
			  tpa_count(found).text, found == 1 ? "s" : "", found == 1 ? "it" : "them");
}

/*
 * Prints ops whose time no roof explains: the uneven ones, and that the roofs above the others don't bound them
 * either.
 */
static void print_unexplained(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count)
{
	enum { NAMED = 3 };
	size_t low = 0, uneven = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tpa_op_stats *op = places[i].op;

		if (tpa_roof_explains(&places[i]))
			continue;
		low++;
		if (!tpa_roof_is_uneven(op) || uneven++ >= NAMED)
			continue;
		tpa_print(page, TPA_STYLE_WARN,
			  "  %.100s is uneven: half of its %s calls take at most %s, one in ten %s or more: these "
			  "wait (for threads, a lock, a processor), and no roof explains it\n",
			  op->name, tpa_count(op->calls).text, tpa_time(op->p50_ns).text, tpa_time(op->p90_ns).text);
	}
	if (uneven > NAMED)
		tpa_print(page, TPA_STYLE_DIM, "      and %s more ops are uneven\n", tpa_count(uneven - NAMED).text);
	if (low > uneven)
		tpa_print(page, TPA_STYLE_DIM,
			  "      %s reach%s less than a tenth of the roof above: no roof explains the time; waiting "
			  "does (for threads, a lock, a processor), or the cost of calls that do little\n",
			  tpa_count(low - uneven).text, low - uneven == 1 ? "es" : "");
}

void tpa_roof_print(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count, uint64_t top)
{
	struct tpa_table *table =
		tpa_table_new(">time|>GFLOP/s|>GB/s|>FLOP/B|bound by|in|>its roof|>reached|>could save|*op");

	tpa_headline(page, "Ops under their roof: by their own time and work");
	for (size_t i = 0; i < count && (!top || i < top); i++)
		add_row(table, page, &places[i]);
	if (count)
		tpa_table_end(table, page);
	else
		tpa_table_free(table);
	if (!count)
		fputs("  no op has a known amount of work\n", page->out);
	tpa_rest_print(page, count, top, " op");
	print_unexplained(page, places, count);
	print_uncounted(page, places, count);
	print_doubt(page, places, count);
}

void tpa_utilisation_print(const struct tpa_page *page, const struct tpa_machine *machine,
			   const struct tpa_process *process)
{
	struct tpa_utilisation use = tpa_roof_utilisation(machine, process);

	if (!use.known)
		return;
	fprintf(page->out,
		"\n  steps: %.4g FLOP of matrix products each, %s GFLOP/s: %s of the %s that the cores could do (%s)\n",
		use.flop_per_step, rate_text(use.gflops).text, fraction_text(use.share).text, rate_text(use.peak).text,
		tpa_roof_precision(use.precision, use.mixed));
}

const char *tpa_roof_note(void *context, const struct tpa_op_stats *op)
{
	struct tpa_roof_notes *notes = context;
	struct tpa_roof_place place = tpa_roof_place(notes->machine, notes->cores, op);
	bool cached = place.bound == TPA_BOUND_MEMORY && place.level != TPA_LEVEL_MEMORY;

	if (place.bound == TPA_BOUND_UNKNOWN)
		return NULL;
	if (!tpa_roof_explains(&place)) {
		if (tpa_roof_is_uneven(op))
			snprintf(notes->text, sizeof(notes->text),
				 "uneven (p50 %s, p90 %s): it waits; no roof explains it (%s of one)",
				 tpa_time(op->p50_ns).text, tpa_time(op->p90_ns).text,
				 fraction_text(place.fraction).text);
		else
			snprintf(notes->text, sizeof(notes->text), "no roof explains its time (%s of one)",
				 fraction_text(place.fraction).text);
		return notes->text;
	}
	snprintf(notes->text, sizeof(notes->text), "%s-bound%s%s%s, %s of its roof", tpa_bound_names[place.bound],
		 cached ? " (" : "", cached ? tpa_level_names[place.level] : "", cached ? ")" : "",
		 fraction_text(place.fraction).text);
	return notes->text;
}
