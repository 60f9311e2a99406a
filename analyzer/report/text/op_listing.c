/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_listing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/ops/buckets.h"
#include "report/rows/op_columns.h"
#include "report/rows/op_waits.h"
#include "report/text/columns.h"

static size_t shown(const struct tpa_op_list *list, uint64_t top)
{
	return top && top < list->count ? (size_t)top : list->count;
}

static struct tpa_text time_of(double ns)
{
	return tpa_time(ns > 0 ? tpa_round(ns) : 0);
}

static void print_columns(const struct tpa_page *page, const char *keys, const struct tpa_op_list *list, size_t count)
{
	struct tpa_table *table = tpa_columns_begin(page, tpa_op_columns, keys, NULL);

	for (size_t i = 0; i < count; i++)
		tpa_columns_add(table, page, tpa_op_columns, keys, list->ops[i], NULL);
	tpa_table_end(table, page);
}

static const char times[] = "*total_ns own_ns calls *mean_ns ~ci95_ns p50_ns p90_ns p99_ns name";
static const char times_and_waits[] =
	"*total_ns own_ns threads_wait_ns calls *mean_ns ~ci95_ns p50_ns p90_ns p99_ns name";
static const char spread[] =
	"warmup_ns ~warmup_calls stddev_ns min_ns max_ns ~total_overhead_ns unwound open ~category name";
static const char memory[] =
	"*allocated_bytes own_allocated_bytes freed_bytes net_bytes peak_bytes flop ~self_flop rate bytes name";

/* The op that a region runs in, or the region itself if there is none. */
static const struct tpa_op_stats *around(const struct tpa_op_list *list, const struct tpa_op_stats *region)
{
	for (size_t i = 0; i < list->count; i++)
		if (region->runs_in && list->ops[i]->op == region->runs_in)
			return list->ops[i];
	return region;
}

#define WAITS 4u	 /* most ops listed as waiting */
#define WAITS_SHARE 0.05 /* smallest share of their time */

static void print_threads_wait(const struct tpa_page *page, const struct tpa_op_list *list, size_t count)
{
	unsigned said = 0;

	for (size_t i = 0; i < count && said < WAITS; i++) {
		const struct tpa_op_stats *region = list->ops[i], *op = around(list, region);

		if (!region->has_parts || (double)region->self_ns < WAITS_SHARE * (double)op->total_ns)
			continue;
		tpa_print(page, TPA_STYLE_DIM, "%s%s of %s of %.200s are waiting for its threads\n", said++ ? "" : "\n",
			  tpa_time(region->self_ns).text, tpa_time(op->total_ns).text, op->name);
	}
}

/* Prints an op's wait if the lower end of its interval is large enough. */
static void print_wait(const struct tpa_page *page, const struct tpa_op_stats *op, struct tpa_interval ns,
		       const char *how, unsigned *said)
{
	if (ns.low < WAITS_SHARE * (double)op->self_ns || *said >= WAITS)
		return;
	tpa_print(page, TPA_STYLE_DIM, "%s%s to ", (*said)++ ? "" : "\n", time_of(ns.low).text);
	tpa_print(page, TPA_STYLE_DIM, "%s of %s in %.200s itself are waiting: %s\n", time_of(ns.high).text,
		  tpa_time(op->self_ns).text, op->name, how);
}

/* Waits come from samples; those of regions are known exactly. */
static void print_waits(const struct tpa_page *page, const struct tpa_op_list *list, size_t count)
{
	struct tpa_interval not_running, spins;
	unsigned said = 0;
	uint64_t ns;

	for (size_t i = 0; i < count; i++) {
		const struct tpa_op_stats *op = list->ops[i];

		if (op->has_parts || !op->cpu_period_ns)
			continue;
		spins = tpa_op_cpu_interval(op, &op->spinning);
		print_wait(page, op, spins, "it goes round in a loop until other threads are done", &said);
		if (tpa_op_not_running(op, &ns, &not_running))
			print_wait(page, op, not_running, "blocked, asleep, or without a free processor", &said);
	}
}

static void print_times(const struct tpa_page *page, const struct tpa_op_list *list, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= list->ops[i]->has_threads;
	print_columns(page, any ? times_and_waits : times, list, count);
	tpa_rest_print(page, list->count, count, " op");
	print_threads_wait(page, list, count);
	print_waits(page, list, count);
}

static void print_memory(const struct tpa_page *page, const struct tpa_op_list *list, size_t count)
{
	bool uncounted = false;

	print_columns(page, memory, list, count);
	for (size_t i = 0; i < count; i++)
		uncounted |= list->ops[i]->uncounted > 0;
	if (uncounted)
		tpa_print(page, TPA_STYLE_DIM,
			  "      ? or %s: some of the work can't be counted (iterations, exponentials); the rest is "
			  "included\n",
			  page->utf8 ? "\xe2\x89\xa5" : ">=");
}

/* Prints the cost of recording, summed over the ops' self times so that nothing counts twice. */
static void print_correction(const struct tpa_page *page, const struct tpa_process *process)
{
	uint64_t cost = 0, self = 0;

	for (size_t i = 0; i < process->op_count; i++) {
		cost += process->ops[i].self_cost_ns;
		self += process->ops[i].self_ns;
	}
	if (cost)
		tpa_print(page, TPA_STYLE_DIM,
			  "\nthe cost of recording is taken out of the times: %s, %s of the ops' time by the clock\n",
			  tpa_time(cost).text, tpa_percent(cost, cost + self).text);
}

