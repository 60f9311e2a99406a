/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/stack_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/row_index.h"
#include "base/memory.h"
#include "base/order.h"

/* A row before it is filled in. */
struct group {
	uint64_t number, bytes;
	uint32_t chain, op;  /* these, `holder` and `cut` identify the row */
	uint32_t part, site; /* its first site */
	uint8_t holder;
	bool cut;
};

struct member {
	uint32_t site, group;
};

/* The sites of a process. */
struct part {
	const struct tpa_process *process;
	struct tpa_symbols *symbols;
	const struct tpa_site_stack *first; /* element for site 0; NULL: no site was added yet */
	size_t index, first_member;
	uint32_t *ops; /* number of an op's name, by the op's number in the trace; 0: not looked up yet */
};

struct tpa_stack_rows {
	struct tpa_row_index texts; /* interned names of ops */
	struct tpa_pairs ops;	    /* name to number */
	struct part *parts;
	size_t part_count, part_room;
	struct group *groups;
	size_t group_count, group_room;
	struct member *members;
	size_t member_count, member_room;
	struct tpa_pairs index; /* identity of a group to its index */
};

struct tpa_stack_rows *tpa_stack_rows_new(void)
{
	struct tpa_stack_rows *rows = tpa_zalloc(1, sizeof(*rows));

	tpa_row_index_init(&rows->texts);
	return rows;
}

void tpa_stack_rows_free(struct tpa_stack_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->part_count; i++)
		free(rows->parts[i].ops);
	tpa_row_index_free(&rows->texts);
	tpa_pairs_free(&rows->ops);
	free(rows->parts);
	free(rows->groups);
	free(rows->members);
	tpa_pairs_free(&rows->index);
	free(rows);
}

void tpa_stack_rows_process(struct tpa_stack_rows *rows, const struct tpa_process *process, size_t index,
			    struct tpa_symbols *symbols)
{
	*TPA_APPEND(rows->parts, rows->part_count, rows->part_room) =
		(struct part){ .process = process,
			       .symbols = symbols,
			       .index = index,
			       .first_member = rows->member_count,
			       .ops = tpa_zalloc(process->trace->op_count, sizeof(uint32_t)) };
}

/* ---- telling them apart ---- */

/* Ops of the same name have the same number in all processes. */
static uint32_t op_number(struct tpa_stack_rows *rows, const struct part *part, uint32_t op)
{
	uint32_t *known = op < part->process->trace->op_count ? &part->ops[op] : NULL, *number;
	bool found;

	if (known && *known != 0)
		return *known;
	number = tpa_pairs_at(&rows->ops, tpa_row_index_op(&rows->texts, tpa_process_op_name(part->process, op)), 0,
			      &found);
	if (!found)
		*number = (uint32_t)rows->ops.count;
	if (known)
		*known = *number;
	return *number;
}

/* Returns the row with the identity of `fresh`; adds `fresh` if there is none. */
static struct group *group_at(struct tpa_stack_rows *rows, const struct group *fresh)
{
	bool found;
	uint32_t *at = tpa_pairs_at(&rows->index, (uint64_t)fresh->chain << 32 | fresh->op,
				    (uint64_t)fresh->holder << 1 | fresh->cut, &found);

	if (!found) {
		tpa_grow(&rows->groups, &rows->group_room, rows->group_count + 1, sizeof(*rows->groups));
		*at = (uint32_t)rows->group_count;
		rows->groups[rows->group_count++] = *fresh;
	}
	return &rows->groups[*at];
}

void tpa_stack_rows_add(struct tpa_stack_rows *rows, const struct tpa_site_stack *stack, size_t site, bool held,
			const struct tpa_stack_amounts *amounts)
{
	struct part *part = &rows->parts[rows->part_count - 1];
	struct group fresh = { .chain = stack->chain,
			       .op = op_number(rows, part, part->process->sites[site].op),
			       .part = (uint32_t)(rows->part_count - 1),
			       .site = (uint32_t)site,
			       .holder = held ? stack->holder : TPA_HOLDER_NONE,
			       .cut = stack->cut };
	struct group *group = group_at(rows, &fresh);

	tpa_grow(&rows->members, &rows->member_room, rows->member_count + 1, sizeof(*rows->members));
	part->first = stack - site;
	rows->members[rows->member_count++] = (struct member){ (uint32_t)site, (uint32_t)(group - rows->groups) };
	group->bytes += amounts->bytes;
	if (!amounts->largest)
		group->number += amounts->number;
	else if (amounts->number > group->number)
		group->number = amounts->number;
}

/* ---- order ---- */

struct rank {
	uint64_t number, bytes;
	uint32_t group;
	bool last;
};

