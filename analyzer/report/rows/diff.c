/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/estimate.h"
#include "report/rows/process_facts.h"

void tpa_diff_init(struct tpa_diff *diff, enum tpa_by by, const regex_t *filter)
{
	memset(diff, 0, sizeof(*diff));
	diff->sites.by = by;
	diff->sites.filter = filter;
	diff->totals.small_too = true;
	tpa_named_init(&diff->sites.names);
}

void tpa_diff_free(struct tpa_diff *diff)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < diff->runs[side]; i++)
			free(diff->files[side][i]);
		free((void *)diff->files[side]);
	}
	tpa_diff_sites_free(&diff->sites);
	tpa_diff_times_free(&diff->times);
	tpa_diff_rows_free(&diff->totals);
	tpa_diff_rows_free(&diff->growth);
	tpa_notes_free(&diff->notes);
	memset(diff, 0, sizeof(*diff));
}

static struct tpa_diff_amount of_heap(const struct tpa_heap *heap, enum tpa_diff_total what)
{
	const struct tpa_variance *variance = &heap->variance;

	switch (what) {
	case TPA_DIFF_UNFREED:
		return (struct tpa_diff_amount){ (double)heap->end_bytes, variance->live_bytes, 0, 0 };
	case TPA_DIFF_ALLOCATED:
		return (struct tpa_diff_amount){ (double)heap->bytes, variance->bytes, 0, 0 };
	case TPA_DIFF_ALLOCATIONS:
		return (struct tpa_diff_amount){ (double)heap->allocations, variance->allocations, 0, 0 };
	default:
		return (struct tpa_diff_amount){ (double)heap->peak_bytes, variance->peak_bytes, 0, 0 };
	}
}

/*
 * How many allocations one hit of the sample stands for: the larger of the mean over the hits (variance / value) and
 * the number of allocations that hold as many bytes as one hit stands for, because a sample misses that many just as
 * often.
 */
static double unseen_allocations(const struct tpa_run *run, const struct tpa_diff_amount *amount)
{
	struct tpa_unseen unseen = tpa_run_unseen(run);
	double bytes = 0;

	for (size_t i = 0; i < run->process_count; i++)
		bytes += (double)run->processes[i].heap.bytes;
	if (!(unseen.bytes > 0) || !(bytes > 0) || !(amount->value > 0))
		return unseen.blocks;
	return fmax(amount->variance / amount->value, unseen.bytes / bytes * amount->value);
}

static double unseen_of(const struct tpa_run *run, enum tpa_diff_total what, const struct tpa_diff_amount *amount)
{
	return what == TPA_DIFF_ALLOCATIONS ? unseen_allocations(run, amount) : tpa_run_unseen(run).bytes;
}

struct tpa_diff_amount tpa_diff_total_of(const struct tpa_run *run, enum tpa_diff_total what)
{
	struct tpa_diff_amount sum = { 0, 0, 0, 0 };

	if (what == TPA_DIFF_PEAK && run->process_count > 1)
		return (struct tpa_diff_amount){ (double)run->peak_bytes, run->peak_variance, 0,
						 tpa_run_unseen(run).bytes };
	if (what == TPA_DIFF_RSS)
		return (struct tpa_diff_amount){ (double)run->resident.rss, 0, 0, 0 };
	for (size_t i = 0; i < run->process_count; i++) {
		struct tpa_diff_amount amount = of_heap(&run->processes[i].heap, what);

		sum.value += amount.value;
		sum.variance += amount.variance;
	}
	sum.unseen = unseen_of(run, what, &sum);
	return sum;
}

static void add_totals(struct tpa_diff *diff, int side, const struct tpa_run *run)
{
	const struct tpa_growth_line *live = &tpa_stepping(run)->growth.live;
	struct tpa_diff_amount growth = tpa_diff_rate(live->rate, live->low, live->high, 0);

	for (enum tpa_diff_total what = 0; what < TPA_DIFF_TOTALS; what++) {
		struct tpa_diff_amount amount = tpa_diff_total_of(run, what);

		tpa_diff_rows_add(&diff->totals, what, 0, &amount);
	}
	tpa_diff_rows_add(&diff->growth, 0, 0, &growth);
	tpa_diff_rows_end_run(&diff->totals, side, 1);
	tpa_diff_rows_end_run(&diff->growth, side, 1);
}

void tpa_diff_add(struct tpa_diff *diff, int side, const struct tpa_run *run, struct tpa_symbols *const *symbols)
{
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *process = &run->processes[i];

		tpa_notes_unrecorded(&diff->notes, run, process);
		diff->heap_unknown[side] |= tpa_heap_unseen_in(run, process) && tpa_heap_unknown(process);
		tpa_diff_sites_add(&diff->sites, run, i, symbols[i]);
	}
	tpa_diff_sites_end_run(&diff->sites, side, run);
	add_totals(diff, side, run);
	tpa_diff_times_add(&diff->times, side, run);
	diff->files[side] = tpa_resize((void *)diff->files[side], diff->runs[side] + 1, sizeof(char *));
	diff->files[side][diff->runs[side]++] = tpa_strdup(run->processes[0].trace->file);
}

void tpa_diff_test(struct tpa_diff *diff)
{
	tpa_diff_sites_test(&diff->sites);
	tpa_diff_times_test(&diff->times);
	tpa_diff_rows_test(&diff->totals);
	tpa_diff_rows_test(&diff->growth);
}
