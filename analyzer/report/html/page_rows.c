/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html/page_cut.h"

struct leaves {
	uint32_t *of_site, *of_cpu; /* nodes of the whole tree */
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* The most that each site had live at any look. */
static int64_t *highest(const struct tpa_history *history)
{
	int64_t *now = tpa_zalloc(history->site_count + 1, sizeof(*now));
	int64_t *high = tpa_zalloc(history->site_count + 1, sizeof(*high));

	for (size_t i = 0; i < history->site_count; i++)
		now[i] = high[i] = history->sites[i].begin_bytes;
	for (size_t i = 0; i < history->changes.count; i++) {
		const struct tpa_history_change *change = &history->changes.list[i];

		now[change->site] += change->live_bytes;
		if (now[change->site] > high[change->site])
			high[change->site] = now[change->site];
	}
	free(now);
	return high;
}

/* A branch is worth showing if it matters in any of the views: the weight is the sum of its shares of them. */
static double *weights_of_sites(const struct tpa_page_rows *rows)
{
	const struct tpa_history *history = rows->history;
	const struct tpa_heap *heap = &rows->process->heap;
	double *weights = tpa_zalloc(history->site_count + 1, sizeof(*weights));
	int64_t *high = highest(history);

	for (size_t i = 0; i < history->site_count; i++) {
		const struct tpa_history_site *site = &history->sites[i];

		weights[i] = share(site->bytes, heap->bytes) + share(site->allocations, heap->allocations) +
			     2 * share(site->peak_bytes, heap->peak_bytes) +
			     2 * share(site->end_bytes, heap->end_bytes) +
			     share(high[i] > 0 ? (uint64_t)high[i] : 0, heap->peak_bytes);
	}
	free(high);
	return weights;
}

static double weight_of_cpu(const struct tpa_page_rows *rows, size_t i)
{
	return 4 * share(rows->history->cpu[i].cpu.periods, rows->process->cpu.periods);
}

static bool is_used(const struct tpa_history_site *site)
{
	return site->begin_blocks || site->peak_blocks || site->allocations || site->end_blocks;
}

static uint32_t leaf_of(struct tpa_page_rows *rows, struct tpa_symbols *symbols, uint32_t node, bool all,
			const regex_t *filter)
{
	if (!filter)
		return tpa_page_tree_add(&rows->tree, rows->process->trace, symbols, node, all);
	tpa_stack_read(&rows->tree.stack, rows->process->trace, symbols, node);
	if (!tpa_stack_matches(&rows->tree.stack, filter))
		return tpa_page_tree_other(&rows->tree, "(stacks that do not match --filter)");
	return tpa_page_tree_add(&rows->tree, rows->process->trace, symbols, node, all);
}

/* What is left of the stacks when small branches are cut off. */
static void cut_stacks(const struct tpa_page_rows *rows, const double *weights, size_t most, struct tpa_page_cut *cut)
{
	const struct tpa_history *history = rows->history;

	tpa_page_cut_init(cut, rows->process->trace);
	for (size_t i = 0; i < history->site_count; i++)
		tpa_page_cut_weigh(cut, history->sites[i].node, weights[i]);
	for (size_t i = 0; i < history->cpu_count; i++)
		tpa_page_cut_weigh(cut, history->cpu[i].node, weight_of_cpu(rows, i));
	tpa_page_cut_choose(cut, most);
}

static void plant(struct tpa_page_rows *rows, struct tpa_symbols *symbols, const struct tpa_page_limits *limits,
		  struct leaves *leaves)
{
	const struct tpa_history *history = rows->history;
	double *weights = weights_of_sites(rows);
	struct tpa_page_cut cut;

