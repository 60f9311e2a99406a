/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/estimate.h"
#include "report/rows/process_facts.h"

bool tp_diff_init(struct tp_diff *diff, enum tp_by by, const regex_t *filter)
{
	memset(diff, 0, sizeof(*diff));
	diff->sites.by = by;
	diff->sites.filter = filter;
	diff->totals.small_too = true;
	return tp_diff_sites_init(&diff->sites);
}

void tp_diff_free(struct tp_diff *diff)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < diff->runs[side]; i++)
			free(diff->files[side][i]);
		free((void *)diff->files[side]);
	}
	tp_diff_sites_free(&diff->sites);
	tp_diff_times_free(&diff->times);
	tp_diff_rows_free(&diff->totals);
	tp_diff_rows_free(&diff->growth);
	tp_notes_free(&diff->notes);
	memset(diff, 0, sizeof(*diff));
}

static struct tp_diff_amount of_heap(const struct tp_heap *heap, enum tp_diff_total what)
{
	const struct tp_variance *variance = &heap->variance;

	switch (what) {
	case TP_DIFF_UNFREED:
		return (struct tp_diff_amount){ (double)heap->end_bytes, variance->live_bytes, 0, 0 };
	case TP_DIFF_ALLOCATED:
		return (struct tp_diff_amount){ (double)heap->bytes, variance->bytes, 0, 0 };
	case TP_DIFF_ALLOCATIONS:
		return (struct tp_diff_amount){ (double)heap->allocations, variance->allocations, 0, 0 };
	case TP_DIFF_RSS:
		return (struct tp_diff_amount){ (double)heap->rss_peak, 0, 0, 0 };
	default:
		return (struct tp_diff_amount){ (double)heap->peak_bytes, variance->peak_bytes, 0, 0 };
	}
}

/*
 * How many allocations a hit stands for: as many as those that were met do, by their variance, and no fewer than hold as many
 * bytes as a hit does, since so many a sample passes by no more seldom.
 */
static double unseen_allocations(const struct tp_run *run, const struct tp_diff_amount *amount)
{
	struct tp_unseen unseen = tp_run_unseen(run);
	double bytes = 0;

	for (size_t i = 0; i < run->process_count; i++)
		bytes += (double)run->processes[i].heap.bytes;
	if (!(unseen.bytes > 0) || !(bytes > 0) || !(amount->value > 0))
		return unseen.blocks;
	return fmax(amount->variance / amount->value, unseen.bytes / bytes * amount->value);
}

static double unseen_of(const struct tp_run *run, enum tp_diff_total what, const struct tp_diff_amount *amount)
{
	if (what == TP_DIFF_RSS)
		return 0;
	return what == TP_DIFF_ALLOCATIONS ? unseen_allocations(run, amount) : tp_run_unseen(run).bytes;
}

struct tp_diff_amount tp_diff_total_of(const struct tp_run *run, enum tp_diff_total what)
{
	struct tp_diff_amount sum = { 0, 0, 0, 0 };

	if (what == TP_DIFF_PEAK && run->process_count > 1)
		return (struct tp_diff_amount){ (double)run->peak_bytes, run->peak_variance, 0,
						tp_run_unseen(run).bytes };
	for (size_t i = 0; i < run->process_count; i++) {
		struct tp_diff_amount amount = of_heap(&run->processes[i].heap, what);

		/* Pages that processes share are in the resident memory of each: it is no sum. */
		sum.value = what == TP_DIFF_RSS ? fmax(sum.value, amount.value) : sum.value + amount.value;
		sum.variance += amount.variance;
	}
	sum.unseen = unseen_of(run, what, &sum);
	return sum;
}

static bool add_totals(struct tp_diff *diff, int side, const struct tp_run *run)
{
	const struct tp_growth_line *live = &tp_stepping(run)->growth.live;
	struct tp_diff_amount growth = tp_diff_rate(live->rate, live->low, live->high, 0);

	for (enum tp_diff_total what = 0; what < TP_DIFF_TOTALS; what++) {
		struct tp_diff_amount amount = tp_diff_total_of(run, what);

		if (!tp_diff_rows_add(&diff->totals, what, 0, &amount))
			return false;
	}
	if (!tp_diff_rows_add(&diff->growth, 0, 0, &growth))
		return false;
	tp_diff_rows_end_run(&diff->totals, side, 1);
	tp_diff_rows_end_run(&diff->growth, side, 1);
	return true;
}

static bool add_file(struct tp_diff *diff, int side, const struct tp_run *run)
{
	char **files = realloc((void *)diff->files[side], (diff->runs[side] + 1) * sizeof(char *));

	if (!files)
		return false;
	diff->files[side] = files;
	files[diff->runs[side]] = strdup(run->processes[0].trace->file);
	if (!files[diff->runs[side]])
		return false;
	diff->runs[side]++;
	return true;
}

bool tp_diff_add(struct tp_diff *diff, int side, const struct tp_run *run, struct tp_symbols *const *symbols)
{
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tp_process *process = &run->processes[i];

		tp_notes_unrecorded(&diff->notes, run, process);
		diff->heap_unknown[side] |= tp_heap_unseen_in(run, process) && tp_heap_unknown(process);
	}
	for (size_t i = 0; i < run->process_count; i++)
		if (!tp_diff_sites_add(&diff->sites, run, i, symbols[i]))
			return false;
	tp_diff_sites_end_run(&diff->sites, side, run);
	return add_totals(diff, side, run) && tp_diff_times_add(&diff->times, side, run) && add_file(diff, side, run);
}

bool tp_diff_test(struct tp_diff *diff)
{
	return tp_diff_sites_test(&diff->sites) && tp_diff_times_test(&diff->times) &&
	       tp_diff_rows_test(&diff->totals) && tp_diff_rows_test(&diff->growth);
}
