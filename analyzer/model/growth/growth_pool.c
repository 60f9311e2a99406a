/* SPDX-License-Identifier: Apache-2.0 */
/* Judges groups of series: all stacks of a line, a function or an op together. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/growth/growth_impl.h"

struct pool {
	const struct tpa_growth_kept *kept;
	uint32_t *order; /* members, group by group */
	size_t *first;	 /* place in `order` of the first member of each group, and one more element for the end */
	size_t groups;
	bool *explained; /* by member: it belongs to a leak that is already listed */
};

const struct tpa_growth_member *tpa_growth_members(const struct tpa_growth_kept *kept, size_t *count)
{
	*count = kept ? kept->count : 0;
	return kept ? kept->members : NULL;
}

/* Fills order and first by a counting sort. */
static void put_together(struct pool *pool, const struct tpa_growth_groups *groups)
{
	size_t members = pool->kept->count, entries = groups->first[members], *next;

	pool->order = tpa_zalloc(entries, sizeof(*pool->order));
	pool->first = tpa_zalloc(pool->groups + 2, sizeof(*pool->first));
	pool->explained = tpa_zalloc(members, sizeof(*pool->explained));
	next = pool->first + 1; /* next[g] moves from the begin of group g to its end, which is first[g + 1] */
	for (size_t e = 0; e < entries; e++)
		next[groups->list[e] + 1]++;
	for (size_t g = 0; g < pool->groups; g++)
		next[g + 1] += next[g];
	for (size_t i = 0; i < members; i++)
		for (size_t e = groups->first[i]; e < groups->first[i + 1]; e++)
			pool->order[next[groups->list[e]]++] = (uint32_t)i;
}

static void free_pool(struct pool *pool)
{
	free(pool->order);
	free(pool->first);
	free(pool->explained);
}

/* ---- sums ---- */

static void read_sum(const void *source, size_t group, struct tpa_growth_values *values)
{
	const struct pool *pool = source;
	struct tpa_growth_state constant = { 0 };
	size_t n = pool->kept->places.count;

	for (size_t i = 0; i < n; i++)
		values->bytes[i] = values->blocks[i] = values->survivors[i] = 0;
	for (size_t m = pool->first[group]; m < pool->first[group + 1]; m++) {
		const struct tpa_growth_state *state = &pool->kept->states[pool->order[m]];

		if (pool->explained[pool->order[m]])
			continue;
		if (!tpa_growth_is_plain(state)) {
			tpa_growth_add_state(state, n, values);
			continue;
		}
		constant.bytes += state->bytes;
		constant.blocks += state->blocks;
	}
	tpa_growth_add_state(&constant, n, values);
}

/*
 * Fills in what the group has at the last look, and the stack of the member that grew most. False if the group is
 * constant.
 */
static bool describe(const struct pool *pool, size_t group, struct tpa_growth_site *site)
{
	bool changes = false;
	double most = 0;

	*site = (struct tpa_growth_site){ .number = (uint32_t)group };
	for (size_t m = pool->first[group]; m < pool->first[group + 1]; m++) {
		size_t member = pool->order[m];
		const struct tpa_growth_state *state = &pool->kept->states[member];
		double grown = 0;

		if (pool->explained[member])
			continue;
		site->members++;
		tpa_growth_add_last(state, pool->kept->places.count, &site->bytes, &site->blocks);
		if (!tpa_growth_is_plain(state))
			grown = tpa_growth_grown(state, pool->kept->places.count);
		if (tpa_growth_is_plain(state) || (changes && grown <= most))
			continue;
		changes = true;
		most = grown;
		site->node = pool->kept->members[member].node;
		site->op = pool->kept->members[member].op;
	}
	return changes;
}

/* ---- leaks taken apart ---- */

/*
 * Steadiness of growth for its number of stacks. If independent stacks leak alike, all of them together score no better
 * than one alone, so a single one is chosen. If a leak moves from stack to stack, the whole is steadier than any part.
 */
static double score(const struct tpa_growth_site *site)
{
	return site->rate / (site->high - site->low) / sqrt((double)site->members);
}

static size_t best_of(const struct tpa_growth_found *list, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++) {
		double x = score(&list[i].site), y = score(&list[best].site);
		size_t a = list[i].site.members, b = list[best].site.members;

		if (x > y || (x == y && (a < b || (a == b && list[i].index < list[best].index))))
			best = i;
	}
	return best;
}

