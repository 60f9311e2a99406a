/* SPDX-License-Identifier: Apache-2.0 */
/* check: what a run must not exceed. Exit status 1 and a line for each breach. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/rules.h"
#include "commands/session.h"
#include "model/op_combine.h"
#include "model/ops.h"
#include "report/junit.h"
#include "report/output.h"

#define MESSAGE_MAX 400

/* A run's figures. */
struct figures {
	const struct tp_run *run;
	struct tp_op_stats *ops;
	size_t op_count;
};

static const struct tp_op_stats *op_named(const struct figures *of, const char *name)
{
	for (size_t i = 0; i < of->op_count; i++) {
		if (strcmp(of->ops[i].name, name) == 0)
			return &of->ops[i];
	}
	return NULL;
}

/* The process with the most steps speaks for the run: its workers have none of their own. */
static const struct tp_process *stepping(const struct tp_run *run)
{
	const struct tp_process *most = &run->processes[0];

	for (size_t i = 1; i < run->process_count; i++) {
		if (run->processes[i].steps.count > most->steps.count)
			most = &run->processes[i];
	}
	return most;
}

/* Durations of a rule's calls or steps; NULL: the run has none. */
static const struct tp_moments *durations(const struct figures *of, const struct tp_rule *rule)
{
	const struct tp_op_stats *op;

	if (rule->metric == TP_METRIC_STEP)
		return stepping(of->run)->steps.count ? &stepping(of->run)->steps.durations : NULL;
	op = op_named(of, rule->op);
	return op ? &op->durations : NULL;
}

/* A number of the run. Of one that it has not, NAN. */
static double figure(const struct figures *of, const struct tp_rule *rule)
{
	const struct tp_growth_stats *growth = &stepping(of->run)->growth;
	double sum = 0;

	switch (rule->metric) {
	case TP_METRIC_PEAK:
		return (double)of->run->peak_bytes;
	case TP_METRIC_GROWTH:
		return growth->looks >= TP_TREND_LEAST && growth->seconds == rule->seconds ? growth->heap.leak_rate : NAN;
	case TP_METRIC_STEP:
	case TP_METRIC_OP:
		return NAN; /* by durations() */
	default:
		break;
	}
	for (size_t i = 0; i < of->run->process_count; i++) {
		const struct tp_heap *heap = &of->run->processes[i].heap;

		if (rule->metric == TP_METRIC_RSS)
			sum = fmax(sum, (double)heap->rss_peak);
		else
			sum += (double)(rule->metric == TP_METRIC_UNFREED ? heap->end_bytes : heap->allocations);
	}
	return sum;
}

static const char *amount(const struct tp_rule *rule, double value, char *text, size_t size)
{
	if (rule->metric == TP_METRIC_ALLOCATIONS)
		snprintf(text, size, "%.0f", value);
	else if (rule->metric == TP_METRIC_STEP || rule->metric == TP_METRIC_OP)
		snprintf(text, size, "%s", tp_time(tp_round(value)).text);
	else
		snprintf(text, size, "%s%s", tp_bytes(tp_round(value), false).text,
			 rule->metric != TP_METRIC_GROWTH ? ""
			 : rule->seconds		  ? " a second"
							  : " a step");
	return text;
}

/* Absolute limits. True: a breach, described. */
static bool exceeds(const struct tp_rule *rule, double value, char *message)
{
	char is[64], may[64];

	if (isnan(value)) {
		snprintf(message, MESSAGE_MAX, "can't be checked: the run has no %s",
			 rule->seconds ? "growth by time (it has steps: say /step), or is too short"
				       : "growth by steps (say /s), or too few of them");
		return true;
	}
	if (value <= rule->limit)
		return false;
	snprintf(message, MESSAGE_MAX, "%s, and %s is allowed", amount(rule, value, is, sizeof(is)),
		 amount(rule, rule->limit, may, sizeof(may)));
	return true;
}

/*
 * Is the mean longer, and not by chance? Welch's t (Biometrika 34, 1947) at 95%, with the degrees of freedom of
 * Satterthwaite. Less than two calls on a side tell nothing.
 */
static bool is_longer(const struct tp_moments *old, const struct tp_moments *new_)
{
	double a = tp_moments_deviation(old), b = tp_moments_deviation(new_), va, vb, degrees;

	if (old->count < 2 || new_->count < 2)
		return false;
	va = a * a / (double)old->count;
	vb = b * b / (double)new_->count;
	if (va + vb <= 0)
		return new_->mean > old->mean;
	degrees = (va + vb) * (va + vb) / (va * va / (double)(old->count - 1) + vb * vb / (double)(new_->count - 1));
	return (new_->mean - old->mean) / sqrt(va + vb) > tp_student_95(degrees < 1 ? 1 : (uint64_t)degrees);
}

