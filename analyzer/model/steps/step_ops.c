/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps/step_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "trace/number_archive.h"

void tpa_step_ops_free(struct tpa_step_ops *ops)
{
	for (uint32_t i = 0; i < ops->slow_count; i++)
		free(ops->slowest[i].ops);
	free(ops->now);
	free(ops->sums);
	free(ops->touched);
}

static void begin(struct tpa_step_ops *ops, uint32_t count)
{
	ops->now = tpa_zalloc(count, sizeof(*ops->now));
	ops->sums = tpa_zalloc(count, sizeof(*ops->sums));
	ops->touched = tpa_zalloc(count, sizeof(*ops->touched));
	ops->count = count;
}

void tpa_step_ops_add(struct tpa_step_ops *ops, uint32_t count, uint32_t op, uint64_t self_ns)
{
	if (!ops->now)
		begin(ops, count);
	if (!ops->now[op] && self_ns)
		ops->touched[ops->touched_count++] = op;
	ops->now[op] += self_ns;
}

static void forget(struct tpa_step_ops *ops, bool sum)
{
	for (uint32_t i = 0; i < ops->touched_count; i++) {
		uint32_t op = ops->touched[i];

		if (sum)
			ops->sums[op] += ops->now[op];
		ops->now[op] = 0;
	}
	ops->touched_count = 0;
}

void tpa_step_ops_start(struct tpa_step_ops *ops, const struct tpa_step_totals *totals)
{
	forget(ops, false);
	ops->begin = *totals;
}

/* Returns the place among the slowest for a step that took `ns`; NULL: it is not one of them. */
static struct tpa_slow_step *slow_place(struct tpa_step_ops *ops, uint64_t ns)
{
	struct tpa_slow_step *least = &ops->slowest[0];

	if (ops->slow_count < TPA_STEP_SLOWEST)
		return &ops->slowest[ops->slow_count++];
	for (uint32_t i = 1; i < TPA_STEP_SLOWEST; i++)
		if (ops->slowest[i].in.ns < least->in.ns)
			least = &ops->slowest[i];
	return ns > least->in.ns ? least : NULL;
}

static void keep(struct tpa_step_ops *ops, uint64_t step, const struct tpa_step_in *in)
{
	struct tpa_slow_step *place = slow_place(ops, in->ns);

	if (!place)
		return;
	place->step = step;
	place->in = *in;
	if (!ops->now)
		return;
	if (!place->ops)
		place->ops = tpa_zalloc(ops->count, sizeof(*place->ops));
	memcpy(place->ops, ops->now, ops->count * sizeof(*place->ops));
}

/* Were the kernel's counts read near the step's begin and end, together within a tenth of its duration? */
static bool read_nearby(const struct tpa_step_totals *begin, const struct tpa_step_totals *end, uint64_t ns)
{
	return begin->usage_age_ns <= ns / 10 && end->usage_age_ns <= ns / 10 - begin->usage_age_ns;
}

static struct tpa_step_in between(const struct tpa_step_totals *begin, const struct tpa_step_totals *end, uint64_t ns)
{
	struct tpa_step_in in = { .ns = ns,
				  .allocations = end->allocations - begin->allocations,
				  .allocated_bytes = end->allocated_bytes - begin->allocated_bytes,
				  .live_bytes = end->live_bytes - begin->live_bytes,
				  .cpu_periods = end->cpu_periods - begin->cpu_periods,
				  .usage_known = read_nearby(begin, end, ns) };

	in.own_known = in.usage_known && begin->thread == end->thread;
	if (in.usage_known)
		in.usage = tpa_usage_less(&end->usage, &begin->usage);
	return in;
}

static void add(struct tpa_step_ops *ops, const struct tpa_step_in *in)
{
	struct tpa_usage usage = in->usage;

	ops->steps++;
	ops->sum.ns += in->ns;
	ops->sum.allocations += in->allocations;
	ops->sum.allocated_bytes += in->allocated_bytes;
	ops->sum.live_bytes += in->live_bytes;
	ops->sum.cpu_periods += in->cpu_periods;
	if (!in->own_known)
		usage.own_cpu_ns = 0;
	else
		ops->own_ns += in->ns;
	tpa_usage_add(&ops->sum.usage, &usage);
	ops->usage_steps += in->usage_known;
	ops->own_steps += in->own_known;
}

void tpa_step_ops_end(struct tpa_step_ops *ops, uint64_t step, uint64_t ns, const struct tpa_step_totals *totals)
{
	const struct tpa_step_in in = between(&ops->begin, totals, ns);

	ops->begin = *totals;
	if (step > 1) {
		keep(ops, step, &in);
		add(ops, &in);
	}
	forget(ops, step > 1);
}