/* Does the group have a member that is in `chosen`? */
static bool overlaps(const struct pool *pool, size_t group, const bool *chosen)
{
	for (size_t m = pool->first[group]; m < pool->first[group + 1]; m++)
		if (chosen[pool->order[m]])
			return true;
	return false;
}

/* Keeps the groups that still leak without the members that are explained. Returns how many remain. */
static size_t test_again(const struct tpa_growth_family *family, struct tpa_growth_found *list, size_t count,
			 const bool *chosen, size_t varying)
{
	const struct pool *pool = family->source;
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		struct tpa_growth_found found = list[i];

		if (overlaps(pool, found.index, chosen)) {
			if (!describe(pool, found.index, &found.site))
				continue;
			tpa_growth_test(family, &found);
			/* Judge one at a time, as if it had the smallest p of all. */
			tpa_growth_judge(family, &found, 1, varying);
			if (found.site.verdict != TPA_VERDICT_LEAK)
				continue;
		}
		list[left++] = found;
	}
	return left;
}

static void take_apart(const struct tpa_growth_family *family, struct tpa_growth_found *list, size_t count,
		       size_t varying, struct tpa_growth_list *result)
{
	struct pool *pool = (struct pool *)family->source;
	bool *chosen = tpa_zalloc(pool->kept->count, sizeof(*chosen));

	while (count) { /* each round takes at least one from the list */
		size_t best = best_of(list, count), group = list[best].index;

		tpa_growth_take(result, &list[best].site);
		list[best] = list[--count];
		for (size_t i = 0; i < pool->kept->count; i++)
			chosen[i] = false;
		for (size_t m = pool->first[group]; m < pool->first[group + 1]; m++) {
			chosen[pool->order[m]] = !pool->explained[pool->order[m]];
			pool->explained[pool->order[m]] = true;
		}
		count = test_again(family, list, count, chosen, varying);
	}
	free(chosen);
}

bool tpa_growth_pool_some(const struct tpa_growth_kept *kept, const bool *chosen, struct tpa_growth_site *site)
{
	size_t *first = tpa_zalloc(kept->count + 1, sizeof(*first));
	uint32_t *list = tpa_zalloc(kept->count, sizeof(*list));
	const struct tpa_growth_groups groups = { first, list, 1 };
	struct pool pool = { .kept = kept, .groups = 1 };
	const struct tpa_growth_family family = { &kept->places, &pool, read_sum };
	struct tpa_growth_found found = { .index = 0 };
	bool changes;

	for (size_t i = 0; i < kept->count; i++)
		first[i + 1] = first[i] + (chosen[i] ? 1 : 0);
	put_together(&pool, &groups);
	changes = describe(&pool, 0, &found.site);
	if (changes) {
		tpa_growth_test(&family, &found);
		tpa_growth_judge(&family, &found, 1, 1);
		*site = found.site;
	}
	free_pool(&pool);
	free(first);
	free(list);
	return changes;
}

static void judge(struct pool *pool, struct tpa_growth_list *result, size_t *varying)
{
	const struct tpa_growth_family family = { &pool->kept->places, pool, read_sum };
	struct tpa_growth_found *list = tpa_zalloc(pool->groups, sizeof(*list));
	size_t count = 0, leaks = 0;

	for (size_t group = 0; group < pool->groups; group++) {
		struct tpa_growth_found *found = &list[count];

		if (!describe(pool, group, &found->site))
			continue;
		found->index = group;
		tpa_growth_test(&family, found);
		*varying += found->trend.varies;
		count++;
	}
	tpa_growth_judge(&family, list, count, *varying);
	for (size_t i = 0; i < count; i++)
		if (list[i].site.verdict == TPA_VERDICT_LEAK)
			list[leaks++] = list[i];
	result->list = tpa_zalloc(leaks, sizeof(*result->list));
	take_apart(&family, list, leaks, *varying, result);
	free(list);
	tpa_growth_sort(result);
}

void tpa_growth_pool(const struct tpa_growth_kept *kept, const struct tpa_growth_groups *groups,
		     struct tpa_growth_list *result, size_t *varying)
{
	struct pool pool = { .kept = kept, .groups = groups->count };

	*result = (struct tpa_growth_list){ 0 };
	*varying = 0;
	put_together(&pool, groups);
	judge(&pool, result, varying);
	free_pool(&pool);
}
