/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tpa_diff_sites_free(struct tpa_diff_sites *sites)
{
	tpa_diff_rows_free(&sites->peak);
	tpa_diff_rows_free(&sites->unfreed);
	tpa_diff_rows_free(&sites->allocated);
	tpa_diff_rows_free(&sites->growth);
	tpa_diff_rows_free(&sites->cpu);
	tpa_diff_rows_free(&sites->cpu_stacks);
	tpa_named_free(&sites->names);
}

/* ---- where a stack belongs ---- */

struct place {
	uint32_t key, own;
	bool known, left_out;
};

/* The process that is being added. */
struct adding {
	struct tpa_diff_sites *sites;
	const struct tpa_process *process;
	struct tpa_symbols *symbols;
	struct tpa_stack stack;
	struct place *places; /* by stack node */
};

/*
 * Returns where a stack belongs. `own`: the line that it is put down to; `first`: index of the innermost line that is
 * part of the stack's name.
 */
static struct place place_of(struct tpa_diff_sites *sites, const struct tpa_stack *stack, const struct tpa_line *own,
			     size_t first)
{
	struct place place = { .known = true };

	if (sites->filter && !tpa_stack_matches(stack, sites->filter)) {
		place.left_out = true;
		return place;
	}
	place.own = own ? tpa_named_line(&sites->names, own) : 0;
	if (sites->by == TPA_BY_STACK)
		place.key = tpa_named_stack(&sites->names, stack, first);
	else
		place.key = sites->by == TPA_BY_MODULE ? tpa_named_module_of(&sites->names, place.own) : place.own;
	if (sites->by == TPA_BY_MODULE)
		place.own = place.key;
	return place;
}

/* Finds the place of a stack node and caches it: all sites of a stack and all tables share it. */
static struct place find_place(struct adding *adding, uint32_t node)
{
	const struct tpa_trace *trace = adding->process->trace;
	struct tpa_stack *stack = &adding->stack;
	struct place place;

	if (node < trace->node_count && adding->places[node].known)
		return adding->places[node];
	tpa_stack_read(stack, trace, adding->symbols, node);
	place = place_of(adding->sites, stack, tpa_stack_own(stack), stack->first);
	if (node < trace->node_count)
		adding->places[node] = place;
	return place;
}

/* By op, only the filter needs the stack. */
static struct place find(struct adding *adding, uint32_t op, uint32_t node)
{
	bool by_op = adding->sites->by == TPA_BY_OP;
	struct place place = { .known = true };

	if (!by_op || adding->sites->filter)
		place = find_place(adding, node);
	if (by_op) {
		const char *name = tpa_process_op_name(adding->process, op);

		place.key = place.own = tpa_named_text(&adding->sites->names, name ? name : "(outside of ops)");
	}
	return place;
}

/* ---- what is put there ---- */

static void add_memory(struct tpa_diff_sites *sites, const struct place *place, const struct tpa_site *site)
{
	const struct tpa_variance variance = tpa_site_variance(site);
	const struct tpa_diff_amount peak = { (double)site->peak_bytes, variance.peak_bytes, (double)site->peak_blocks,
					      0 };
	const struct tpa_diff_amount live = { (double)site->live_bytes, variance.live_bytes, (double)site->live_blocks,
					      0 };
	const struct tpa_diff_amount all = { (double)site->bytes, variance.bytes, (double)site->allocations, 0 };

	if (site->peak_blocks)
		tpa_diff_rows_add(&sites->peak, place->key, place->own, &peak);
	if (site->live_blocks)
		tpa_diff_rows_add(&sites->unfreed, place->key, place->own, &live);
	if (site->allocations)
		tpa_diff_rows_add(&sites->allocated, place->key, place->own, &all);
}

static void note_unseen(struct tpa_diff_rows *rows, const struct tpa_process *process)
{
	rows->unseen = fmax(rows->unseen, process->unseen.bytes);
}

static void add_sites(struct adding *adding)
{
	note_unseen(&adding->sites->peak, adding->process);
	note_unseen(&adding->sites->unfreed, adding->process);
	note_unseen(&adding->sites->allocated, adding->process);
	for (size_t i = 0; i < adding->process->site_count; i++) {
		const struct tpa_site *site = &adding->process->sites[i];
		struct place place = find(adding, site->op, site->node);

		if (!place.left_out)
			add_memory(adding->sites, &place, site);
	}
}

double tpa_diff_unseen_rate(const struct tpa_process *process)
{
	const struct tpa_growth_stats *growth = &process->growth;

	if (growth->looks < TPA_TREND_LEAST || !(growth->span > 0))
		return 0;
	return process->unseen.bytes / (growth->span * (double)(growth->looks - 1));
}

