/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/stats/rank.h"
#include "report/text/coverage.h"
#include "report/rows/diff.h"
#include "report/rows/estimate.h"
#include "report/text/text.h"

#define LEVEL 0.05

void tpa_verdicts_init(struct tpa_verdicts *verdicts, const struct tpa_rules *rules)
{
	memset(verdicts, 0, sizeof(*verdicts));
	verdicts->list = tpa_zalloc(rules->count, sizeof(*verdicts->list));
	for (size_t i = 0; i < rules->count; i++)
		verdicts->list[verdicts->count++].rule = &rules->list[i];
}

void tpa_verdicts_free(struct tpa_verdicts *verdicts)
{
	tpa_diff_times_free(&verdicts->times);
	tpa_notes_free(&verdicts->notes);
	free(verdicts->list);
	memset(verdicts, 0, sizeof(*verdicts));
}

static bool is_timed(const struct tpa_rule *rule)
{
	return rule->metric == TPA_METRIC_STEP || rule->metric == TPA_METRIC_OP;
}

static const struct tpa_diff_amount no_amount = { NAN, 0, 0, 0 };

/* Why a run's growth is unknown, or "". A limit names its unit; a comparison with the baseline uses the runs' unit. */
static void doubt_growth(const struct tpa_process *process, const struct tpa_rule *rule, char *text, size_t size)
{
	const struct tpa_growth_stats *growth = &process->growth;

	text[0] = '\0';
	if (!rule->regress && growth->seconds && !rule->seconds && process->steps.count)
		snprintf(text, size, "a run has %s steps, and growth by steps wants %u or more",
			 tpa_count(process->steps.count).text, TPA_TREND_LEAST);
	else if (!rule->regress && growth->seconds && !rule->seconds)
		snprintf(text, size,
			 "a run has no steps (tprof_step() and TPROF_STEP mark them): say /s for growth by time");
	else if (!rule->regress && !growth->seconds && rule->seconds)
		snprintf(text, size, "a run has steps: say /step for growth by steps");
	else if (growth->looks < TPA_TREND_LEAST)
		snprintf(text, size, "a run is too short");
	else if (!tpa_trend_can_tell(growth->looks, growth->varying))
		snprintf(text, size,
			 "a run's %zu looks can't tell growth from chance among the %s stacks that changed: more %ss "
			 "are needed",
			 growth->looks, tpa_count(growth->varying).text, growth->seconds ? "second" : "step");
}

/*
 * Growth of all leaks. The baseline's includes possible leaks, else leaks that only the next run proves would look
 * new. A few sampled hits prove nothing in either run, so sampled runs compare everything that changed.
 */
static struct tpa_diff_amount growth_of(const struct tpa_process *process, struct tpa_verdict_row *row, int side)
{
	const struct tpa_growth_stats *growth = &process->growth;
	bool compared = row->rule->regress, all = compared && process->estimated;
	const struct tpa_growth_site *list = all ? growth->rates : growth->heap.list;
	size_t count = growth->heap.leaks + (compared && side == 0 ? growth->heap.rising : 0);
	struct tpa_diff_amount sum = { 0, 0, 0, 0 };
	char doubt[200];

	doubt_growth(process, row->rule, doubt, sizeof(doubt));
	if (doubt[0]) {
		snprintf(row->message, sizeof(row->message), "can't be checked: %s", doubt);
		return no_amount;
	}
	for (size_t i = 0; i < (all ? growth->rate_count : count); i++) {
		struct tpa_diff_amount rate = tpa_diff_rate(list[i].rate, list[i].low, list[i].high, 0);

		sum.value += rate.value;
		sum.variance += rate.variance;
	}
	sum.variance += all ? pow(tpa_diff_unseen_rate(process), 2) : 0;
	*(growth->seconds ? &row->by_second : &row->by_step) = true;
	return sum;
}

/*
 * Are allocations of a process missing? Then a value of 0 means nothing; the row's message names the process and the
 * reason.
 */
static bool is_unseen(const struct tpa_run *run, struct tpa_verdict_row *row)
{
	for (size_t i = 0; !row->unseen && i < run->process_count; i++) {
		const char *why = tpa_heap_unseen_in(run, &run->processes[i]);

		row->unseen = why != NULL;
		if (why)
			snprintf(row->message, sizeof(row->message),
				 "can't be checked: what was allocated is not in %.200s: %s",
				 run->processes[i].trace->file, why);
	}
	return row->unseen;
}