	cut_stacks(rows, weights, limits->stacks, &cut);
	leaves->of_site = tpa_zalloc(history->site_count + 1, sizeof(*leaves->of_site));
	leaves->of_cpu = tpa_zalloc(history->cpu_count + 1, sizeof(*leaves->of_cpu));
	for (size_t i = 0; i < history->site_count; i++) {
		if (!is_used(&history->sites[i]))
			continue;
		leaves->of_site[i] =
			leaf_of(rows, symbols, tpa_page_cut_kept(&cut, history->sites[i].node), false, limits->filter);
		rows->tree.nodes[leaves->of_site[i]].weight += weights[i];
		rows->stacks++;
	}
	for (size_t i = 0; i < history->cpu_count; i++) {
		leaves->of_cpu[i] =
			leaf_of(rows, symbols, tpa_page_cut_kept(&cut, history->cpu[i].node), true, limits->filter);
		rows->tree.nodes[leaves->of_cpu[i]].weight += weight_of_cpu(rows, i);
	}
	rows->stacks += history->cpu_count;
	rows->lines = cut.kept ? rows->process->trace->node_count : rows->tree.count - 1;
	tpa_page_tree_sum(&rows->tree);
	tpa_page_cut_free(&cut);
	free(weights);
}

/* ---- rows ---- */

static void add_sums(struct tpa_history_site *to, const struct tpa_history_site *more)
{
	to->begin_bytes += more->begin_bytes;
	to->begin_blocks += more->begin_blocks;
	to->peak_bytes += more->peak_bytes;
	to->peak_blocks += more->peak_blocks;
	to->end_bytes += more->end_bytes;
	to->end_blocks += more->end_blocks;
	to->bytes += more->bytes;
	to->allocations += more->allocations;
	to->temporary += more->temporary;
}

static uint32_t shown_node(const struct tpa_page_rows *rows, uint32_t leaf)
{
	return rows->tree.nodes[leaf].kept;
}

/* The row of each site. */
static uint32_t *group_sites(struct tpa_page_rows *rows, const struct leaves *leaves)
{
	const struct tpa_history *history = rows->history;
	uint32_t *row_of = tpa_zalloc(history->site_count + 1, sizeof(*row_of));
	struct tpa_pairs known = { 0 };
	size_t room = rows->row_count;

	rows->row_count = 0;
	for (size_t i = 0; i < history->site_count; i++) {
		const struct tpa_history_site *site = &history->sites[i];
		uint32_t node = shown_node(rows, leaves->of_site[i]), *at;
		bool found;

		if (!is_used(site))
			continue;
		at = tpa_pairs_at(&known, node, site->op, &found);
		if (!found) {
			*at = (uint32_t)rows->row_count;
			*TPA_APPEND(rows->rows, rows->row_count, room) =
				(struct tpa_page_row){ .node = node, .op = site->op };
		}
		row_of[i] = *at;
		add_sums(&rows->rows[*at].sums, site);
	}
	tpa_pairs_free(&known);
	return row_of;
}

static uint32_t *group_cpu(struct tpa_page_rows *rows, const struct leaves *leaves)
{
	const struct tpa_history *history = rows->history;
	uint32_t *row_of = tpa_zalloc(history->cpu_count + 1, sizeof(*row_of));
	struct tpa_pairs known = { 0 };
	size_t room = rows->cpu_count;

	rows->cpu_count = 0;
	for (size_t i = 0; i < history->cpu_count; i++) {
		const struct tpa_cpu_site *site = &history->cpu[i];
		uint32_t node = shown_node(rows, leaves->of_cpu[i]), *at;
		bool found;

		at = tpa_pairs_at(&known, (uint64_t)site->thread << 32 | site->op, node, &found);
		if (!found) {
			*at = (uint32_t)rows->cpu_count;
			*TPA_APPEND(rows->cpu, rows->cpu_count, room) =
				(struct tpa_page_cpu){ .node = node, .thread = site->thread, .op = site->op };
		}
		row_of[i] = *at;
		rows->cpu[*at].periods += site->cpu.periods;
	}
	tpa_pairs_free(&known);
	return row_of;
}

/* ---- changes ---- */

static bool is_change(const struct tpa_history_change *change)
{
	return change->live_bytes || change->live_blocks || change->bytes || change->allocations;
}

static void add_change(struct tpa_history_change *to, const struct tpa_history_change *more)
{
	to->live_bytes += more->live_bytes;
	to->live_blocks += more->live_blocks;
	to->bytes += more->bytes;
	to->allocations += more->allocations;
	to->temporary += more->temporary;
}

static void join_changes(struct tpa_page_rows *rows, const uint32_t *row_of)
{
	const struct tpa_history *history = rows->history;
	struct tpa_history_change *sums = tpa_zalloc(rows->row_count + 1, sizeof(*sums));
	uint32_t *touched = tpa_zalloc(rows->row_count + 1, sizeof(*touched));
	bool *known = tpa_zalloc(rows->row_count + 1, sizeof(*known));
	size_t at = 0;

	rows->changes.count = 0;
	for (size_t i = 0; i + 1 < history->look_count; i++) {
		size_t count = 0;

		for (; at < history->changes.ends[i]; at++) {
			uint32_t row = row_of[history->changes.list[at].site];

			if (!known[row])
				touched[count++] = row;
			known[row] = true;
			add_change(&sums[row], &history->changes.list[at]);
		}
		for (size_t k = 0; k < count; k++) {
			sums[touched[k]].site = touched[k];
			if (is_change(&sums[touched[k]]))
				*TPA_APPEND(rows->changes.list, rows->changes.count, rows->changes.room) =
					sums[touched[k]];
			sums[touched[k]] = (struct tpa_history_change){ 0 };
			known[touched[k]] = false;
		}
		rows->changes.ends[i] = rows->changes.count;
	}
	free(sums);
	free(touched);
	free(known);
}

static void join_samples(struct tpa_page_rows *rows, const uint32_t *row_of)
{
	const struct tpa_history *history = rows->history;
	struct tpa_pairs known = { 0 };
	size_t at = 0;

	rows->samples.count = 0;
	for (size_t i = 0; i + 1 < history->look_count; i++) {
		for (; at < history->samples.ends[i]; at++) {
			uint32_t row = row_of[history->samples.list[at].where], *place;
			bool found;

			place = tpa_pairs_at(&known, i, row, &found);
			if (!found) {
				*place = (uint32_t)rows->samples.count;
				*TPA_APPEND(rows->samples.list, rows->samples.count, rows->samples.room) =
					(struct tpa_history_sample){ .where = row };
			}
			rows->samples.list[*place].periods += history->samples.list[at].periods;
		}
		rows->samples.ends[i] = rows->samples.count;
	}
	tpa_pairs_free(&known);
}

static void group(struct tpa_page_rows *rows, const struct leaves *leaves, size_t nodes)
{
	uint32_t *row_of_site, *row_of_cpu;

	tpa_page_tree_keep(&rows->tree, nodes);
	row_of_site = group_sites(rows, leaves);
	row_of_cpu = group_cpu(rows, leaves);
	join_changes(rows, row_of_site);
	join_samples(rows, row_of_cpu);
	free(row_of_site);
	free(row_of_cpu);
}

struct tpa_page_rows *tpa_page_rows_make(const struct tpa_process *process, const struct tpa_history *history,
					 struct tpa_symbols *symbols, const struct tpa_page_limits *limits)
{
	struct tpa_page_rows *rows = tpa_zalloc(1, sizeof(*rows));
	struct leaves leaves = { NULL };
	size_t nodes = limits->nodes;

	rows->process = process;
	rows->history = history;
	rows->changes.ends = tpa_zalloc(history->look_count + 1, sizeof(size_t));
	rows->samples.ends = tpa_zalloc(history->look_count + 1, sizeof(size_t));
	tpa_page_tree_init(&rows->tree);
	plant(rows, symbols, limits, &leaves);
	group(rows, &leaves, nodes);
	while (rows->changes.count + rows->samples.count > limits->changes && nodes > 1) {
		nodes /= 2;
		group(rows, &leaves, nodes);
	}
	free(leaves.of_site);
	free(leaves.of_cpu);
	return rows;
}

void tpa_page_rows_free(struct tpa_page_rows *rows)
{
	if (!rows)
		return;
	tpa_page_tree_free(&rows->tree);
	free(rows->rows);
	free(rows->changes.list);
	free(rows->changes.ends);
	free(rows->cpu);
	free(rows->samples.list);
	free(rows->samples.ends);
	free(rows);
}
