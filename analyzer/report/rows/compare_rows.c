/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/estimate.h"
#include "report/rows/stack.h"

static const struct tpa_trace *trace_of(const struct tpa_variants *variants, size_t number)
{
	return variants->list[number].runs[0]->processes[0].trace;
}

/*
 * Returns the length of `file` without ".PID" or ".PID-N" at its end, if PID is this process's; 0 if nothing else is
 * left.
 */
static size_t without_pid(const struct tpa_trace *trace, const char *file, size_t length)
{
	size_t end = length, digits;
	char pid[24];

	while (end > 0 && file[end - 1] >= '0' && file[end - 1] <= '9')
		end--;
	if (end == 0 || end == length || file[end - 1] != '-')
		end = length;
	else
		end--;
	digits = (size_t)snprintf(pid, sizeof(pid), ".%ju", (uintmax_t)trace->header->pid);
	if (end == digits - 1 && memcmp(file, pid + 1, end) == 0)
		return 0;
	return end > digits && memcmp(file + end - digits, pid, digits) == 0 ? end - digits : length;
}

static size_t stem_of(const struct tpa_trace *trace, const char **file)
{
	size_t length;

	*file = tpa_file_name(trace->file);
	length = strlen(*file);
	if (length > 4 && strcmp(*file + length - 4, ".bin") == 0)
		length -= 4;
	return without_pid(trace, *file, length);
}

static bool same_stem(const struct tpa_trace *a, const struct tpa_trace *b)
{
	const char *of_a, *of_b;
	size_t length = stem_of(a, &of_a);

	return stem_of(b, &of_b) == length && memcmp(of_a, of_b, length) == 0;
}

/* Does the trace have the argument? The value of an option counts only if it follows the same option. */
static bool has_argument(const struct tpa_trace *trace, const char *argument, const char *before)
{
	bool is_value = before[0] == '-' && argument[0] != '-';

	for (size_t i = 1; i < trace->arg_count; i++)
		if (strcmp(trace->args[i], argument) == 0 && (!is_value || strcmp(trace->args[i - 1], before) == 0))
			return true;
	return false;
}

/* Do all variants with the same stem have this argument? */
static bool is_common(const struct tpa_variants *variants, size_t number, size_t argument)
{
	const struct tpa_trace *trace = trace_of(variants, number);

	for (size_t i = 0; i < variants->count; i++)
		if (same_stem(trace, trace_of(variants, i)) &&
		    !has_argument(trace_of(variants, i), trace->args[argument], trace->args[argument - 1]))
			return false;
	return true;
}

static bool is_alone(const struct tpa_variants *variants, size_t number)
{
	for (size_t i = 0; i < variants->count; i++)
		if (i != number && same_stem(trace_of(variants, number), trace_of(variants, i)))
			return false;
	return true;
}

void tpa_compare_label(const struct tpa_variants *variants, size_t number, char *label)
{
	const struct tpa_trace *trace = trace_of(variants, number);
	const char *file;
	size_t length = stem_of(trace, &file), room = TPA_LABEL_MAX;

	if ((length && is_alone(variants, number)) || !trace->arg_count) {
		snprintf(label, room, "%.*s", (int)length, file);
	} else {
		snprintf(label, room, "%s", tpa_file_name(trace->args[0]));
		for (size_t i = 1; i < trace->arg_count && !is_alone(variants, number); i++) {
			size_t used = strlen(label);

			if (!is_common(variants, number, i))
				snprintf(label + used, room - used, " %s", tpa_file_name(trace->args[i]));
		}
	}
	for (char *c = label; *c; c++)
		if (*c == '|' || (unsigned char)*c < ' ')
			*c = '?';
}

double tpa_compare_gflops(const struct tpa_variant *variant)
{
	return variant->step_ns > 0 ? variant->flop_per_step / variant->step_ns : 0;
}

double tpa_compare_utilisation(const struct tpa_machine *machine, const struct tpa_variant *variant)
{
	struct tpa_utilisation use;

	if (!machine)
		return -1;
	use = tpa_roof_utilisation(machine, tpa_stepping(variant->runs[0]));
	return use.known ? variant->matrix_flop_per_step / variant->step_ns / use.peak : -1;
}

struct tpa_compare_op *tpa_compare_ops(const struct tpa_variants *variants, size_t *count)
{
	size_t room = 0;
	struct tpa_compare_op *list;

