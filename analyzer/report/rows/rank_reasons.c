/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/rank_reasons.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/pairs.h"
#include "model/stats/stats.h"
#include "report/rows/own_code.h"

#define USER_LEAST 4 /* part of the longest time that the user's function has, to be named in place of a library's */

const char *tpa_rank_why_name(enum tpa_rank_why why)
{
	static const char *const names[] = { [TPA_WHY_UNKNOWN] = "unknown",
					     [TPA_WHY_LINE] = "line",
					     [TPA_WHY_OP] = "op",
					     [TPA_WHY_NOT_RUNNING] = "not-running" };

	return names[why];
}

/* Something that ranks did, by a name that all of them have. */
struct thing {
	enum tpa_doing_kind kind;
	const char *op;	      /* OP: its name; WAIT: the function's */
	struct tpa_line line; /* location NULL: it is the function with all of its lines */
	const char *function; /* SAMPLE: key of the function that the line is in */
	bool is_user;	      /* the user wrote the line */
	double *ns;	      /* by rank */
};

struct search {
	const struct tpa_run *run;
	struct tpa_symbols *const *symbols;
	const struct tpa_doings *doings;
	const struct tpa_ranks *ranks;
	uint32_t rank; /* the late one */
	uint32_t only; /* the case; TPA_RANK_NONE: all of the rank */
	struct tpa_arena *names;
	struct tpa_pairs index; /* (name, kind) to index + 1 */
	struct thing *things;
	size_t count, room;
	double *others;
};

static const struct tpa_process *process_of(const struct search *search, uint32_t rank)
{
	return &search->run->processes[search->ranks->list[rank].process];
}

/* ---- lines ---- */

/* The user's line, or what is nearest to it. *is_user: the user wrote it. */
static struct tpa_line line_of(const struct search *search, uint32_t rank, uint32_t node, bool *is_user)
{
	const struct tpa_process *process = process_of(search, rank);
	struct tpa_line found = { 0 };
	struct tpa_stack stack = { 0 };
	const struct tpa_line *own;

	*is_user = false;
	if (!node)
		return found;
	tpa_stack_read(&stack, process->trace, search->symbols[search->ranks->list[rank].process], node);
	/* A line whose file is known says more than the vdso. */
	own = tpa_stack_user_line(&stack);
	*is_user = own != NULL;
	own = own ?: tpa_stack_own(&stack);
	if (own)
		found = *own;
	tpa_stack_free(&stack);
	return found;
}

static struct tpa_line user_line(const struct search *search, uint32_t rank, uint32_t node)
{
	bool is_user;

	return line_of(search, rank, node, &is_user);
}

/* ---- things ---- */

/* Only what the late rank did matters: it is added first. */
static struct thing *thing_of(struct search *search, const char *name, enum tpa_doing_kind kind, uint32_t rank)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&search->index, (uintptr_t)name, kind, &found);

	if (!found && rank == search->rank) {
		*TPA_APPEND(search->things, search->count, search->room) =
			(struct thing){ .kind = kind, .ns = tpa_zalloc(search->ranks->count, sizeof(double)) };
		*number = (uint32_t)search->count;
	}
	return *number ? &search->things[*number - 1] : NULL;
}

static void add_op(struct search *search, const struct tpa_doing *doing)
{
	const char *name = tpa_process_op_name(process_of(search, doing->rank), doing->what);
	struct thing *thing =
		name ? thing_of(search, tpa_arena_intern(search->names, name), TPA_DOING_OP, doing->rank) : NULL;

	if (!thing)
		return;
	thing->op = tpa_arena_intern(search->names, name);
	thing->ns[doing->rank] += (double)doing->ns;
}

static const char *key_of(struct search *search, const struct tpa_location *location, int line)
{
	char key[2000];

	snprintf(key, sizeof(key), "%d %s\n%s", line, location->function ? location->function : "?",
		 location->file ? tpa_file_name(location->file) : "?");
	return tpa_arena_intern(search->names, key);
}

static void add_sample(struct search *search, const struct tpa_doing *doing)
{
	bool is_user;
	struct tpa_line line = line_of(search, doing->rank, doing->what, &is_user);
	const char *function;
	struct thing *thing;

	if (!line.location)
		return;
	function = key_of(search, line.location, 0);
	thing = thing_of(search, function, TPA_DOING_SAMPLE, doing->rank);
	if (thing)
		thing->ns[doing->rank] += (double)doing->ns;
	/* A line 0 is not known, and the same as the function. */
	thing = thing_of(search, key_of(search, line.location, line.location->line ? line.location->line : -1),
			 TPA_DOING_SAMPLE, doing->rank);
	if (!thing)
		return;
	thing->ns[doing->rank] += (double)doing->ns;
	if (doing->rank == search->rank) {
		thing->line = line;
		thing->function = function;
		thing->is_user = is_user;
	}
}

