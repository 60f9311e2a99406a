/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/rank_steps.h"

#include <stdlib.h>

#include "base/memory.h"

struct grid {
	struct tpa_rank_steps *steps;
	uint64_t most; /* steps of the rank that has most */
	uint64_t per;  /* steps of a column */
};

static const struct tpa_step_stats *steps_of(const struct tpa_run *run, const struct tpa_rank *rank)
{
	return &run->processes[rank->process].steps;
}

/* The last step of a rank, of those that are listed. */
static uint64_t last_step(const struct tpa_step_stats *steps)
{
	const struct tpa_step *last = steps->list_count ? &steps->list[steps->list_count - 1] : NULL;

	return last ? last->first + last->steps - 1 : 0;
}

/* Neighbouring steps that are listed together took the same time each. */
static void add_step(const struct grid *grid, uint32_t rank, const struct tpa_step *step)
{
	struct tpa_rank_cell *cells = grid->steps->cells + rank * grid->steps->count;
	uint64_t last = step->first + step->steps - 1;

	for (uint64_t c = (step->first - 1) / grid->per; c < grid->steps->count && c * grid->per + 1 <= last; c++) {
		uint64_t low = c * grid->per + 1, high = low + grid->per - 1;

		low = low > step->first ? low : step->first;
		high = high < last ? high : last;
		cells[c].ns += (double)(step->end_ns - step->begin_ns) * (double)(high - low + 1) / (double)step->steps;
		if (step->high_bytes > cells[c].high_bytes)
			cells[c].high_bytes = step->high_bytes;
	}
}

static void add_waits(const struct grid *grid, const struct tpa_ranks *ranks)
{
	for (size_t i = 0; i < ranks->op_count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[i];
		uint64_t column = op->step ? (op->step - 1) / grid->per : UINT64_MAX;

		if (column < grid->steps->count)
			grid->steps->cells[op->rank * grid->steps->count + column].wait_ns += (double)op->wait_ns;
	}
}

static void sum_up(const struct tpa_rank_steps *steps, size_t ranks, size_t column)
{
	struct tpa_rank_step *step = &steps->list[column];

	for (size_t r = 0; r < ranks; r++) {
		struct tpa_rank_cell *cell = &steps->cells[r * steps->count + column];
		double busy;

		/* A wait counts for the step in which it began. */
		cell->wait_ns = cell->wait_ns < cell->ns ? cell->wait_ns : cell->ns;
		busy = cell->ns - cell->wait_ns;
		step->wait_ns += cell->wait_ns;
		step->mean_ns += busy / (double)ranks;
		if (busy > step->slowest_ns) {
			step->slowest_ns = busy;
			step->slowest = (uint32_t)r;
		}
	}
}

struct tpa_rank_steps tpa_rank_steps_make(const struct tpa_run *run, const struct tpa_ranks *ranks)
{
	struct tpa_rank_steps steps = { 0 };
	struct grid grid = { .steps = &steps };

	for (size_t r = 0; r < ranks->count; r++) {
		uint64_t last = last_step(steps_of(run, &ranks->list[r]));

		grid.most = last > grid.most ? last : grid.most;
	}
	grid.per = (grid.most + TPA_RANK_STEPS_MOST - 1) / TPA_RANK_STEPS_MOST;
	if (!grid.most)
		return steps;
	steps.count = (size_t)((grid.most + grid.per - 1) / grid.per);
	steps.list = tpa_zalloc(steps.count, sizeof(*steps.list));
	steps.cells = tpa_zalloc(steps.count * ranks->count, sizeof(*steps.cells));
	for (uint32_t r = 0; r < ranks->count; r++) {
		const struct tpa_step_stats *of = steps_of(run, &ranks->list[r]);

		for (size_t i = 0; i < of->list_count; i++)
			if (of->list[i].steps && of->list[i].first)
				add_step(&grid, r, &of->list[i]);
	}
	add_waits(&grid, ranks);
	for (size_t c = 0; c < steps.count; c++) {
		uint64_t first = c * grid.per + 1, left = grid.most - c * grid.per;

		steps.list[c].first = first;
		steps.list[c].steps = grid.per < left ? grid.per : left;
		sum_up(&steps, ranks->count, c);
	}
	return steps;
}

void tpa_rank_steps_free(struct tpa_rank_steps *steps)
{
	free(steps->list);
	free(steps->cells);
}