/* ---- saving and loading ---- */

/* Saves or loads times by op, as pairs of an op and its time. */
static void archive_times(struct tpa_archive *archive, uint64_t *times, uint32_t count)
{
	uint32_t some = 0, op;
	uint64_t time;

	for (uint32_t i = 0; !archive->loading && i < count; i++)
		some += times[i] != 0;
	TPA_ARCHIVE(archive, some);
	for (uint32_t i = 0; !archive->loading && i < count; i++) {
		op = i;
		if (!times[i])
			continue;
		tpa_archive_op(archive, &op);
		TPA_ARCHIVE(archive, times[i]);
	}
	while (archive->loading && some-- && !archive->failed) {
		tpa_archive_op(archive, &op);
		TPA_ARCHIVE(archive, time);
		if (tpa_archive_check(archive, op < count, "the time of a step is of no op"))
			times[op] = time;
	}
}

static void archive_slow(struct tpa_archive *archive, struct tpa_step_ops *ops, struct tpa_slow_step *slow)
{
	bool any = slow->ops != NULL;

	tpa_archive_check(archive, !any || ops->now, "a slow step has ops where there are none");
	if (archive->loading)
		slow->ops = any && !archive->failed ? tpa_zalloc(ops->count, sizeof(*slow->ops)) : NULL;
	if (slow->ops)
		archive_times(archive, slow->ops, ops->count);
}

/* Restores the list of the ops whose time in `now` is not 0. */
static void find_touched(struct tpa_step_ops *ops)
{
	for (uint32_t i = 0; i < ops->count; i++)
		if (ops->now[i])
			ops->touched[ops->touched_count++] = i;
}

void tpa_step_ops_archive(struct tpa_archive *archive, struct tpa_step_ops *ops)
{
	const struct tpa_archive_numbers *numbers = archive->user;
	bool any = ops->now != NULL;

	if (archive->loading) {
		ops->now = ops->sums = NULL;
		ops->touched = NULL;
		ops->touched_count = 0;
		if (any)
			begin(ops, numbers->op_count);
	}
	if (any && !archive->failed) {
		archive_times(archive, ops->now, ops->count);
		archive_times(archive, ops->sums, ops->count);
	}
	if (archive->loading && any && !archive->failed)
		find_touched(ops);
	if (!tpa_archive_check(archive, ops->slow_count <= TPA_STEP_SLOWEST, "too many slow steps"))
		ops->slow_count = 0;
	for (uint32_t i = 0; i < ops->slow_count; i++)
		archive_slow(archive, ops, &ops->slowest[i]);
	for (uint32_t i = ops->slow_count; archive->loading && i < TPA_STEP_SLOWEST; i++)
		ops->slowest[i].ops = NULL;
}

/* ---- the result ---- */

static int by_time(const void *left, const void *right)
{
	const struct tpa_step_op *a = left, *b = right;

	return TPA_DOWN(a->self_ns, b->self_ns) ?: TPA_UP(a->op, b->op);
}

static void list_ops(const struct tpa_step_ops *ops, struct tpa_step_stats *stats)
{
	stats->ops = tpa_zalloc(ops->count, sizeof(*stats->ops));
	for (uint32_t i = 0; ops->steps && i < ops->count; i++)
		if (ops->sums[i])
			stats->ops[stats->op_count++] = (struct tpa_step_op){ i, ops->sums[i] };
	qsort(stats->ops, stats->op_count, sizeof(*stats->ops), by_time);
}

/* The difference from the average step. Computed modulo 2^64, because a damaged trace may have any numbers. */
static int64_t more(uint64_t value, uint64_t sum, uint64_t steps)
{
	return (int64_t)(value - sum / steps);
}

/* Finds the ops whose time exceeds their average in a step most. */
static void name_ops(const struct tpa_step_ops *ops, const struct tpa_slow_step *slow, struct tpa_step_outlier *outlier)
{
	uint64_t in_ops = 0, usual = 0;

	for (uint32_t i = 0; slow->ops && i < ops->count; i++) {
		struct tpa_step_difference difference = { i, more(slow->ops[i], ops->sums[i], ops->steps) };

		in_ops += slow->ops[i];
		usual += ops->sums[i];
		for (uint32_t k = 0; k < TPA_STEP_DIFFERENCES && difference.ns > 0; k++)
			if (difference.ns > outlier->ops[k].ns) {
				struct tpa_step_difference other = outlier->ops[k];

				outlier->ops[k] = difference;
				difference = other;
			}
	}
	outlier->outside_ns = more(slow->in.ns > in_ops ? slow->in.ns - in_ops : 0,
				   ops->sum.ns > usual ? ops->sum.ns - usual : 0, ops->steps);
}

