/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/step_listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/process_facts.h"
#include "report/text/numbers.h"
#include "report/text/op_cells.h"

/* ---- text: in one line ---- */

/* Items per second in the steps after the warm-up; 0: unknown. */
static double throughput(const struct tpa_step_stats *steps)
{
	double took = steps->durations.mean * (double)steps->durations.count;

	return took > 0 ? (double)steps->rest_items / took * 1e9 : 0;
}

void tpa_steps_print_line(const struct tpa_page *page, const struct tpa_step_stats *steps)
{
	struct tpa_interval interval = steps->interval;

	tpa_print(page, TPA_STYLE_NUMBER, "%s step%s", tpa_count(steps->count).text, tpa_plural(steps->count));
	if (steps->durations.count) {
		fprintf(page->out, " of %s", tpa_time(tpa_round(steps->durations.mean)).text);
		if (!isnan(interval.low))
			fprintf(page->out, " (mean; 95%% interval %s to %s", tpa_time(tpa_round(interval.low)).text,
				tpa_time(tpa_round(interval.high)).text);
		if (steps->effective < 0.8 * (double)steps->durations.count)
			fprintf(page->out, ", as of %.0f independent steps", steps->effective);
		if (!isnan(interval.low))
			fputc(')', page->out);
		fprintf(page->out, ", p50 %s, p99 %s", tpa_time(steps->p50_ns).text, tpa_time(steps->p99_ns).text);
	}
	fprintf(page->out, "; the first took %s, with the program's start", tpa_time(steps->first_ns).text);
	if (steps->warmup > 1)
		fprintf(page->out, ", and %s more warmed up: %s in all", tpa_count(steps->warmup - 1).text,
			tpa_time(steps->warmup_ns).text);
	if (throughput(steps) > 0)
		fprintf(page->out, "; %s items a second", tpa_count(tpa_round(throughput(steps))).text);
	fputc('\n', page->out);
}

void tpa_steps_print_short(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_step_stats *steps = &process->steps;

	if (!steps->count)
		return;
	tpa_print(page, TPA_STYLE_NUMBER, "%s step%s", tpa_count(steps->count).text, tpa_plural(steps->count));
	if (steps->durations.count)
		fprintf(page->out, " of %s (p50 %s, p99 %s)", tpa_time(tpa_round(steps->durations.mean)).text,
			tpa_time(steps->p50_ns).text, tpa_time(steps->p99_ns).text);
	fprintf(page->out, " after %s of start and warm-up", tpa_time(steps->warmup_ns).text);
	if (throughput(steps) > 0)
		fprintf(page->out, "; %s items a second", tpa_count(tpa_round(throughput(steps))).text);
	if (steps->source == TPA_STEPS_AUTOGRAD)
		fputs("; each ends with a backward pass", page->out);
	if (steps->source == TPA_STEPS_PERIOD)
		fprintf(page->out, "; found by the period of the ops (%.1f%% alike)", 100 * steps->confidence);
	fputc('\n', page->out);
}

void tpa_steps_print_source(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_step_stats *steps = &process->steps;
	const char *op = tpa_process_op_name(process, steps->anchor);

	if (steps->source == TPA_STEPS_AUTOGRAD)
		tpa_print(page, TPA_STYLE_DIM, "each ends with a backward pass (%s), because the program marks none\n",
			  op);
	if (steps->source == TPA_STEPS_PERIOD)
		tpa_print(page, TPA_STYLE_WARN,
			  "the program marks none: found by the period of its ops. Each ends with a call of %s; of its "
			  "%.4g calls %.1f%% are alike from step to step. tprof_step() marks them for sure\n",
			  op ? op : "?", steps->calls, 100 * steps->confidence);
}

/* ---- text: ops ---- */