/* Resident memory is sampled; a total of 0 means that there are no samples. */
static struct tpa_diff_amount rss_of(const struct tpa_run *run, struct tpa_verdict_row *row)
{
	struct tpa_diff_amount amount = tpa_diff_total_of(run, TPA_DIFF_RSS);

	if (amount.value > 0)
		return amount;
	row->unseen = true;
	snprintf(row->message, sizeof(row->message), "can't be checked: no resident memory was sampled in %.200s",
		 run->processes[0].trace->file);
	return no_amount;
}

/* A run's value, or NAN if it has none; for memory, the row's message says why. */
static struct tpa_diff_amount amount_of(const struct tpa_run *run, struct tpa_verdict_row *row, int side)
{
	if (!is_timed(row->rule) && row->rule->metric != TPA_METRIC_RSS && is_unseen(run, row))
		return no_amount;
	switch (row->rule->metric) {
	case TPA_METRIC_PEAK:
		return tpa_diff_total_of(run, TPA_DIFF_PEAK);
	case TPA_METRIC_UNFREED:
		return tpa_diff_total_of(run, TPA_DIFF_UNFREED);
	case TPA_METRIC_RSS:
		return rss_of(run, row);
	case TPA_METRIC_ALLOCATIONS:
		return tpa_diff_total_of(run, TPA_DIFF_ALLOCATIONS);
	case TPA_METRIC_GROWTH:
		return growth_of(tpa_stepping(run), row, side);
	default:
		return no_amount; /* from `times` */
	}
}

static void add_notes(struct tpa_verdicts *verdicts, int side, const struct tpa_run *run)
{
	char *cut = verdicts->cut[side];

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_trace *trace = run->processes[i].trace;
		const char *why = tpa_recording_cut(trace);

		tpa_notes_partial(&verdicts->notes, &run->processes[i]);
		verdicts->cut_rss[side] |= why && !trace->header->rss_peak;
		if (why && !cut[0])
			snprintf(cut, sizeof(verdicts->cut[side]), "of %.200s: %s", trace->file, why);
	}
}

void tpa_verdicts_add(struct tpa_verdicts *verdicts, int side, const struct tpa_run *run)
{
	bool timed = false;

	for (size_t i = 0; i < verdicts->count; i++) {
		struct tpa_verdict_row *row = &verdicts->list[i];
		struct tpa_diff_amount amount = amount_of(run, row, side);
		struct tpa_diff_side *of = &row->side[side];

		timed = timed || is_timed(row->rule);
		if (isnan(amount.value))
			continue;
		tpa_moments_add(&of->runs, amount.value);
		of->variance += amount.variance;
		of->unseen = fmax(of->unseen, amount.unseen);
		of->sampled = of->sampled || (row->rule->metric != TPA_METRIC_RSS && tpa_run_estimated(run));
		if (side)
			row->most = fmax(row->most, amount.value);
	}
	add_notes(verdicts, side, run);
	verdicts->runs[side]++;
	if (timed)
		tpa_diff_times_add(&verdicts->times, side, run);
}

/* ---- differences ---- */

static const struct tpa_diff_time *time_of(const struct tpa_verdicts *verdicts, const struct tpa_rule *rule)
{
	if (rule->metric == TPA_METRIC_STEP)
		return tpa_diff_time(&verdicts->times, TPA_DIFF_STEP);
	return tpa_diff_op(&verdicts->times, rule->op);
}

/* Counted memory of one run per side is not tested. Estimates are tested by their variance. */
static void measure(const struct tpa_verdicts *verdicts, struct tpa_verdict_row *row)
{
	const struct tpa_diff_time *time = is_timed(row->rule) ? time_of(verdicts, row->rule) : NULL;

	row->difference = (struct tpa_difference){ .ratio = NAN, .p = NAN, .doubt = TPA_DOUBT_FEW };
	if (!row->rule->regress)
		return;
	if (time) {
		row->difference = time->difference;
		row->difference.p = tpa_diff_time_p(time);
		row->side[0].runs = time->side[0].runs;
		row->side[1].runs = time->side[1].runs;
	} else if (!is_timed(row->rule)) {
		row->difference =
			tpa_diff_sides(&row->side[0], &row->side[1], verdicts->runs[0] > 1 || verdicts->runs[1] > 1);
	}
}

