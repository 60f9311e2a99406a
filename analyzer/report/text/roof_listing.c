/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/roof_listing.h"

#include <stdio.h>

#include "report/text/name.h"

static struct tp_text rate_text(double rate)
{
	struct tp_text text = { "-" };

	if (rate > 0)
		snprintf(text.text, sizeof(text.text), rate < 99.95 ? "%.3g" : "%.0f", rate);
	return text;
}

static void cell(struct tp_table *table, enum tp_style style, struct tp_text text)
{
	tp_table_add(table, style, text.text);
}

static void print_table(struct tp_table *table, const struct tp_page *page)
{
	tp_table_print(table, page, 2);
	tp_table_free(table);
}

/* A row of the precisions from `first` to `last`, if there is any. */
static bool add_width(struct tp_table *table, const struct tp_machine *machine, enum tp_width width,
		      enum tp_precision first, enum tp_precision last)
{
	const struct tp_rate *rates = machine->flops[width];
	bool any = false;

	for (int precision = (int)first; precision <= (int)last; precision++)
		any |= rates[precision].one > 0;
	if (!any)
		return false;
	tp_table_add(table, TP_STYLE_PLAIN, tp_width_names[width]);
	for (int precision = (int)first; precision <= (int)last; precision++) {
		cell(table, TP_STYLE_NUMBER, rate_text(rates[precision].one));
		cell(table, TP_STYLE_NUMBER, rate_text(rates[precision].all));
	}
	return true;
}

void tp_machine_print(const struct tp_page *page, const struct tp_machine *machine)
{
	struct tp_table *table = tp_table_new("GFLOP/s|>single, 1 core|>all cores|>double, 1 core|>all cores");
	struct tp_table *narrow =
		tp_table_new("narrow types|>bf16, 1 core|>all cores|>f16, 1 core|>all cores|>int8, 1 core|>all cores");
	bool any = false;

	tp_headline(page, "Machine: %s, %u core%s", machine->cpu, machine->cores, tp_plural(machine->cores));
	for (int width = 0; width < TP_WIDTHS; width++) {
		add_width(table, machine, (enum tp_width)width, TP_SINGLE, TP_DOUBLE);
		if (narrow)
			any |= add_width(narrow, machine, (enum tp_width)width, TP_BF16, TP_INT8);
	}
	print_table(table, page);
	if (any) {
		fputc('\n', page->out);
		print_table(narrow, page);
	} else {
		tp_table_free(narrow);
	}
	fputc('\n', page->out);
	table = tp_table_new("reading from|>of a size of|>GB/s, 1 core|>all cores");
	for (int level = 0; level < TP_LEVELS; level++) {
		uint64_t size = level < TP_LEVEL_MEMORY ? machine->cache_bytes[level] : 0;

		if (!(machine->bandwidth[level].one > 0))
			continue;
		tp_table_add(table, TP_STYLE_PLAIN, tp_level_names[level]);
		tp_table_add(table, TP_STYLE_PLAIN, size ? tp_bytes(size, page->exact).text : "-");
		cell(table, TP_STYLE_NUMBER, rate_text(machine->bandwidth[level].one));
		cell(table, TP_STYLE_NUMBER, rate_text(machine->bandwidth[level].all));
	}
	print_table(table, page);
}

static struct tp_text fraction_text(double fraction)
{
	struct tp_text text;

	snprintf(text.text, sizeof(text.text), fraction < 0.001 ? "<0.1%%" : "%.1f%%", 100 * fraction);
	return text;
}

/* "memory, L2" */
static void bound_cell(struct tp_table *table, const struct tp_roof_place *place)
{
	bool cached = place->bound == TP_BOUND_MEMORY && place->level != TP_LEVEL_MEMORY;
	char bound[64];

	if (tp_roof_missing(place)) {
		tp_table_add(table, TP_STYLE_DIM, tp_roof_missing(place));
		return;
	}
	snprintf(bound, sizeof(bound), "%s%s%s", tp_bound_names[place->bound], cached ? ", " : "",
		 cached ? tp_level_names[place->level] : "");
	tp_table_add(table, TP_STYLE_PLAIN, bound);
}

static void add_row(struct tp_table *table, const struct tp_page *page, const struct tp_roof_place *place)
{
	char shorter[400], type[16];

	snprintf(type, sizeof(type), "%s%s", place->precision < TP_UNSAID ? tp_precision_names[place->precision] : "-",
		 place->mixed ? "+" : "");
	cell(table, TP_STYLE_NUMBER, tp_time(tp_round(place->time_ns)));
	cell(table, TP_STYLE_PLAIN, rate_text(place->gflops));
	cell(table, TP_STYLE_PLAIN, rate_text(place->gbytes));
	cell(table, TP_STYLE_PLAIN, rate_text(place->intensity));
	bound_cell(table, place);
	tp_table_add(table, TP_STYLE_PLAIN, type);
	cell(table, TP_STYLE_PLAIN, rate_text(place->roof));
	cell(table, TP_STYLE_NUMBER, fraction_text(place->fraction));
	cell(table, TP_STYLE_PLAIN,
	     tp_time(place->time_ns > place->ideal_ns ? tp_round(place->time_ns - place->ideal_ns) : 0));
	tp_table_add(table, TP_STYLE_FUNCTION, tp_short_name(page, place->op->name, 60, shorter, sizeof(shorter)));
}

