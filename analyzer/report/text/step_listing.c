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

/* Items a second, in the steps behind the warm-up; 0: not known. */
static double throughput(const struct tp_step_stats *steps)
{
	double took = steps->durations.mean * (double)steps->durations.count;

	return took > 0 ? (double)steps->rest_items / took * 1e9 : 0;
}

void tp_steps_print_line(const struct tp_page *page, const struct tp_step_stats *steps)
{
	struct tp_interval interval = steps->interval;

	tp_print(page, TP_STYLE_NUMBER, "%s step%s", tp_count(steps->count).text, tp_plural(steps->count));
	if (steps->durations.count) {
		fprintf(page->out, " of %s", tp_time(tp_round(steps->durations.mean)).text);
		if (!isnan(interval.low))
			fprintf(page->out, " (mean; 95%% interval %s to %s", tp_time(tp_round(interval.low)).text,
				tp_time(tp_round(interval.high)).text);
		if (steps->effective < 0.8 * (double)steps->durations.count)
			fprintf(page->out, ", as of %.0f independent steps", steps->effective);
		if (!isnan(interval.low))
			fputc(')', page->out);
		fprintf(page->out, ", p50 %s, p99 %s", tp_time(steps->p50_ns).text, tp_time(steps->p99_ns).text);
	}
	fprintf(page->out, "; the first took %s, with the program's start", tp_time(steps->first_ns).text);
	if (steps->warmup > 1)
		fprintf(page->out, ", and %s more warmed up: %s in all", tp_count(steps->warmup - 1).text,
			tp_time(steps->warmup_ns).text);
	if (throughput(steps) > 0)
		fprintf(page->out, "; %s items a second", tp_count(tp_round(throughput(steps))).text);
	fputc('\n', page->out);
}

void tp_steps_print_source(const struct tp_page *page, const struct tp_process *process)
{
	const struct tp_step_stats *steps = &process->steps;
	const char *op = tp_process_op_name(process, steps->anchor);

	if (steps->source == TP_STEPS_AUTOGRAD)
		tp_print(page, TP_STYLE_DIM, "each ends with a backward pass (%s), because the program marks none\n",
			 op);
	if (steps->source == TP_STEPS_PERIOD)
		tp_print(page, TP_STYLE_WARN,
			 "the program marks none: found by the period of its ops. Each ends with a call of %s; of its "
			 "%.4g calls %.1f%% are alike from step to step. tprof_step() marks them for sure\n",
			 op ? op : "?", steps->calls, 100 * steps->confidence);
}

/* ---- text: ops ---- */

void tp_steps_print_ops(const struct tp_page *page, const struct tp_process *process, uint64_t top)
{
	const struct tp_step_stats *steps = &process->steps;
	size_t count = top && top < steps->op_count ? (size_t)top : steps->op_count;
	struct tp_table *table = count && steps->summed ? tp_table_new(">self in a step|>%|*op") : NULL;
	double mean = steps->durations.mean;

	if (!table)
		return;
	tp_headline(page, "Time in a step, by op (all threads)");
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = steps->ops[i].self_ns / steps->summed;

		tp_cell(table, TP_STYLE_NUMBER, tp_time(ns));
		tp_cell(table, TP_STYLE_PLAIN, tp_percent(ns, tp_round(mean)));
		tp_op_name_cell(table, page, tp_process_op_name(process, steps->ops[i].op), 0);
	}
	tp_table_print(table, page, 2);
	tp_table_free(table);
	if (count < steps->op_count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(steps->op_count - count).text);
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

#define FAULT_NS 500 /* that a page fault takes, about: what it needs to be worth a word */

static struct tp_text more_time(int64_t ns)
{
	return tp_time((uint64_t)ns);
}

/* What the kernel counted. */
static void explain_usage(const struct tp_step_outlier *outlier, int64_t least, struct phrase *phrase)
{
	/* Faults are dealt with by a thread that runs: they explain a part of that time. */
	int64_t running = outlier->own_known && outlier->waited_ns > 0 ? least - outlier->waited_ns / 10 : least;

	if (outlier->own_known && outlier->waited_ns >= least) {
		say(phrase, "not running +%s", more_time(outlier->waited_ns).text);
		if (outlier->waits > 0)
			say(phrase, "waits +%s", tp_count((uint64_t)outlier->waits).text);
		if (outlier->preemptions > 0)
			say(phrase, "preempted +%s times", tp_count((uint64_t)outlier->preemptions).text);
	}
	if (outlier->minor_faults > 0 && outlier->minor_faults > running / FAULT_NS)
		say(phrase, "page faults +%s", tp_count((uint64_t)outlier->minor_faults).text);
	if (outlier->major_faults > 0)
		say(phrase, "page faults from disk +%s", tp_count((uint64_t)outlier->major_faults).text);
	if (outlier->own_known && outlier->others_cpu_ns >= least)
		say(phrase, "CPU time of other threads +%s", more_time(outlier->others_cpu_ns).text);
	else if (!outlier->own_known && outlier->cpu_ns >= least)
		say(phrase, "CPU time of all threads +%s", more_time(outlier->cpu_ns).text);
}