/* Corrects the p-values: all tests of the rules are one family. */
static void correct(struct tpa_verdicts *verdicts)
{
	double *p = tpa_zalloc(verdicts->count, sizeof(*p));

	for (size_t i = 0; i < verdicts->count; i++)
		p[i] = verdicts->list[i].difference.p;
	tpa_holm(p, verdicts->count);
	for (size_t i = 0; i < verdicts->count; i++)
		verdicts->list[i].corrected = p[i];
	free(p);
}

/* ---- verdicts ---- */

static struct tpa_text amount(const struct tpa_verdict_row *row, double value, bool exact)
{
	const struct tpa_rule *rule = row->rule;
	struct tpa_text text = tpa_bytes(tpa_round(value), exact);

	if (rule->metric == TPA_METRIC_ALLOCATIONS)
		return tpa_text_of("%.0f", value);
	if (rule->metric == TPA_METRIC_GROWTH)
		strcat(text.text, (rule->regress ? row->by_second : rule->seconds) ? " a second" : " a step");
	return text;
}

/*
 * Events after the recording's end can only raise these metrics. Unfreed memory may have been freed since, and growth
 * and times may have changed.
 */
static bool is_at_least(const struct tpa_verdict_row *row)
{
	enum tpa_metric metric = row->rule->metric;

	return metric == TPA_METRIC_PEAK || metric == TPA_METRIC_ALLOCATIONS || metric == TPA_METRIC_RSS;
}

/* Is the rule uncheckable because a run of that side was not recorded to its end? Sets the row's message. */
static bool is_cut(const struct tpa_verdicts *verdicts, struct tpa_verdict_row *row, int side)
{
	if (row->rule->metric == TPA_METRIC_RSS ? !verdicts->cut_rss[side] : !verdicts->cut[side][0])
		return false;
	row->verdict = TPA_RULE_UNCHECKED;
	snprintf(row->message, sizeof(row->message), "can't be checked: only a part is known %s", verdicts->cut[side]);
	return true;
}

static void judge_limit(const struct tpa_verdicts *verdicts, struct tpa_verdict_row *row)
{
	const struct tpa_rule *rule = row->rule;
	size_t runs = verdicts->runs[1];
	struct tpa_estimated estimate;
	bool exact, by_chance;

	if (row->unseen) {
		row->verdict = TPA_RULE_UNCHECKED; /* amount_of() set the message */
		return;
	}
	if ((row->most <= rule->limit || !is_at_least(row)) && is_cut(verdicts, row, 1))
		return;
	if (row->side[1].runs.count < runs) {
		row->verdict = TPA_RULE_UNCHECKED; /* likewise */
		return;
	}
	if (row->most <= rule->limit)
		return;
	estimate = tpa_diff_estimated(&row->side[1]);
	by_chance = runs == 1 && row->side[1].sampled && !(tpa_estimated_interval(&estimate).low > rule->limit);
	/* Print exact numbers if the excess would vanish in rounding. */
	exact = strcmp(amount(row, row->most, false).text, amount(row, rule->limit, false).text) == 0;
	row->verdict = TPA_RULE_BROKEN;
	snprintf(row->message, sizeof(row->message), "%s%s, and %s is allowed%s", amount(row, row->most, exact).text,
		 runs > 1 ? " in the run that has most" : "", amount(row, rule->limit, exact).text,
		 by_chance ? "; could be chance, as allocations were sampled" : "");
}

/* Leaves the rule unchecked: the limit is exceeded, but not provably. */
static void leave_open(struct tpa_verdict_row *row, const char *why)
{
	row->verdict = TPA_RULE_UNCHECKED;
	snprintf(row->message, sizeof(row->message),
		 "can't be checked: %.1f%% more than the baseline's, and %.1f%% is allowed, but %s; several runs of "
		 "each side "
		 "can tell (further --baseline and traces)",
		 100 * (row->difference.ratio - 1), 100 * row->rule->limit, why);
}

/* " (95%: 2.1% to 7.9%)" */
static const char *range(const struct tpa_difference *difference, char *text, size_t size)
{
	text[0] = '\0';
	if (difference->interval.low > 0 && difference->interval.high > 0)
		snprintf(text, size, " (95%%: %.1f%% to %.1f%%)", 100 * (difference->interval.low - 1),
			 100 * (difference->interval.high - 1));
	return text;
}

