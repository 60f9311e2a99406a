/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"

struct sums {
	struct tpa_ranks *ranks;
	tpa_rank_op_name *name;
	void *context;
	size_t function_room, late_room;
	struct tpa_pairs late; /* (rank, step) to an index + 1 */
	double *errors;	       /* by rank, of caused_ns */
};

/* ---- by rank, and by rank and step ---- */

static double clock_error(const struct tpa_ranks *ranks, const struct tpa_rank_op *a, const struct tpa_rank_op *b)
{
	uint32_t one = ranks->list[a->rank].host, other = ranks->list[b->rank].host;

	return one == other ? 0 : ranks->hosts[one].error_ns + ranks->hosts[other].error_ns;
}

static void add_op(struct sums *sums, const struct tpa_rank_op *op)
{
	struct tpa_ranks *ranks = sums->ranks;
	struct tpa_rank *rank = &ranks->list[op->rank];
	const struct tpa_rank_op *cause;

	rank->wait_ns += op->wait_ns;
	rank->transfer_ns += tpa_rank_op_transfer(op);
	ranks->wait_ns += op->wait_ns;
	ranks->transfer_ns += tpa_rank_op_transfer(op);
	if (op->cause == TPA_RANK_NONE)
		return;
	cause = &ranks->ops[op->cause];
	ranks->list[cause->rank].caused_ns += op->wait_ns;
	sums->errors[cause->rank] += clock_error(ranks, op, cause);
}

static void add_late(struct sums *sums, const struct tpa_rank_match *group, uint32_t index)
{
	struct tpa_ranks *ranks = sums->ranks;
	const struct tpa_rank_op *op = &ranks->ops[group->late];
	struct tpa_rank *rank = &ranks->list[op->rank];
	struct tpa_rank_late *late;
	bool found;
	uint32_t *number = tpa_pairs_at(&sums->late, op->rank, op->step, &found);

	rank->late++;
	rank->gain_ns += group->gain_ns;
	if (!found) {
		late = TPA_APPEND(ranks->late, ranks->late_count, sums->late_room);
		*late = (struct tpa_rank_late){ .rank = op->rank, .step = op->step, .group = index };
		*number = (uint32_t)ranks->late_count;
	}
	late = &ranks->late[*number - 1];
	late->groups++;
	late->caused_ns += group->late_wait_ns;
	late->gain_ns += group->gain_ns;
	if (group->late_wait_ns > ranks->groups[late->group].late_wait_ns)
		late->group = index;
}

/* ---- by function ---- */

static const char *name_of(const struct sums *sums, const struct tpa_rank_op *op)
{
	const struct tpa_rank *rank = &sums->ranks->list[op->rank];
	const char *name = sums->name ? sums->name(sums->context, rank->process, rank->said->calls[op->call].op) : NULL;

	return name ? name : "?";
}

static struct tpa_rank_function *function_of(struct sums *sums, const char *name)
{
	struct tpa_ranks *ranks = sums->ranks;
	struct tpa_rank_function *function;

	for (size_t i = 0; i < ranks->function_count; i++)
		if (strcmp(ranks->functions[i].name, name) == 0)
			return &ranks->functions[i];
	function = TPA_APPEND(ranks->functions, ranks->function_count, sums->function_room);
	*function = (struct tpa_rank_function){ .name = name };
	return function;
}

static uint64_t bytes_of(const struct tpa_rank_op *op)
{
	uint64_t sent = op->sent == TPA_BYTES_UNKNOWN ? 0 : op->sent;

	return sent < UINT64_MAX >> 20 ? sent : 0; /* damaged */
}

static void add_to_function(struct sums *sums, const struct tpa_rank_match *group)
{
	const struct tpa_ranks *ranks = sums->ranks;
	struct tpa_rank_function *function =
		function_of(sums, name_of(sums, &ranks->ops[ranks->members[group->first]]));

	function->groups++;
	function->calls += group->count;
	function->wait_ns += group->wait_ns;
	function->transfer_ns += group->transfer_ns;
	for (uint32_t i = 0; i < group->count; i++)
		function->bytes += bytes_of(&ranks->ops[ranks->members[group->first + i]]);
	if (group->wait_ns > function->pattern_ns) {
		function->pattern_ns = group->wait_ns;
		function->pattern = group->pattern;
	}
}

/* ---- by communicator ---- */

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static void add_to_communicator(struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	struct tpa_rank_communicator *communicator = &ranks->communicators[group->communicator];

	communicator->wait_ns += group->wait_ns;
	communicator->transfer_ns += group->transfer_ns;
	communicator->messages += group->message;
	communicator->calls += group->message ? 0 : group->count;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[ranks->members[group->first + i]];

		if (group->message && op->kind == TPA_COMM_RECEIVE)
			continue;
		communicator->bytes += bytes_of(op);
		communicator->sizes[size_class(bytes_of(op))] += op->sent != TPA_BYTES_UNKNOWN;
	}
}

static int compare_functions(const void *left, const void *right)
{
	const struct tpa_rank_function *a = left, *b = right;

	return TPA_DOWN(a->wait_ns, b->wait_ns) ?: TPA_DOWN(a->transfer_ns, b->transfer_ns) ?: strcmp(a->name, b->name);
}

static int compare_late(const void *left, const void *right)
{
	const struct tpa_rank_late *a = left, *b = right;

	return TPA_DOWN(a->caused_ns, b->caused_ns) ?: TPA_UP(a->rank, b->rank) ?: TPA_UP(a->step, b->step);
}

static void sort(struct tpa_ranks *ranks)
{
	if (ranks->function_count)
		qsort(ranks->functions, ranks->function_count, sizeof(*ranks->functions), compare_functions);
	if (ranks->late_count)
		qsort(ranks->late, ranks->late_count, sizeof(*ranks->late), compare_late);
}

void tpa_ranks_sum(struct tpa_ranks *ranks, tpa_rank_op_name *name, void *context)
{
	struct sums sums = {
		.ranks = ranks, .name = name, .context = context, .errors = tpa_zalloc(ranks->count, sizeof(double))
	};

	for (size_t i = 0; i < ranks->op_count; i++)
		add_op(&sums, &ranks->ops[i]);
	for (size_t i = 0; i < ranks->count; i++)
		ranks->list[i].caused_error_ns = isnan(sums.errors[i]) ? -1 : llround(sums.errors[i]);
	for (size_t i = 0; i < ranks->group_count; i++) {
		add_to_communicator(ranks, &ranks->groups[i]);
		if (!ranks->groups[i].message)
			add_to_function(&sums, &ranks->groups[i]);
		if (ranks->groups[i].late != TPA_RANK_NONE)
			add_late(&sums, &ranks->groups[i], (uint32_t)i);
	}
	sort(ranks);
	tpa_pairs_free(&sums.late);
	free(sums.errors);
}