void tpa_steps_print_ops(const struct tpa_page *page, const struct tpa_process *process, uint64_t top)
{
	const struct tpa_step_stats *steps = &process->steps;
	size_t count = top && top < steps->op_count ? (size_t)top : steps->op_count;
	struct tpa_table *table = count && steps->summed ? tpa_table_new(">self in a step|>%|*op") : NULL;
	double mean = steps->durations.mean;

	if (!table)
		return;
	tpa_headline(page, "Time in a step, by op (all threads)");
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = steps->ops[i].self_ns / steps->summed;

		tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_percent(ns, tpa_round(mean)));
		tpa_op_name_cell(table, page, tpa_process_op_name(process, steps->ops[i].op), 0);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, steps->op_count, count, "");
}

/* ---- text: outliers ---- */

struct phrase {
	char text[400];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct phrase *phrase, const char *format, ...)
{
	va_list args;
	int length;

	if (phrase->used + 2 >= sizeof(phrase->text))
		return;
	if (phrase->used)
		phrase->used +=
			(size_t)snprintf(phrase->text + phrase->used, sizeof(phrase->text) - phrase->used, "; ");
	va_start(args, format);
	length = vsnprintf(phrase->text + phrase->used, sizeof(phrase->text) - phrase->used, format, args);
	va_end(args);
	phrase->used += length > 0 ? (size_t)length : 0;
	if (phrase->used >= sizeof(phrase->text))
		phrase->used = sizeof(phrase->text) - 1;
}

#define FAULT_NS 500 /* typical cost of a page fault: the least extra time per fault worth mentioning */

static struct tpa_text more_time(int64_t ns)
{
	return tpa_time((uint64_t)ns);
}

/* Explains a step by the kernel's counters. */
static void explain_usage(const struct tpa_step_outlier *outlier, int64_t least, struct phrase *phrase)
{
	/* A running thread handles faults: they explain only running time. */
	int64_t running = outlier->own_known && outlier->waited_ns > 0 ? least - outlier->waited_ns / 10 : least;

	if (outlier->own_known && outlier->waited_ns >= least) {
		say(phrase, "not running +%s", more_time(outlier->waited_ns).text);
		if (outlier->waits > 0)
			say(phrase, "waits +%s", tpa_count((uint64_t)outlier->waits).text);
		if (outlier->preemptions > 0)
			say(phrase, "preempted +%s times", tpa_count((uint64_t)outlier->preemptions).text);
	}
	if (outlier->minor_faults > 0 && outlier->minor_faults > running / FAULT_NS)
		say(phrase, "page faults +%s", tpa_count((uint64_t)outlier->minor_faults).text);
	if (outlier->major_faults > 0)
		say(phrase, "page faults from disk +%s", tpa_count((uint64_t)outlier->major_faults).text);
	if (outlier->own_known && outlier->others_cpu_ns >= least)
		say(phrase, "CPU time of other threads +%s", more_time(outlier->others_cpu_ns).text);
	else if (!outlier->own_known && outlier->cpu_ns >= least)
		say(phrase, "CPU time of all threads +%s", more_time(outlier->cpu_ns).text);
}