static struct tpa_line line_of(const struct part *part, uint32_t site)
{
	return tpa_site_stack_own(&part->first[site], part->process->trace, part->symbols);
}

/* Breaks ties, so that equal rows have the same order in every run of the analyzer. */
static int compare_names(const struct tpa_stack_rows *rows, const struct group *a, const struct group *b)
{
	const struct part *x = &rows->parts[a->part], *y = &rows->parts[b->part];
	const struct tpa_site *first = &x->process->sites[a->site], *second = &y->process->sites[b->site];
	struct tpa_line line = line_of(x, a->site), other = line_of(y, b->site);
	int order = tpa_row_names_compare(&line, tpa_process_op_name(x->process, first->op), &other,
					  tpa_process_op_name(y->process, second->op));

	return order ?: TPA_UP(x->index, y->index) ?: TPA_UP(first->node, second->node);
}

static int compare_numbers(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	return TPA_UP(a->last, b->last) ?: TPA_DOWN(a->number, b->number) ?: TPA_DOWN(a->bytes, b->bytes);
}

static int compare_ranks(const void *left, const void *right, void *context)
{
	const struct tpa_stack_rows *rows = context;
	const struct rank *a = left, *b = right;

	return compare_numbers(a, b) ?: compare_names(rows, &rows->groups[a->group], &rows->groups[b->group]);
}

/* Sorts the rows. Ties are broken by name only among the rows that are shown and those that tie with the last of them. */
static struct rank *sort(struct tpa_stack_rows *rows, size_t shown, bool held_last)
{
	struct rank *ranks = tpa_zalloc(rows->group_count, sizeof(*ranks));

	for (size_t i = 0; i < rows->group_count; i++) {
		const struct group *group = &rows->groups[i];

		ranks[i] = (struct rank){ group->number, group->bytes, (uint32_t)i, held_last && group->holder };
	}
	qsort(ranks, rows->group_count, sizeof(*ranks), compare_numbers);
	while (shown && shown < rows->group_count && compare_numbers(&ranks[shown - 1], &ranks[shown]) == 0)
		shown++;
	qsort_r(ranks, shown, sizeof(*ranks), compare_ranks, rows);
	return ranks;
}

/* ---- the rows that are shown ---- */

static void add_born(struct tpa_row *row, const struct tpa_born *born)
{
	if (row->sites == 1)
		row->born = *born;
	row->born.first = born->first < row->born.first ? born->first : row->born.first;
	row->born.last = born->last > row->born.last ? born->last : row->born.last;
}

static void add_site(struct tpa_row *row, const struct group *group, const struct part *part, uint32_t number,
		     enum tpa_what what)
{
	const struct tpa_site *site = &part->process->sites[number];
	struct tpa_sums sums = tpa_sums_of(site);

	if (!row->sites) {
		row->node = site->node;
		row->process = part->index;
		row->op = tpa_process_op_name(part->process, site->op);
		row->holder = group->holder;
		row->line = line_of(part, number);
	}
	row->sites++;
	tpa_sums_add(&row->self, &sums);
	add_born(row, what == TPA_WHAT_PEAK ? &site->peak_born : &site->live_born);
}

/* `places`: position of each group's row. Rows from to->shown on are not made. */
static void fill(const struct tpa_stack_rows *rows, const uint32_t *places, struct tpa_rows *to, enum tpa_what what)
{
	for (size_t p = 0; p < rows->part_count; p++) {
		const struct part *part = &rows->parts[p];
		size_t end = p + 1 < rows->part_count ? part[1].first_member : rows->member_count;

		for (size_t i = part->first_member; i < end; i++) {
			const struct member *member = &rows->members[i];

			if (places[member->group] < to->shown)
				add_site(&to->rows[places[member->group]], &rows->groups[member->group], part,
					 member->site, what);
		}
	}
	for (size_t i = 0; i < to->shown; i++)
		to->rows[i].total = to->rows[i].self;
}

void tpa_stack_rows_end(struct tpa_stack_rows *rows, struct tpa_rows *to, size_t top, enum tpa_what what,
			bool held_last)
{
	size_t count = rows->group_count, shown = top && top < count ? top : count;
	struct rank *ranks = sort(rows, shown, held_last);
	uint32_t *places = tpa_zalloc(count, sizeof(*places));

	to->count = count;
	to->shown = shown;
	to->rows = tpa_zalloc(shown, sizeof(*to->rows));
	to->bytes = tpa_zalloc(count, sizeof(*to->bytes));
	for (size_t i = 0; i < count; i++) {
		places[ranks[i].group] = (uint32_t)i;
		to->bytes[i] = ranks[i].bytes;
	}
	fill(rows, places, to, what);
	free(ranks);
	free(places);
}
