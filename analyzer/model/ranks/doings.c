/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/doings.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

#define WINDOWS_MOST (1u << 20)

struct window {
	int64_t begin, end;
	uint32_t rank, late, thread;
};

struct tpa_doings_impl {
	struct window *windows; /* by rank and time; those of a rank do not overlap */
	size_t count;
	size_t *firsts; /* by rank, the first of its windows; then the number of all */
};

/* A group of a case, to be chosen by its waiting. */
struct choice {
	int64_t wait_ns;
	uint32_t group, late;
};

static int compare_choices(const void *left, const void *right)
{
	const struct choice *a = left, *b = right;

	return TPA_DOWN(a->wait_ns, b->wait_ns) ?: TPA_UP(a->group, b->group);
}

static int compare_windows(const void *left, const void *right)
{
	const struct window *a = left, *b = right;

	return TPA_UP(a->rank, b->rank) ?: TPA_UP(a->begin, b->begin) ?: TPA_UP(a->end, b->end) ?: TPA_UP(a->late, b->late);
}

/* The groups of the cases, most waiting first. */
static struct choice *choose(const struct tpa_ranks *ranks, size_t cases, size_t *count)
{
	struct choice *list = tpa_zalloc(ranks->group_count + 1, sizeof(*list));
	struct tpa_pairs index = { 0 };

	for (size_t i = 0; i < cases; i++)
		tpa_pairs_set(&index, ranks->late[i].rank, ranks->late[i].step, (uint32_t)i + 1);
	*count = 0;
	for (size_t i = 0; i < ranks->group_count; i++) {
		const struct tpa_rank_match *group = &ranks->groups[i];
		const struct tpa_rank_op *late = group->late == TPA_RANK_NONE ? NULL : &ranks->ops[group->late];
		uint32_t number = late ? tpa_pairs_find(&index, late->rank, late->step) : 0;

		if (number)
			list[(*count)++] = (struct choice){ group->late_wait_ns, (uint32_t)i, number - 1 };
	}
	tpa_pairs_free(&index);
	qsort(list, *count, sizeof(*list), compare_choices);
	return list;
}

static void add_windows(struct tpa_doings_impl *impl, const struct tpa_ranks *ranks, const struct choice *choice)
{
	const struct tpa_rank_match *group = &ranks->groups[choice->group];

	for (uint32_t i = 0; i < group->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[ranks->members[group->first + i]];
		const struct tpa_rank *rank = &ranks->list[op->rank];

		impl->windows[impl->count++] = (struct window){ .begin = tpa_rank_own_time(ranks, rank, op->since),
								.end = tpa_rank_own_time(ranks, rank, op->post),
								.rank = op->rank,
								.late = choice->late,
								.thread = rank->said->calls[op->call].thread };
	}
}

/* Sorts the windows, and cuts what overlaps. */
static void order(struct tpa_doings *doings)
{
	struct tpa_doings_impl *impl = doings->impl;
	const struct tpa_ranks *ranks = doings->ranks;
	size_t kept = 0;
	uint32_t rank = 0;

	qsort(impl->windows, impl->count, sizeof(*impl->windows), compare_windows);
	for (size_t i = 0; i < impl->count; i++) {
		struct window window = impl->windows[i];

		if (kept && impl->windows[kept - 1].rank == window.rank && impl->windows[kept - 1].end > window.begin)
			window.begin = impl->windows[kept - 1].end;
		if (window.begin >= window.end)
			continue;
		while (rank < window.rank)
			impl->firsts[++rank] = kept;
		impl->windows[kept++] = window;
		doings->sums[window.late * ranks->count + window.rank].ns += window.end - window.begin;
	}
	impl->count = kept;
	while (rank < ranks->count)
		impl->firsts[++rank] = kept;
}

struct tpa_doings *tpa_doings_new(const struct tpa_ranks *ranks, size_t most)
{
	struct tpa_doings *doings = tpa_zalloc(1, sizeof(*doings));
	struct tpa_doings_impl *impl = tpa_zalloc(1, sizeof(*impl));
	size_t chosen, windows = 0;
	struct choice *choices;