static void add_wait(struct search *search, const struct tpa_doing *doing)
{
	struct tpa_line line = user_line(search, doing->rank, doing->what);
	const char *name = tpa_process_op_name(process_of(search, doing->rank), doing->op);
	struct thing *thing;
	char key[2300];

	if (!name || !line.location)
		return;
	snprintf(key, sizeof(key), "%s\n%s", key_of(search, line.location, line.location->line), name);
	thing = thing_of(search, tpa_arena_intern(search->names, key), TPA_DOING_WAIT, doing->rank);
	if (!thing)
		return;
	thing->ns[doing->rank] += (double)doing->ns;
	if (doing->rank == search->rank) {
		thing->op = tpa_arena_intern(search->names, name);
		thing->line = line;
	}
}

static bool is_asked(const struct search *search, uint32_t late)
{
	return search->only == TPA_RANK_NONE ? search->ranks->late[late].rank == search->rank : late == search->only;
}

static void add_doings(struct search *search, uint32_t rank)
{
	const struct tpa_doing_list *of = &search->doings->lists[rank];

	for (size_t i = 0; i < of->count; i++) {
		const struct tpa_doing *doing = &of->list[i];

		if (!is_asked(search, doing->late))
			continue;
		if (doing->kind == TPA_DOING_OP)
			add_op(search, doing);
		else if (doing->kind == TPA_DOING_WAIT)
			add_wait(search, doing);
		else
			add_sample(search, doing);
	}
}

static void add_all_doings(struct search *search)
{
	add_doings(search, search->rank);
	for (uint32_t i = 0; i < search->ranks->count; i++)
		if (i != search->rank)
			add_doings(search, i);
}

/* ---- what is more ---- */

/* By how much the late rank's number exceeds the others' median. */
static double excess(struct search *search, const double *numbers)
{
	size_t count = 0;

	for (size_t i = 0; i < search->ranks->count; i++)
		if (i != search->rank)
			search->others[count++] = numbers[i];
	return numbers[search->rank] - (count ? tpa_median(search->others, count) : 0);
}

/* The op, or the waiting, with the most more. */
static const struct thing *most_of(struct search *search, enum tpa_doing_kind kind, int64_t *most)
{
	const struct thing *found = NULL;

	for (size_t i = 0; i < search->count; i++) {
		const struct thing *thing = &search->things[i];
		double more = thing->kind == kind ? excess(search, thing->ns) : 0;

		if (more > (double)*most) {
			found = thing;
			*most = (int64_t)more;
		}
	}
	return found;
}

/* The function with the most more, of those that the user wrote or of all. The function first: its time may be in many lines. */
static const char *function_of_most(struct search *search, bool only_user, int64_t *most)
{
	const char *function = NULL;

	for (size_t i = 0; i < search->count; i++) {
		const struct thing *line = &search->things[i];
		uint32_t number = line->function && (line->is_user || !only_user)
					  ? tpa_pairs_find(&search->index, (uintptr_t)line->function, TPA_DOING_SAMPLE)
					  : 0;
		double more = number ? excess(search, search->things[number - 1].ns) : 0;

		if (more > (double)*most) {
			*most = (int64_t)more;
			function = line->function;
		}
	}
	return function;
}

/*
 * The user's function, unless it has little of it: threads of a library's pool, which do the work of a line, have no line of the user's
 * in their stacks.
 */
static const char *choose_function(struct search *search, int64_t *most)
{
	int64_t of_user = 0;
	const char *user = function_of_most(search, true, &of_user), *any = function_of_most(search, false, most);

	if (!user || of_user < *most / USER_LEAST)
		return any;
	*most = of_user;
	return user;
}

static void choose(struct search *search, struct tpa_rank_reason *reason)
{
	const struct thing *op = most_of(search, TPA_DOING_OP, &reason->more_op_ns),
			   *wait = most_of(search, TPA_DOING_WAIT, &reason->more_wait_ns);
	const char *function = choose_function(search, &reason->more_line_ns);
	double most = 0;

	reason->op = op ? op->op : NULL;
	if (wait) {
		reason->wait = wait->op;
		reason->wait_line = wait->line;
	}
	for (size_t i = 0; function && i < search->count; i++) {
		const struct thing *line = &search->things[i];
		double more = line->function == function ? excess(search, line->ns) : 0;

		if (more > most) {
			most = more;
			reason->line = line->line;
		}
	}
}