/* Nothing is faster than the machine: either it was measured while it was busy, or the work was less than said. */
static void print_doubt(const struct tp_page *page, const struct tp_roof_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (places[i].fraction <= 1.1)
			continue;
		tp_print(page, TP_STYLE_WARN,
			 "  %.100s is above its roof: the machine was busy when it was measured (--measure repeats "
			 "it), or the op did less work than it says\n",
			 places[i].op->name);
		return;
	}
}

/* By the work that is known they are where they stand; that of exponentials, roots and iterations is not. */
static void print_uncounted(const struct tp_page *page, const struct tp_roof_place *places, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += places[i].op->uncounted > 0 && places[i].bound == TP_BOUND_MEMORY &&
			 tp_roof_explains(&places[i]);
	if (found)
		tp_print(page, TP_STYLE_DIM,
			 "      %s of the memory-bound ops compute%s functions without a count of FLOP (exponentials, "
			 "roots), which may bound %s\n",
			 tp_count(found).text, found == 1 ? "s" : "", found == 1 ? "it" : "them");
}

/* What no roof explains: which of these ops are uneven, and that the others are not bound by what is above them either. */
static void print_unexplained(const struct tp_page *page, const struct tp_roof_place *places, size_t count)
{
	enum { NAMED = 3 };
	size_t low = 0, uneven = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tp_op_stats *op = places[i].op;

		if (tp_roof_explains(&places[i]))
			continue;
		low++;
		if (!tp_roof_is_uneven(op) || uneven++ >= NAMED)
			continue;
		tp_print(page, TP_STYLE_WARN,
			 "  %.100s is uneven: half of its %s calls take at most %s, one in ten %s or more: these "
			 "wait (for threads, a lock, a processor), and no roof explains it\n",
			 op->name, tp_count(op->calls).text, tp_time(op->p50_ns).text, tp_time(op->p90_ns).text);
	}
	if (uneven > NAMED)
		tp_print(page, TP_STYLE_DIM, "      and %s more ops are uneven\n", tp_count(uneven - NAMED).text);
	if (low > uneven)
		tp_print(page, TP_STYLE_DIM,
			 "      %s reach%s less than a tenth of the roof above: no roof explains the time; waiting "
			 "does (for threads, a lock, a processor), or the cost of calls that do little\n",
			 tp_count(low - uneven).text, low - uneven == 1 ? "es" : "");
}

void tp_roof_print(const struct tp_page *page, const struct tp_roof_place *places, size_t count, uint64_t top)
{
	struct tp_table *table =
		tp_table_new(">time|>GFLOP/s|>GB/s|>FLOP/B|bound by|in|>its roof|>reached|>could save|*op");

	tp_headline(page, "Ops under their roof: by their own time and work");
	for (size_t i = 0; i < count && (!top || i < top); i++)
		add_row(table, page, &places[i]);
	if (count)
		print_table(table, page);
	else
		tp_table_free(table);
	if (!count)
		fputs("  no op has a known amount of work\n", page->out);
	if (top && top < count)
		tp_print(page, TP_STYLE_DIM, "      and %s more ops (--top 0 shows all)\n", tp_count(count - top).text);
	print_unexplained(page, places, count);
	print_uncounted(page, places, count);
	print_doubt(page, places, count);
}

void tp_utilisation_print(const struct tp_page *page, const struct tp_machine *machine,
			  const struct tp_process *process)
{
	struct tp_utilisation use = tp_roof_utilisation(machine, process);

	if (!use.known)
		return;
	fprintf(page->out,
		"\n  steps: %.4g FLOP of matrix products each, %s GFLOP/s: %s of the %s that the cores could do (%s)\n",
		use.flop_per_step, rate_text(use.gflops).text, fraction_text(use.share).text, rate_text(use.peak).text,
		tp_roof_precision(use.precision, use.mixed));
}

const char *tp_roof_note(void *context, const struct tp_op_stats *op)
{
	struct tp_roof_notes *notes = context;
	struct tp_roof_place place = tp_roof_place(notes->machine, notes->cores, op);
	bool cached = place.bound == TP_BOUND_MEMORY && place.level != TP_LEVEL_MEMORY;

	if (place.bound == TP_BOUND_UNKNOWN)
		return NULL;
	if (!tp_roof_explains(&place)) {
		if (tp_roof_is_uneven(op))
			snprintf(notes->text, sizeof(notes->text),
				 "uneven (p50 %s, p90 %s): it waits; no roof explains it (%s of one)",
				 tp_time(op->p50_ns).text, tp_time(op->p90_ns).text,
				 fraction_text(place.fraction).text);
		else
			snprintf(notes->text, sizeof(notes->text), "no roof explains its time (%s of one)",
				 fraction_text(place.fraction).text);
		return notes->text;
	}
	snprintf(notes->text, sizeof(notes->text), "%s-bound%s%s%s, %s of its roof", tp_bound_names[place.bound],
		 cached ? " (" : "", cached ? tp_level_names[place.level] : "", cached ? ")" : "",
		 fraction_text(place.fraction).text);
	return notes->text;
}

/* ---- JSON ---- */