static void print_untimed(const struct tpa_page *page, const struct tpa_op_stats *op)
{
	struct tpa_interval total = tpa_interval_estimate((double)op->total_ns, op->total_variance, 0);

	tpa_print(page, TPA_STYLE_DIM,
		  "\n%s of %s calls of %.100s were folded: counts are exact; a random share of them was timed, %s were "
		  "not: its total is %s %s%s\n",
		  tpa_count(op->folded).text, tpa_count(op->calls).text, op->name, tpa_count(op->untimed).text,
		  tpa_time(op->total_ns).text, page->utf8 ? "\xc2\xb1" : "+-",
		  time_of(total.high - (double)op->total_ns).text);
}

/* Prints the ops that were too frequent to record each call. */
static void print_folded(const struct tpa_page *page, const struct tpa_op_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct tpa_op_stats *op = list->ops[i];

		if (op->untimed)
			print_untimed(page, op);
		else if (op->folded)
			tpa_print(page, TPA_STYLE_DIM,
				  "\n%s of %s calls of %.100s were folded: counts and sums are exact, percentiles "
				  "within 13%%\n",
				  tpa_count(op->folded).text, tpa_count(op->calls).text, op->name);
	}
}

#define NAMED 3u /* most ops listed per reason */

static uint64_t unknown_calls(const struct tpa_op_stats *op, bool no_shape)
{
	return no_shape ? op->no_shape : op->no_formula;
}

/* Prints the ops with unknown work in most calls, the most frequent first. */
static void print_unknown_ops(const struct tpa_page *page, const struct tpa_process *process, bool no_shape)
{
	const struct tpa_op_stats *most[NAMED] = { NULL };

	for (size_t i = 0; i < process->op_count; i++) {
		const struct tpa_op_stats *op = unknown_calls(&process->ops[i], no_shape) ? &process->ops[i] : NULL;

		for (size_t k = 0; k < NAMED && op; k++) {
			const struct tpa_op_stats *other = most[k];

			if (other && unknown_calls(other, no_shape) >= unknown_calls(op, no_shape))
				continue;
			most[k] = op;
			op = other;
		}
	}
	for (size_t k = 0; k < NAMED && most[k]; k++)
		tpa_print(page, TPA_STYLE_DIM, "%s%.100s %s", k ? ", " : ": ", most[k]->name,
			  tpa_count(unknown_calls(most[k], no_shape)).text);
}

void tpa_work_known_print(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_op_counts *counts = &process->op_counts;
	uint64_t all = counts->known + counts->no_shape + counts->no_formula;

	if (!all)
		return;
	tpa_print(page, TPA_STYLE_DIM,
		  "\nwork of PyTorch's operators, by their tensors' sizes: known for %s of %s calls",
		  tpa_count(counts->known).text, tpa_count(all).text);
	if (counts->no_formula) {
		tpa_print(page, TPA_STYLE_DIM, "; for %s the sizes are not enough, or there is no formula",
			  tpa_count(counts->no_formula).text);
		print_unknown_ops(page, process, false);
	}
	if (counts->no_shape) {
		tpa_print(page, TPA_STYLE_DIM, "; for %s the sizes were not recorded",
			  tpa_count(counts->no_shape).text);
		print_unknown_ops(page, process, true);
	}
	tpa_print(page, TPA_STYLE_DIM, "\n");
}

void tpa_ops_print_short(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top)
{
	print_times(page, list, shown(list, top));
}

void tpa_ops_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_op_list *list,
		   uint64_t top)
{
	const struct tpa_op_counts *counts = &process->op_counts;
	size_t count = shown(list, top);

	if (count) {
		fputc('\n', page->out);
		print_times(page, list, count);
		tpa_headline(page, "Spread; warm-up calls are left out of mean and deviation");
		print_columns(page, spread, list, count);
		tpa_headline(page, "Memory%s that the op's thread requested while it was open, and its work",
			     process->estimated ? " (estimated)" : "");
		print_memory(page, list, count);
		print_correction(page, process);
	}
	print_folded(page, list);
	tpa_work_known_print(page, process);
	if (counts->unmatched_ends)
		tpa_print(page, TPA_STYLE_WARN, "\n%s ends of ops have no begin in the trace\n",
			  tpa_count(counts->unmatched_ends).text);
	if (counts->too_deep)
		tpa_print(page, TPA_STYLE_WARN, "\n%s calls were nested too deep to be counted\n",
			  tpa_count(counts->too_deep).text);
}

static void print_shapes(const struct tpa_page *page, const struct tpa_op_stats *op)
{
	static const char keys[] = "*total_ns calls rest_mean_ns first_ns ~factor flop rate @shape";
	struct tpa_table *table = tpa_columns_begin(page, tpa_shape_columns, keys, NULL);

	for (size_t i = 0; i < op->shape_count; i++)
		tpa_columns_add(table, page, tpa_shape_columns, keys, &op->shapes[i], NULL);
	tpa_table_end(table, page);
}

/* Prints the effect of rounding dimensions up to powers of two, if it would reduce the number of shapes. */
static void print_buckets(const struct tpa_page *page, const struct tpa_op_stats *op)
{
	struct tpa_buckets buckets = tpa_buckets_of(op);

	if (buckets.buckets >= buckets.shapes || !(buckets.excess_ns > 0))
		return;
	fprintf(page->out,
		"  dimensions rounded up to powers of two: %zu shapes would be %zu; %zu fewer first calls, each %s "
		"longer than the rest, save %s; the padding costs about %s\n",
		buckets.shapes, buckets.buckets, buckets.shapes - buckets.buckets, time_of(buckets.excess_ns).text,
		time_of(buckets.saved_ns).text, time_of(buckets.padding_ns).text);
}

void tpa_shapes_print(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top)
{
	for (size_t i = 0; i < shown(list, top); i++)
		if (list->ops[i]->shape_count) {
			tpa_headline(page, "Shapes of %.200s", list->ops[i]->name);
			print_shapes(page, list->ops[i]);
			print_buckets(page, list->ops[i]);
		}
}