	for (size_t i = 0; i < variants->count; i++)
		room += variants->list[i].op_count;
	list = tpa_zalloc(room, sizeof(*list));
	*count = 0;
	for (size_t i = 0; i < variants->count; i++) {
		for (size_t k = 0; k < variants->list[i].op_count; k++) {
			const struct tpa_variant_op *op = &variants->list[i].ops[k];
			bool seen = false;

			for (size_t before = 0; before < i && !seen; before++)
				seen = tpa_variant_op(&variants->list[before], op->sum.name, op->sum.category) != NULL;
			if (!seen)
				list[(*count)++].op = op;
		}
	}
	for (size_t n = 0; n < *count; n++) {
		for (size_t i = 0; i < variants->count; i++) {
			const struct tpa_variant_op *op =
				tpa_variant_op(&variants->list[i], list[n].op->sum.name, list[n].op->sum.category);

			list[n].share = op && op->share > list[n].share ? op->share : list[n].share;
			list[n].peak = op && op->peak_bytes > list[n].peak ? op->peak_bytes : list[n].peak;
		}
	}
	return list;
}

int tpa_compare_by_share(const void *left, const void *right)
{
	const struct tpa_compare_op *a = left, *b = right;

	return TPA_DOWN(a->share, b->share);
}

int tpa_compare_by_peak(const void *left, const void *right)
{
	const struct tpa_compare_op *a = left, *b = right;

	return TPA_DOWN(a->peak, b->peak);
}

struct tpa_roof_place tpa_compare_place(const struct tpa_machine *machine, const struct tpa_variant *variant,
					const struct tpa_variant_op *op)
{
	if (!machine || !op->sum.category)
		return (struct tpa_roof_place){ .op = &op->sum };
	return tpa_roof_place(machine, tpa_roof_cores(machine, tpa_stepping(variant->runs[0])), &op->sum);
}

const struct tpa_variant_op *tpa_compare_op_in(const struct tpa_variant *variant, const struct tpa_compare_op *row)
{
	return tpa_variant_op(variant, row->op->sum.name, row->op->sum.category);
}

/* ---- columns ---- */

#define VARIANT(member) TPA_MEMBER(struct tpa_variant, member)

TPA_GETTER(step_interval, struct tpa_variant)
{
	return (struct tpa_figure){ .interval = row->step_interval, .unknown = isnan(row->step_interval.low) };
}

TPA_GETTER(items_rate, struct tpa_variant)
{
	double rate = row->step_ns > 0 ? row->items_per_step / row->step_ns * 1e9 : 0;

	return (struct tpa_figure){ .real = rate, .none = !(rate > 0) };
}

TPA_GETTER(gflops, struct tpa_variant)
{
	double rate = tpa_compare_gflops(row);

	return (struct tpa_figure){ .real = rate, .none = !(rate > 0) };
}

TPA_GETTER(utilisation, struct tpa_variant)
{
	double share = tpa_compare_utilisation(context->more, row);

	return (struct tpa_figure){ .real = share, .unknown = share < 0 };
}

struct tpa_unseen tpa_compare_unseen(const struct tpa_variant *variant)
{
	struct tpa_unseen unseen = { 0, 0 };

	for (size_t i = 0; i < variant->run_count; i++)
		unseen = tpa_unseen_larger(unseen, tpa_run_unseen(variant->runs[i]));
	return unseen;
}

/* A peak of 0 bytes was not recorded. */
TPA_GETTER(peak, struct tpa_variant)
{
	return (struct tpa_figure){ .number = (int64_t)row->peak_bytes,
				    .none = !row->peak_bytes,
				    .about = row->peak_bytes && tpa_compare_unseen(row).bytes > 0 };
}

const struct tpa_column tpa_variant_columns[] = {
	{ "runs", "runs", TPA_UNIT_COUNT, VARIANT(run_count) },
	{ "parameters", "parameters", TPA_UNIT_COUNT, VARIANT(parameters), .known_above_0 = true },
	{ "step_ns", "step", TPA_UNIT_MEAN_NS, VARIANT(step_ns), .known_above_0 = true },
	{ "step_ci95_ns", "  95% of the mean, +-", TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(step_interval) },
	{ "items_per_step", NULL, TPA_UNIT_REAL, VARIANT(items_per_step) },
	{ "items_per_s", "items a second", TPA_UNIT_RATE, TPA_COMPUTED(items_rate), .no_json = true },
	{ "flop_per_step", "FLOP a step", TPA_UNIT_REAL, VARIANT(flop_per_step), .no_zero = true },
	{ "gflops", "GFLOP/s", TPA_UNIT_REAL, TPA_COMPUTED(gflops) },
	{ "utilisation", "of what the cores can do", TPA_UNIT_SHARE, TPA_COMPUTED(utilisation) },
	{ "peak_bytes", "memory at the peak", TPA_UNIT_BYTES, TPA_COMPUTED(peak) },
	{ "rss_peak", "RSS at most", TPA_UNIT_BYTES, VARIANT(rss_peak), .no_zero = true },
	{ .key = NULL },
};