static void sum_windows(struct search *search, struct tpa_rank_reason *reason)
{
	size_t count = search->ranks->count;
	double *ns = tpa_zalloc(count, sizeof(*ns)), *idle = tpa_zalloc(count, sizeof(*idle)),
	       *faults = tpa_zalloc(count, sizeof(*faults));

	for (size_t c = 0; c < search->doings->case_count; c++)
		for (size_t r = 0; is_asked(search, (uint32_t)c) && r < count; r++) {
			const struct tpa_doing_sum *sum = &search->doings->sums[c * count + r];

			ns[r] += (double)sum->ns;
			idle[r] += (double)(sum->ns - sum->cpu_ns);
			faults[r] += sum->faults;
		}
	reason->more_ns = (int64_t)excess(search, ns);
	reason->more_not_running_ns = (int64_t)excess(search, idle);
	reason->more_faults = excess(search, faults);
	free(ns);
	free(idle);
	free(faults);
}

/* ---- where ---- */

static void find_calls(const struct search *search, const struct tpa_rank_late *late, struct tpa_rank_reason *reason)
{
	const struct tpa_ranks *ranks = search->ranks;
	const struct tpa_rank *rank = &ranks->list[late->rank];
	uint32_t op = ranks->groups[late->group].late, before = op;

	reason->to = user_line(search, late->rank, rank->said->calls[ranks->ops[op].call].stack);
	while (before > rank->first && (before == op || ranks->ops[before].kind != TPA_COMM_COLLECTIVE))
		before--;
	if (before != op)
		reason->from = user_line(search, late->rank, rank->said->calls[ranks->ops[before].call].stack);
}

/*
 * The larger of what it did and what it waited in. A rank that has more to do also lacks a processor more often, where there are too few.
 * So what it did is the reason, unless that is next to nothing.
 */
static void judge(struct tpa_rank_reason *reason)
{
	bool waits = tpa_rank_reason_waits(reason);

	if (reason->more_ns > 0) {
		if (tpa_rank_reason_has_line(reason) && !(waits && reason->more_wait_ns > reason->more_line_ns))
			reason->why = TPA_WHY_LINE;
		else if (waits || reason->more_not_running_ns > reason->more_ns / 2)
			reason->why = TPA_WHY_NOT_RUNNING;
		else if (reason->op && reason->more_op_ns > reason->more_ns / TPA_RANK_REASON_LEAST)
			reason->why = TPA_WHY_OP;
	}
	reason->frame = reason->why == TPA_WHY_LINE		      ? reason->line
			: reason->why == TPA_WHY_NOT_RUNNING && waits ? reason->wait_line
								      : reason->to;
}

static void search_one(struct search *search, const struct tpa_rank_late *late, struct tpa_rank_reason *reason)
{
	search->rank = late->rank;
	add_all_doings(search);
	sum_windows(search, reason);
	choose(search, reason);
	find_calls(search, late, reason);
	judge(reason);
	for (size_t i = 0; i < search->count; i++)
		free(search->things[i].ns);
	search->count = 0;
	tpa_pairs_free(&search->index);
}

/* The case of the rank with the most waiting: the list begins with the most. */
static const struct tpa_rank_late *first_case(const struct tpa_doings *doings, uint32_t rank)
{
	for (size_t i = 0; i < doings->case_count; i++)
		if (doings->ranks->late[i].rank == rank)
			return &doings->ranks->late[i];
	return NULL;
}

struct tpa_rank_reasons *tpa_rank_reasons_find(const struct tpa_run *run, struct tpa_symbols *const *symbols,
					       const struct tpa_doings *doings)
{
	const struct tpa_ranks *ranks = doings->ranks;
	struct tpa_rank_reasons *reasons = tpa_zalloc(1, sizeof(*reasons));
	struct search search = { .run = run, .symbols = symbols, .doings = doings, .ranks = ranks };

	reasons->names = search.names = tpa_arena_new();
	reasons->case_count = doings->case_count;
	reasons->cases = tpa_zalloc(doings->case_count + 1, sizeof(*reasons->cases));
	reasons->ranks = tpa_zalloc(ranks->count + 1, sizeof(*reasons->ranks));
	search.others = tpa_zalloc(ranks->count + 1, sizeof(double));
	for (size_t i = 0; i < doings->case_count; i++) {
		search.only = (uint32_t)i;
		search_one(&search, &ranks->late[i], &reasons->cases[i]);
	}
	search.only = TPA_RANK_NONE;
	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct tpa_rank_late *late = first_case(doings, i);

		if (late)
			search_one(&search, late, &reasons->ranks[i]);
	}
	free(search.things);
	free(search.others);
	return reasons;
}

void tpa_rank_reasons_free(struct tpa_rank_reasons *reasons)
{
	if (!reasons)
		return;
	tpa_arena_free(reasons->names);
	free(reasons->cases);
	free(reasons->ranks);
	free(reasons);
}