/* What is a tenth of what the step took more, at least: less would explain nothing. */
static void explain(const struct tp_page *page, const struct tp_process *process, const struct tp_step_outlier *outlier,
		    struct phrase *phrase)
{
	const struct tp_step_stats *steps = &process->steps;
	const struct tp_numbers numbers = { page, process->unseen };
	double late = (double)outlier->ns - steps->durations.mean;
	int64_t least = late > 10 ? (int64_t)(late / 10) : 1;
	int64_t cpu_ns = (int64_t)((uint64_t)outlier->cpu_periods * process->trace->header->cpu_period_ns);
	const char *name;

	for (uint32_t i = 0; i < TP_STEP_DIFFERENCES; i++) {
		name = tp_process_op_name(process, outlier->ops[i].op);
		if (outlier->ops[i].ns >= least && name)
			say(phrase, "%.60s +%s", name, more_time(outlier->ops[i].ns).text);
	}
	if (outlier->outside_ns >= least)
		say(phrase, "outside of ops +%s", more_time(outlier->outside_ns).text);
	if (outlier->usage_known)
		explain_usage(outlier, least, phrase);
	else if (cpu_ns > least)
		say(phrase, "CPU time of all threads +%s", more_time(cpu_ns).text);
	/* Of sampled allocations these are the recorded ones: some more or fewer of them tell nothing of a step. */
	if (outlier->allocated_bytes > 0 && outlier->allocations > 0 && !process->estimated)
		say(phrase, "allocated +%s in +%s blocks",
		    tp_bytes((uint64_t)outlier->allocated_bytes, page->exact).text,
		    tp_count((uint64_t)outlier->allocations).text);
	if (outlier->live_bytes > 0)
		say(phrase, "live memory +%s",
		    tp_about(&numbers, tp_bytes((uint64_t)outlier->live_bytes, page->exact)).text);
	if (!phrase->used)
		say(phrase, "nothing that was recorded");
}

void tp_steps_print_outliers(const struct tp_page *page, const struct tp_process *process)
{
	const struct tp_step_stats *steps = &process->steps;
	struct tp_table *table =
		steps->outlier_count ? tp_table_new(">step|>time|more than in the average step") : NULL;

	if (!table)
		return;
	tp_headline(page, "Steps that took longer than Q3 + 1.5 (Q3 - Q1), and what was different");
	for (size_t i = 0; i < steps->outlier_count; i++) {
		const struct tp_step_outlier *outlier = &steps->outliers[i];
		struct phrase phrase = { .used = 0 };

		explain(page, process, outlier, &phrase);
		tp_cell(table, TP_STYLE_FUNCTION, tp_count(outlier->step));
		tp_cell(table, TP_STYLE_NUMBER, tp_time(outlier->ns));
		tp_table_add(table, TP_STYLE_PLAIN, phrase.text);
	}
	tp_table_print(table, page, 2);
	tp_table_free(table);
}

/* ---- text: one by one ---- */

static void add_memory(struct tp_table *table, const struct tp_numbers *numbers, const struct tp_step *step)
{
	const struct tp_page *page = numbers->page;
	int64_t grown = tp_step_growth(step);
	struct tp_text grew = tp_bytes(grown < 0 ? 0 - (uint64_t)grown : (uint64_t)grown, page->exact);
	char text[64];

	snprintf(text, sizeof(text), "%s%.40s", grown < 0 ? "-" : "", tp_about(numbers, grew).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_about(numbers, tp_bytes(step->high_bytes, page->exact)).text);
	tp_table_add(table, TP_STYLE_PLAIN, text);
}

static void add_row(struct tp_table *table, const struct tp_page *page, const struct tp_process *process,
		    const struct tp_step *step)
{
	const struct tp_numbers numbers = { page, process->unseen };
	char text[64];

	tp_table_add(table, TP_STYLE_NUMBER, tp_time(tp_step_time(step)).text);
	if (tp_heap_unknown(process)) {
		tp_table_add(table, TP_STYLE_PLAIN, "-");
		tp_table_add(table, TP_STYLE_PLAIN, "-");
	} else {
		add_memory(table, &numbers, step);
	}
	tp_table_add(table, TP_STYLE_PLAIN, step->items ? tp_count(step->items).text : "-");
	tp_table_add(table, TP_STYLE_PLAIN, tp_time(step->begin_ns).text);
	if (step->steps > 1)
		snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, step->first, step->first + step->steps - 1);
	else
		snprintf(text, sizeof(text), "%" PRIu64, step->first);
	tp_table_add(table, TP_STYLE_FUNCTION, text);
}

void tp_steps_print(const struct tp_page *page, const struct tp_process *process, const char *sort, uint64_t top)
{
	const struct tp_step_stats *steps = &process->steps;
	size_t count = top && top < steps->list_count ? (size_t)top : steps->list_count;
	const struct tp_step **order = tp_steps_sort(steps, sort);
	struct tp_table *table = tp_table_new(">time|>most live|>net growth|>items|>begins at|>step");

	for (size_t i = 0; table && i < count; i++)
		add_row(table, page, process, order[i]);
	tp_table_print(table, page, 2);
	if (count < steps->list_count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(steps->list_count - count).text);
	tp_table_free(table);
	free(order);
}