	doings->ranks = ranks;
	doings->impl = impl;
	doings->case_count = ranks->late_count < most ? ranks->late_count : most;
	doings->lists = tpa_zalloc(ranks->count + 1, sizeof(*doings->lists));
	doings->sums = tpa_zalloc(doings->case_count * ranks->count + 1, sizeof(*doings->sums));
	choices = choose(ranks, doings->case_count, &chosen);
	for (size_t i = 0; i < chosen; i++) {
		windows += ranks->groups[choices[i].group].count;
		if (windows > WINDOWS_MOST)
			chosen = i;
	}
	impl->windows = tpa_zalloc(windows + 1, sizeof(*impl->windows));
	impl->firsts = tpa_zalloc(ranks->count + 1, sizeof(*impl->firsts));
	for (size_t i = 0; i < chosen; i++)
		add_windows(impl, ranks, &choices[i]);
	free(choices);
	order(doings);
	return doings;
}

void tpa_doings_free(struct tpa_doings *doings)
{
	if (!doings)
		return;
	for (size_t i = 0; i < doings->ranks->count; i++) {
		tpa_pairs_free(&doings->lists[i].index);
		free(doings->lists[i].list);
	}
	free(doings->lists);
	free(doings->impl->windows);
	free(doings->impl->firsts);
	free(doings->impl);
	free(doings->sums);
	free(doings);
}

bool tpa_doings_asks(const struct tpa_doings *doings, uint32_t rank)
{
	return doings->impl->firsts[rank] < doings->impl->firsts[rank + 1];
}

/* ---- what was done ---- */

/* The first window of the rank that ends after the time; *end: behind its last one. */
static const struct window *first_after(const struct tpa_doings *doings, uint32_t rank, int64_t time,
					const struct window **end)
{
	const struct tpa_doings_impl *impl = doings->impl;
	size_t low = impl->firsts[rank], high = impl->firsts[rank + 1];

	*end = impl->windows + high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (impl->windows[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return impl->windows + low;
}

static struct tpa_doing_sum *sum_of(const struct tpa_doings *doings, const struct window *window)
{
	return &doings->sums[window->late * doings->ranks->count + window->rank];
}

static struct tpa_doing *add(struct tpa_doings *doings, const struct window *window, enum tpa_doing_kind kind,
			     uint32_t what, int64_t ns)
{
	struct tpa_doing_list *of = &doings->lists[window->rank];
	bool found;
	uint32_t *number = tpa_pairs_at(&of->index, window->late << 2 | kind, what, &found);

	if (!found) {
		*TPA_APPEND(of->list, of->count, of->room) = (struct tpa_doing){
			.rank = window->rank, .late = window->late, .kind = (uint8_t)kind, .what = what
		};
		*number = (uint32_t)of->count;
	}
	of->list[*number - 1].ns += ns;
	return &of->list[*number - 1];
}

static int64_t overlap(const struct window *window, int64_t from, int64_t to)
{
	int64_t begin = from > window->begin ? from : window->begin, end = to < window->end ? to : window->end;

	return end > begin ? end - begin : 0;
}

void tpa_doings_op(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t from, int64_t to, uint32_t op)
{
	const struct window *end, *window = first_after(doings, rank, from, &end);

	for (; window < end && window->begin < to; window++)
		if (window->thread == thread)
			add(doings, window, TPA_DOING_OP, op, overlap(window, from, to));
}

void tpa_doings_wait(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t from, int64_t to, uint32_t op,
		     uint32_t node)
{
	const struct window *end, *window = first_after(doings, rank, from, &end);

	for (; window < end && window->begin < to; window++)
		if (window->thread == thread)
			add(doings, window, TPA_DOING_WAIT, node, overlap(window, from, to))->op = op;
}

void tpa_doings_sample(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t at, int64_t cpu_ns,
		       uint32_t node)
{
	const struct window *end, *window = first_after(doings, rank, at, &end);

	if (window == end || window->begin > at)
		return;
	add(doings, window, TPA_DOING_SAMPLE, node, cpu_ns);
	sum_of(doings, window)->samples++;
	if (window->thread == thread)
		sum_of(doings, window)->cpu_ns += cpu_ns;
}

void tpa_doings_faults(struct tpa_doings *doings, uint32_t rank, int64_t from, int64_t to, uint64_t faults)
{
	const struct window *end, *window = first_after(doings, rank, from, &end);

	/* Evenly over the time between the two countings. */
	for (; to > from && window < end && window->begin < to; window++)
		sum_of(doings, window)->faults +=
			(double)faults * ((double)overlap(window, from, to) / (double)(to - from));
}