/* Like more(), for a sum of signed values that is kept modulo 2^64. */
static int64_t more_signed(uint64_t value, uint64_t sum, uint64_t steps)
{
	return (int64_t)(value - (uint64_t)((int64_t)sum / (int64_t)steps));
}

static void compare_usage(const struct tpa_step_ops *ops, const struct tpa_step_in *in,
			  struct tpa_step_outlier *outlier)
{
	const struct tpa_usage *usage = &in->usage, *sum = &ops->sum.usage;
	uint64_t steps = ops->usage_steps, own = ops->own_steps;
	int64_t running;

	outlier->usage_known = in->usage_known && steps;
	outlier->own_known = in->own_known && own == steps && own;
	if (!outlier->usage_known)
		return;
	outlier->minor_faults = more(usage->minor_faults, sum->minor_faults, steps);
	outlier->major_faults = more(usage->major_faults, sum->major_faults, steps);
	outlier->waits = more(usage->waits, sum->waits, steps);
	outlier->preemptions = more(usage->preemptions, sum->preemptions, steps);
	outlier->cpu_ns = more(usage->cpu_ns, sum->cpu_ns, steps);
	if (!outlier->own_known)
		return;
	running = more(usage->own_cpu_ns, sum->own_cpu_ns, own);
	outlier->others_cpu_ns = (int64_t)((uint64_t)outlier->cpu_ns - (uint64_t)running);
	outlier->waited_ns = (int64_t)((uint64_t)more(in->ns, ops->own_ns, own) - (uint64_t)running);
}

static int by_length(const void *left, const void *right)
{
	const struct tpa_step_outlier *a = left, *b = right;

	return TPA_DOWN(a->ns, b->ns) ?: TPA_UP(a->step, b->step);
}

static void scale(uint64_t *time, double tick_ns)
{
	*time = tpa_round((double)*time * tick_ns);
}

/* Converts ticks to nanoseconds. The kernel's counts are in nanoseconds already. */
static void scale_all(struct tpa_step_ops *ops, double tick_ns)
{
	scale(&ops->sum.ns, tick_ns);
	scale(&ops->own_ns, tick_ns);
	for (uint32_t i = 0; i < ops->count; i++)
		scale(&ops->sums[i], tick_ns);
	for (uint32_t k = 0; k < ops->slow_count; k++) {
		scale(&ops->slowest[k].in.ns, tick_ns);
		for (uint32_t i = 0; ops->slowest[k].ops && i < ops->count; i++)
			scale(&ops->slowest[k].ops[i], tick_ns);
	}
}

void tpa_step_ops_result(struct tpa_step_ops *ops, uint64_t fence, double tick_ns, struct tpa_step_stats *stats)
{
	bool slow[TPA_STEP_SLOWEST] = { false };

	for (uint32_t i = 0; i < ops->slow_count; i++)
		slow[i] = ops->slowest[i].in.ns > fence;
	scale_all(ops, tick_ns);
	stats->outliers = tpa_zalloc(TPA_STEP_SLOWEST, sizeof(*stats->outliers));
	for (uint32_t i = 0; i < ops->slow_count; i++) {
		const struct tpa_slow_step *step = &ops->slowest[i];
		struct tpa_step_outlier outlier = { .step = step->step, .ns = step->in.ns };

		if (!slow[i])
			continue;
		outlier.allocated_bytes = more(step->in.allocated_bytes, ops->sum.allocated_bytes, ops->steps);
		outlier.allocations = more(step->in.allocations, ops->sum.allocations, ops->steps);
		outlier.cpu_periods = more(step->in.cpu_periods, ops->sum.cpu_periods, ops->steps);
		outlier.live_bytes = more_signed(step->in.live_bytes, ops->sum.live_bytes, ops->steps);
		compare_usage(ops, &step->in, &outlier);
		name_ops(ops, step, &outlier);
		stats->outliers[stats->outlier_count++] = outlier;
	}
	qsort(stats->outliers, stats->outlier_count, sizeof(*stats->outliers), by_length);
	stats->mean_cpu_periods = ops->steps ? (double)ops->sum.cpu_periods / (double)ops->steps : 0;
	stats->summed = ops->steps;
	list_ops(ops, stats);
}
