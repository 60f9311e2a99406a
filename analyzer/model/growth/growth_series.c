/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms the series that are judged: sites whose stacks are alike share one. Stacks that differ only in names may still
 * be different: a program may have one for each of its layers. So they share a series only if new names keep coming
 * while the program runs: at RENEWED looks after the warm-up, some names were there for the first time.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/growth/same_stacks.h"
#include "model/growth/growth_impl.h"

#define RENEWED (TPA_TREND_LEAST / 2) /* looks at which there must be new names */

struct entry {
	struct tpa_alike_stack stack;
	size_t index;
	size_t look; /* index of the first look that found something */
};

static int by_stack(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return TPA_UP(x->stack.loose, y->stack.loose) ?: TPA_UP(x->stack.exact, y->stack.exact) ?:
	       TPA_UP(x->index, y->index);
}

static size_t first_look(const struct tpa_growth_state *state, size_t looks)
{
	size_t look = 0;

	if (!state->series)
		return state->since;
	while (look < looks && !state->series->blocks[look] && !state->series->bytes[look])
		look++;
	return look;
}

/* The stack of a site or mapping. Those of blocks, file mappings and anonymous mappings are never alike. */
static struct tpa_alike_stack stack_of(struct tpa_alike *alike, const struct tpa_growth_inputs *in, size_t sites,
				       size_t index)
{
	const struct tpa_map_state *map = index < sites ? NULL : &in->maps->sites[index - sites];
	const struct tpa_site_state *site = map ? NULL : &in->sites->list[index];
	const char *op = site && site->op < in->trace->op_count ? in->trace->ops[site->op].name : NULL;
	struct tpa_alike_stack stack = tpa_alike_stack(alike, map ? map->node : site->node, op);
	uint64_t kind = map ? 1 + (uint64_t)map->file : site->key << 2;

	return (struct tpa_alike_stack){ stack.exact + kind, stack.loose + kind };
}

/* Lists the sites and mappings, sorted by stack. Plain ones are listed only if `plain` is set. */
static struct entry *collect(const struct tpa_growth *growth, const struct tpa_growth_inputs *in, size_t looks,
			     bool plain, size_t *count)
{
	size_t sites = growth->sites.count, all = sites + growth->maps.count;
	struct entry *list = tpa_zalloc(all, sizeof(*list));
	struct tpa_alike alike;

	tpa_alike_init(&alike, in->trace, in->options);
	*count = 0;
	for (size_t i = TPA_SITE_FIRST; i < all; i++) {
		const struct tpa_growth_state *state = tpa_growth_state_at(growth, i);

		if (plain || !tpa_growth_is_plain(state))
			list[(*count)++] =
				(struct entry){ stack_of(&alike, in, sites, i), i, first_look(state, looks) };
	}
	tpa_alike_free(&alike);
	qsort(list, *count, sizeof(*list), by_stack);
	return list;
}

/* The end of the entries that have the same stack as list[from]. */
static size_t end_of(const struct entry *list, size_t count, size_t from, bool loose)
{
	size_t to = from + 1;

	while (to < count && list[to].stack.loose == list[from].stack.loose &&
	       (loose || list[to].stack.exact == list[from].stack.exact))
		to++;
	return to;
}

/* For stacks that differ only in names: do new ones keep coming? */
static bool are_renewed(const struct entry *list, size_t from, size_t to, size_t looks)
{
	bool at[TPA_TREND_MAX + 1] = { false };
	size_t count = 0;

	for (size_t next; from < to; from = next) {
		size_t look = looks;

		next = end_of(list, to, from, false);
		for (size_t i = from; i < next; i++)
			look = list[i].look < look ? list[i].look : look;
		if (look <= looks / 10 || look >= looks || at[look])
			continue;
		at[look] = true;
		count++;
	}
	return count >= RENEWED;
}

static bool all_plain(const struct tpa_growth *growth, const struct entry *list, size_t from, size_t to)
{
	while (from < to && tpa_growth_is_plain(tpa_growth_state_at(growth, list[from].index)))
		from++;
	return from == to;
}

/* Adds one series, unless all of its members are plain. */
static void add_series(struct tpa_growth_series_list *series, const struct tpa_growth *growth, const struct entry *list,
		       size_t from, size_t to, bool renewed)
{
	size_t first = series->first[series->count];

	series->repeated += list[from].index < growth->sites.count ? to - from - 1 : 0;
	if (all_plain(growth, list, from, to))
		return;
	for (size_t i = from; i < to; i++)
		series->order[first + i - from] = list[i].index;
	series->renewed[series->count++] = renewed;
	series->first[series->count] = first + to - from;
}

static void add_all(struct tpa_growth_series_list *series, const struct tpa_growth *growth, const struct entry *list,
		    size_t count, size_t looks)
{
	for (size_t from = 0, to, next; from < count; from = to) {
		bool renewed;

		to = end_of(list, count, from, true);
		renewed = are_renewed(list, from, to, looks);
		for (; from < to; from = next) {
			next = renewed ? to : end_of(list, to, from, false);
			add_series(series, growth, list, from, next, renewed);
		}
	}
}

static struct tpa_growth_series_list find_series(const struct tpa_growth *growth, const struct tpa_growth_inputs *in,
						 size_t looks, bool plain)
{
	size_t count;
	struct entry *list = collect(growth, in, looks, plain, &count);
	struct tpa_growth_series_list series = { .order = tpa_zalloc(count, sizeof(*series.order)),
						 .first = tpa_zalloc(count + 1, sizeof(*series.first)),
						 .renewed = tpa_zalloc(count, sizeof(*series.renewed)) };

	add_all(&series, growth, list, count, looks);
	free(list);
	return series;
}

/* Plain sites are included only if some stacks are alike, since they may be alike to these. */
struct tpa_growth_series_list tpa_growth_series(const struct tpa_growth *growth, const struct tpa_growth_inputs *in,
						size_t looks)
{
	bool python = in->options->frames == TPA_FRAMES_PYTHON;
	struct tpa_growth_series_list series = find_series(growth, in, looks, python);

	if (!series.repeated || python)
		return series;
	tpa_growth_series_free(&series);
	return find_series(growth, in, looks, true);
}

void tpa_growth_series_free(struct tpa_growth_series_list *series)
{
	free(series->order);
	free(series->first);
	free(series->renewed);
}