/*
 * Adds the growth rates of a process. Rates can only be summed if their unit is that of the run's process with the
 * steps. A stack that leaks in one run is compared with its rate in the other runs, whatever their verdict, because
 * one run may prove what another of the same program only suspects.
 */
static void add_growth(struct adding *adding, const struct tpa_process *stepping)
{
	const struct tpa_growth_stats *growth = &adding->process->growth;
	struct tpa_diff_sites *sites = adding->sites;

	if (growth->seconds != stepping->growth.seconds)
		return;
	if (growth->looks >= TPA_TREND_LEAST)
		sites->growth_unit |= growth->seconds ? 2 : 1;
	sites->growth.unseen = fmax(sites->growth.unseen, tpa_diff_unseen_rate(adding->process));
	for (size_t i = 0; i < growth->rate_count; i++) {
		const struct tpa_growth_site *site = &growth->rates[i];
		struct tpa_diff_amount amount = tpa_diff_rate(site->rate, site->low, site->high, site->block_rate);
		struct place place = find(adding, site->op, site->node);

		if (place.left_out)
			continue;
		tpa_diff_rows_add(&sites->growth, place.key, place.own, &amount);
		if (site->verdict == TPA_VERDICT_LEAK)
			tpa_diff_rows_want(&sites->growth, place.key);
	}
}

/* CPU time belongs to the innermost line, whatever code that is. */
static void add_sample(struct adding *adding, const struct tpa_cpu_site *site)
{
	struct tpa_diff_sites *sites = adding->sites;
	struct tpa_diff_amount amount = { (double)site->cpu.periods, 0, (double)site->cpu.samples, 0 };
	struct tpa_stack *stack = &adding->stack;
	struct place place;

	if (sites->by == TPA_BY_OP) {
		place = find(adding, site->op, site->node);
	} else {
		tpa_stack_read(stack, adding->process->trace, adding->symbols, site->node);
		place = place_of(sites, stack, stack->last ? &stack->lines[0] : NULL, 0);
	}
	if (place.left_out)
		return;
	tpa_diff_rows_add(&sites->cpu, sites->by == TPA_BY_STACK ? place.own : place.key, place.own, &amount);
	if (sites->by == TPA_BY_STACK)
		tpa_diff_rows_add(&sites->cpu_stacks, place.key, place.own, &amount);
}

void tpa_diff_sites_add(struct tpa_diff_sites *sites, const struct tpa_run *run, size_t index,
			struct tpa_symbols *symbols)
{
	const struct tpa_process *process = &run->processes[index];
	struct adding adding = { .sites = sites, .process = process, .symbols = symbols };

	tpa_named_process(&sites->names, process->trace);
	adding.places = tpa_zalloc(process->trace->node_count, sizeof(*adding.places));
	add_sites(&adding);
	add_growth(&adding, tpa_stepping(run));
	for (size_t i = 0; i < process->cpu_site_count; i++)
		add_sample(&adding, &process->cpu_sites[i]);
	tpa_stack_free(&adding.stack);
	free(adding.places);
}

void tpa_diff_sites_end_run(struct tpa_diff_sites *sites, int side, const struct tpa_run *run)
{
	struct tpa_cpu all = { 0, 0, 0 };
	double trials;

	for (size_t i = 0; i < run->process_count; i++)
		tpa_cpu_add(&all, &run->processes[i].cpu);
	/* The effective number of independent samples (Kish 1965). */
	trials = all.squares > 0 ? (double)all.periods * (double)all.periods / all.squares : 0;
	tpa_diff_rows_end_run(&sites->peak, side, 1);
	tpa_diff_rows_end_run(&sites->unfreed, side, 1);
	tpa_diff_rows_end_run(&sites->allocated, side, 1);
	tpa_diff_rows_end_run(&sites->growth, side, 1);
	if (all.periods) { /* without samples, shares are unknown rather than 0 */
		tpa_diff_rows_end_run(&sites->cpu, side, 1 / (double)all.periods);
		tpa_diff_rows_end_run(&sites->cpu_stacks, side, 1 / (double)all.periods);
	}
	if (tpa_stepping(run)->growth.looks < TPA_TREND_LEAST)
		sites->growth_open = true;
	sites->cpu.trials[side] = sites->cpu_stacks.trials[side] = trials;
}

void tpa_diff_sites_test(struct tpa_diff_sites *sites)
{
	sites->cpu.small_too = true; /* rows with too few samples are not tested anyway */
	sites->growth.rates = true;
	tpa_diff_rows_keep_wanted(&sites->growth);
	tpa_diff_rows_test(&sites->peak);
	tpa_diff_rows_test(&sites->unfreed);
	tpa_diff_rows_test(&sites->allocated);
	tpa_diff_rows_test(&sites->growth);
	tpa_diff_rows_test(&sites->cpu);
	tpa_diff_rows_test(&sites->cpu_stacks);
}