static bool regresses(const struct tp_rule *rule, const struct figures *old, const struct figures *new_, char *message)
{
	bool timed = rule->metric == TP_METRIC_STEP || rule->metric == TP_METRIC_OP;
	const struct tp_moments *before = timed ? durations(old, rule) : NULL;
	const struct tp_moments *after = timed ? durations(new_, rule) : NULL;
	double from, to;
	char was[64], is[64];

	if (timed && (!before || !after || !before->count || !after->count)) {
		snprintf(message, MESSAGE_MAX, "can't be checked: %s has no such %s",
			 !before || !before->count ? "the baseline" : "the run", rule->op ? "op" : "steps");
		return true;
	}
	from = timed ? before->mean : figure(old, rule);
	to = timed ? after->mean : figure(new_, rule);
	if (to <= from * (1 + rule->limit) || (timed && !is_longer(before, after)))
		return false;
	snprintf(message, MESSAGE_MAX, "%s, %.1f%% more than the baseline's %s; %.1f%% is allowed",
		 amount(rule, to, is, sizeof(is)), from > 0 ? 100 * (to / from - 1) : INFINITY,
		 amount(rule, from, was, sizeof(was)), 100 * rule->limit);
	return true;
}

static bool breaks(const struct tp_rule *rule, const struct figures *old, const struct figures *new_, char *message)
{
	if (!rule->regress)
		return exceeds(rule, figure(new_, rule), message);
	return regresses(rule, old, new_, message);
}

/* ---- the command ---- */

static int gather(const struct tp_options *options, struct tp_rules *rules)
{
	bool baseline = false;

	for (size_t i = 0; i < options->rule_count; i++) {
		if (!tp_rules_add(rules, "--", options->rules[i].name, options->rules[i].value))
			return TP_EXIT_USAGE;
	}
	if (options->rules_file && !tp_rules_read(rules, options->rules_file))
		return TP_EXIT_USAGE;
	for (size_t i = 0; i < rules->count; i++)
		baseline |= rules->list[i].regress;
	if (!rules->count)
		fputs("tprof-analyze: check wants a rule: --max-peak, --max-unfreed, --max-rss, --max-allocations, "
		      "--max-growth, --max-regress or --rules FILE\n",
		      stderr);
	else if (baseline && !options->baseline_count)
		fputs("tprof-analyze: --max-regress wants a --baseline TRACE to compare with\n", stderr);
	else
		return TP_EXIT_OK;
	return TP_EXIT_USAGE;
}

static int replay(struct tp_session *session, const struct tp_options *options, struct figures *figures)
{
	int status = tp_session_open(session, options);

	if (status == TP_EXIT_OK)
		status = tp_session_replay(session, TP_GROUP_STACK);
	if (status != TP_EXIT_OK)
		return status;
	figures->run = session->run;
	figures->ops = tp_ops_combine(session->run, &figures->op_count);
	return TP_EXIT_OK;
}

static void finish(struct figures *figures)
{
	if (figures->ops)
		tp_ops_result_free(figures->ops, figures->op_count);
}

static int judge(struct tp_session *session, const struct tp_rules *rules, const struct figures *old,
		 const struct figures *new_)
{
	struct tp_junit_case *cases = calloc(rules->count, sizeof(*cases));
	char(*messages)[MESSAGE_MAX] = calloc(rules->count, sizeof(*messages));
	const char *junit = session->options->junit;
	int status = cases && messages ? TP_EXIT_OK : TP_EXIT_TRACE;

	for (size_t i = 0; status != TP_EXIT_TRACE && i < rules->count; i++) {
		cases[i].name = rules->list[i].text;
		if (!breaks(&rules->list[i], old, new_, messages[i]))
			continue;
		cases[i].failure = messages[i];
		status = TP_EXIT_FOUND;
		fprintf(session->page.out, "%s: %s\n", rules->list[i].text, messages[i]);
	}
	if (status == TP_EXIT_OK)
		fprintf(session->page.out, "%zu rule%s kept\n", rules->count, rules->count == 1 ? "" : "s");
	if (status == TP_EXIT_TRACE) {
		fputs("tprof-analyze: out of memory\n", stderr);
	} else if (junit && !tp_junit_write(junit, cases, rules->count)) {
		fprintf(stderr, "tprof-analyze: --junit %s: can't be written: %s\n", junit, tp_output_error(errno));
		status = TP_EXIT_USAGE;
	}
	free(messages);
	free(cases);
	return status;
}

int tp_cmd_check(const struct tp_options *options)
{
	struct tp_options old_options = *options;
	struct tp_session session, old_session;
	struct figures old = { 0 }, new_ = { 0 };
	struct tp_rules rules = { 0 };
	int status = gather(options, &rules);

	if (status == TP_EXIT_OK)
		status = replay(&session, options, &new_);
	if (status == TP_EXIT_OK && options->baseline_count) {
		old_options.traces = options->baselines;
		old_options.trace_count = options->baseline_count;
		old_options.output = NULL;
		status = replay(&old_session, &old_options, &old);
		if (status != TP_EXIT_OK) {
			finish(&new_);
			tp_session_close(&session, status);
		}
	}
	if (status == TP_EXIT_OK) {
		status = judge(&session, &rules, &old, &new_);
		finish(&new_);
		finish(&old);
		if (options->baseline_count)
			tp_session_close(&old_session, TP_EXIT_OK);
		status = tp_session_close(&session, status);
	}
	tp_rules_free(&rules);
	return status;
}