static void judge_times(const struct tpa_verdicts *verdicts, struct tpa_verdict_row *row)
{
	const struct tpa_diff_time *time = time_of(verdicts, row->rule);
	const char *none = !time || !time->side[0].runs.count ? "the baseline"
			   : !time->side[1].runs.count	      ? "the run"
							      : NULL;
	char interval[64];

	if (none) {
		row->verdict = TPA_RULE_UNCHECKED;
		snprintf(row->message, sizeof(row->message), "can't be checked: %s has no such %s", none,
			 row->rule->op ? "op" : "steps");
		return;
	}
	if (is_cut(verdicts, row, 0) || is_cut(verdicts, row, 1) || row->difference.ratio <= 1 + row->rule->limit)
		return;
	if (isnan(row->difference.p)) {
		leave_open(row, row->difference.doubt == TPA_DOUBT_DRIFT
					? "the times drift too slowly within the run"
					: "there are too few to tell that from chance");
		return;
	}
	if (row->corrected >= LEVEL)
		return;
	if (tpa_diff_time_is_one_run(time)) {
		leave_open(row, "with one run a side nothing tells the program from the machine");
		return;
	}
	row->verdict = TPA_RULE_BROKEN;
	snprintf(row->message, sizeof(row->message),
		 "%.1f%% more than the baseline's%s, median %s, was %s; %.1f%% is allowed",
		 100 * (row->difference.ratio - 1), range(&row->difference, interval, sizeof(interval)),
		 tpa_time(tpa_histogram_percentile(&time->side[1].durations, 0.5)).text,
		 tpa_time(tpa_histogram_percentile(&time->side[0].durations, 0.5)).text, 100 * row->rule->limit);
}

/* Why growth can't be compared, or NULL if it can. */
static const char *open_growth(const struct tpa_verdicts *verdicts, const struct tpa_verdict_row *row)
{
	if (row->rule->metric != TPA_METRIC_GROWTH)
		return NULL;
	for (int side = 0; side < 2; side++)
		if (row->side[side].runs.count < verdicts->runs[side])
			return side ? "the run is too short to tell its growth"
				    : "the baseline is too short to tell its growth";
	return row->by_step && row->by_second ? "one run has steps enough to tell growth by, and another has not"
					      : NULL;
}

/* Two samples prove an excess only if the ratio's whole interval is above the limit. */
static bool is_by_chance(const struct tpa_verdict_row *row)
{
	const struct tpa_difference *difference = &row->difference;
	bool sampled = row->side[0].sampled || row->side[1].sampled;
	/* A rate below 0 has no ratio. */
	bool proven = isnan(difference->interval.low) ? difference->change.low > 0
						      : difference->interval.low > 1 + row->rule->limit;

	return sampled && !proven;
}

static void judge_amount(const struct tpa_verdicts *verdicts, struct tpa_verdict_row *row)
{
	double from = row->side[0].runs.mean, to = row->side[1].runs.mean;
	const char *open = open_growth(verdicts, row);
	char interval[64] = "", more[32] = "more";

	if (row->unseen) {
		row->verdict = TPA_RULE_UNCHECKED; /* amount_of() set the message */
		return;
	}
	if (is_cut(verdicts, row, 0) || (!is_at_least(row) && is_cut(verdicts, row, 1)))
		return;
	if (open) {
		row->verdict = TPA_RULE_UNCHECKED;
		snprintf(row->message, sizeof(row->message), "can't be checked: %s", open);
		return;
	}
	if (to <= from * (1 + row->rule->limit) || row->corrected >= LEVEL || is_by_chance(row)) {
		is_cut(verdicts, row, 1);
		return;
	}
	if (!isnan(row->corrected))
		range(&row->difference, interval, sizeof(interval));
	if (from > 0)
		snprintf(more, sizeof(more), "%.1f%% more", 100 * (to / from - 1));
	row->verdict = TPA_RULE_BROKEN;
	snprintf(row->message, sizeof(row->message), "%s, %s than the baseline's %s%s; %.1f%% is allowed",
		 amount(row, to, false).text, more, amount(row, from, false).text, interval, 100 * row->rule->limit);
}

void tpa_verdicts_judge(struct tpa_verdicts *verdicts)
{
	tpa_diff_times_test(&verdicts->times);
	for (size_t i = 0; i < verdicts->count; i++)
		measure(verdicts, &verdicts->list[i]);
	correct(verdicts);
	for (size_t i = 0; i < verdicts->count; i++) {
		struct tpa_verdict_row *row = &verdicts->list[i];

		if (!row->rule->regress)
			judge_limit(verdicts, row);
		else if (is_timed(row->rule))
			judge_times(verdicts, row);
		else
			judge_amount(verdicts, row);
	}
}