/* Lists causes that explain at least a tenth of the step's extra time. */
static void explain(const struct tpa_page *page, const struct tpa_process *process,
		    const struct tpa_step_outlier *outlier, struct phrase *phrase)
{
	const struct tpa_step_stats *steps = &process->steps;
	const struct tpa_numbers numbers = { page, process->unseen };
	double late = (double)outlier->ns - steps->durations.mean;
	int64_t least = late > 10 ? (int64_t)(late / 10) : 1;
	int64_t cpu_ns = (int64_t)((uint64_t)outlier->cpu_periods * process->trace->header->cpu_period_ns);
	const char *name;

	for (uint32_t i = 0; i < TPA_STEP_DIFFERENCES; i++) {
		name = tpa_process_op_name(process, outlier->ops[i].op);
		if (outlier->ops[i].ns >= least && name)
			say(phrase, "%.60s +%s", name, more_time(outlier->ops[i].ns).text);
	}
	if (outlier->outside_ns >= least)
		say(phrase, "outside of ops +%s", more_time(outlier->outside_ns).text);
	if (outlier->usage_known)
		explain_usage(outlier, least, phrase);
	else if (cpu_ns > least)
		say(phrase, "CPU time of all threads +%s", more_time(cpu_ns).text);
	/* Sampling makes recorded allocations vary: a few more or fewer say nothing about a step. */
	if (outlier->allocated_bytes > 0 && outlier->allocations > 0 && !process->estimated)
		say(phrase, "allocated +%s in +%s blocks",
		    tpa_bytes((uint64_t)outlier->allocated_bytes, page->exact).text,
		    tpa_count((uint64_t)outlier->allocations).text);
	if (outlier->live_bytes > 0)
		say(phrase, "live memory +%s",
		    tpa_about(&numbers, tpa_bytes((uint64_t)outlier->live_bytes, page->exact)).text);
	if (!phrase->used)
		say(phrase, "nothing that was recorded");
}

void tpa_steps_print_outliers(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_step_stats *steps = &process->steps;
	struct tpa_table *table =
		steps->outlier_count ? tpa_table_new(">step|>time|more than in the average step") : NULL;

	if (!table)
		return;
	tpa_headline(page, "Steps that took longer than Q3 + 1.5 (Q3 - Q1), and what was different");
	for (size_t i = 0; i < steps->outlier_count; i++) {
		const struct tpa_step_outlier *outlier = &steps->outliers[i];
		struct phrase phrase = { .used = 0 };

		explain(page, process, outlier, &phrase);
		tpa_cell(table, TPA_STYLE_FUNCTION, tpa_count(outlier->step));
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(outlier->ns));
		tpa_table_add(table, TPA_STYLE_PLAIN, phrase.text);
	}
	tpa_table_end(table, page);
}

/* ---- text: one by one ---- */

static void add_memory(struct tpa_table *table, const struct tpa_numbers *numbers, const struct tpa_step *step)
{
	const struct tpa_page *page = numbers->page;
	int64_t grown = tpa_step_growth(step);
	uint64_t size = grown < 0 ? 0 - (uint64_t)grown : (uint64_t)grown;
	struct tpa_text grew = tpa_about(numbers, tpa_bytes(size, page->exact));

	tpa_cell(table, TPA_STYLE_PLAIN, tpa_about(numbers, tpa_bytes(step->high_bytes, page->exact)));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_text_of("%s%s", grown < 0 ? "-" : "", grew.text));
}

static void add_row(struct tpa_table *table, const struct tpa_page *page, const struct tpa_process *process,
		    const struct tpa_step *step)
{
	const struct tpa_numbers numbers = { page, process->unseen };

	tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(tpa_step_time(step)));
	if (tpa_heap_unknown(process)) {
		tpa_table_add(table, TPA_STYLE_PLAIN, "-");
		tpa_table_add(table, TPA_STYLE_PLAIN, "-");
	} else {
		add_memory(table, &numbers, step);
	}
	tpa_table_add(table, TPA_STYLE_PLAIN, step->items ? tpa_count(step->items).text : "-");
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_time(step->begin_ns));
	tpa_cell(table, TPA_STYLE_FUNCTION, tpa_range_text(step->first, step->steps));
}

void tpa_steps_print(const struct tpa_page *page, const struct tpa_process *process, const char *sort, uint64_t top)
{
	const struct tpa_step_stats *steps = &process->steps;
	size_t count = top && top < steps->list_count ? (size_t)top : steps->list_count;
	const struct tpa_step **order = tpa_steps_sort(steps, sort);
	struct tpa_table *table = tpa_table_new(">time|>most live|>net growth|>items|>begins at|>step");

	for (size_t i = 0; table && i < count; i++)
		add_row(table, page, process, order[i]);
	tpa_table_end(table, page);
	tpa_rest_print(page, steps->list_count, count, "");
	free(order);
}
