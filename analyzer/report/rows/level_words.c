/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/level_words.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/rows/units.h"

struct tpa_whole tpa_level_factor(const struct tpa_process *process)
{
	const struct tpa_level_stats *levels = &process->levels;
	const struct tpa_whole *self = &process->op_whole.amounts[TPA_SHARE_SELF];
	double factor;

	if (!levels->ops_ns)
		return (struct tpa_whole){ NAN, NAN };
	factor = (double)levels->time_ns / (double)levels->ops_ns;
	return (struct tpa_whole){ factor, self->value > 0 ? self->half / self->value * factor : NAN };
}

struct tpa_interval tpa_whole_interval(const struct tpa_whole *whole, double recorded)
{
	double low = whole->value - whole->half;

	if (isnan(low))
		return (struct tpa_interval){ NAN, NAN };
	return (struct tpa_interval){ fmax(low, recorded), whole->value + whole->half };
}

/* The time in which all allocations were recorded. */
static uint64_t exact_ns(const struct tpa_level_stats *levels)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < levels->time_count; i++)
		ns += levels->times[i].mean ? 0 : levels->times[i].time;
	return ns;
}

/* "one per 512 KiB", "one per 512 KiB to 4.00 MiB": the times are in order of the mean. */
static struct tpa_text means_of(const struct tpa_level_stats *levels)
{
	uint64_t least = 0, most = UINT64_C(1) << levels->times[levels->time_count - 1].mean;

	for (size_t i = levels->time_count; i-- > 0;)
		if (levels->times[i].mean)
			least = UINT64_C(1) << levels->times[i].mean;
	if (least == most)
		return tpa_text_of("one per %s", tpa_bytes(least, false).text);
	return tpa_text_of("one per %s to %s", tpa_bytes(least, false).text, tpa_bytes(most, false).text);
}

static char *memory_words(const struct tpa_level_stats *levels)
{
	uint64_t exact = exact_ns(levels);

	if (!tpa_levels_sampled(levels))
		return tpa_strdup("all allocations were recorded all the time");
	if (!exact)
		return tpa_format("of the allocations, %s was recorded", means_of(levels).text);
	return tpa_format("all allocations were recorded for %s of %s, %s for the rest", tpa_time(exact).text,
			  tpa_time(levels->time_ns).text, means_of(levels).text);
}

static char *op_words(const struct tpa_level_stats *levels)
{
	if (levels->ops_ns == levels->time_ns)
		return tpa_strdup("calls of hooked functions all the time");
	if (!levels->ops_ns)
		return tpa_strdup("calls of hooked functions never");
	return tpa_format("calls of hooked functions for %s", tpa_time(levels->ops_ns).text);
}

/* What ops did in the whole run. */
static char *whole_words(const struct tpa_process *process)
{
	const struct tpa_level_stats *levels = &process->levels;
	struct tpa_whole factor = tpa_level_factor(process);
	struct tpa_text part = tpa_percent(levels->ops_ns, levels->time_ns);

	if (!levels->ops_ns || levels->ops_ns == levels->time_ns)
		return tpa_strdup("");
	if (isnan(factor.half))
		return tpa_format(
			". Calls and times of ops are those of the recorded %s; what they are in the whole run "
			"is not known",
			part.text);
	return tpa_format(". Calls and times of ops are those of the recorded %s, x %.3g +- %.2g for the whole run",
			  part.text, factor.value, factor.half);
}

char *tpa_level_words(const struct tpa_process *process)
{
	const struct tpa_level_stats *levels = &process->levels;
	double percent = (double)process->trace->header->max_overhead / 100;
	char *memory, *ops, *whole, *words;

	if (!levels->time_count)
		return NULL;
	if (!tpa_levels_sampled(levels) && levels->ops_ns == levels->time_ns)
		return tpa_format("recording was limited to %g%% of the CPU time, and could record everything",
				  percent);
	memory = memory_words(levels);
	ops = op_words(levels);
	whole = whole_words(process);
	words = tpa_format("recording was limited to %g%% of the CPU time: %s; %s%s%s", percent, memory, ops,
			   process->estimated ? ". Figures of memory with +- are estimates" : "", whole);
	free(memory);
	free(ops);
	free(whole);
	return words;
}
