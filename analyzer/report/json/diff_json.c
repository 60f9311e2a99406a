/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/diff_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/diff_words.h"

#define ALIKE_ROW 0.0005 /* largest change of a row that counts as alike: its ratio prints as 1.000 */
#define ALIKE_ALL 0.001	 /* the same as a share of all rows */
#define BY_SECOND 2	 /* a value of growth_unit */

/* The interval of the inverse ratio. */
static struct tpa_interval inverse(struct tpa_interval interval)
{
	return (struct tpa_interval){ interval.high > 0 ? 1 / interval.high : NAN,
				      interval.low > 0 ? 1 / interval.low : NAN };
}

static const char *word_of(enum tpa_diff_word word, bool more)
{
	switch (word) {
	case TPA_DIFF_SURE:
		return more ? "more" : "less";
	case TPA_DIFF_LIKELY:
		return "different";
	case TPA_DIFF_NONE:
		return "noise";
	case TPA_DIFF_FEW_RUNS:
		break;
	}
	return "too few runs";
}

static const char *more_or_less(const struct tpa_diff_row *row)
{
	const struct tpa_diff_side *a = &row->side[0], *b = &row->side[1];
	double change = b->runs.mean - a->runs.mean;

	if (!(fabs(change) > 0))
		change = b->count * (double)a->runs.count - a->count * (double)b->runs.count;
	return word_of(tpa_diff_word(&row->difference, row->corrected, tpa_diff_larger(row)), change > 0);
}

/* Sets the number of further runs that would help, if they would. */
static void put_more_runs(json_t *json, size_t more_runs)
{
	static const char *const open[] = { "too few runs", "different", "one run" };
	const char *verdict = json_string_value(json_object_get(json, "verdict"));

	for (size_t i = 0; verdict && i < sizeof(open) / sizeof(open[0]); i++)
		if (strcmp(verdict, open[i]) == 0)
			tpa_json_set(json, "more_runs", more_runs ? tpa_json_number(more_runs) : json_null());
}

/* Amounts are whole numbers, rates are not. */
static json_t *end_json(const struct tpa_diff_side *side, double end)
{
	return side->unseen > 0 ? tpa_json_number(tpa_round(end)) : tpa_json_real(end);
}

/*
 * Sets KEY_ci95 if the side's runs were sampled. The upper end is null for an amount that no sample hit, as
 * everywhere.
 */
static void put_interval(json_t *json, const char *key, const struct tpa_diff_side *side)
{
	struct tpa_estimated mean = tpa_diff_estimated(side);
	struct tpa_interval interval = tpa_estimated_interval(&mean);
	bool open = side->unseen > 0 && !(mean.value > 0);
	char name[64];

	if (!side->sampled)
		return;
	snprintf(name, sizeof(name), "%s_ci95", key);
	tpa_json_set(
		json, name,
		json_pack("[o, o]", end_json(side, interval.low), open ? json_null() : end_json(side, interval.high)));
}

/* Sets the intervals of both values and of their difference if a side was sampled. */
static void put_intervals(json_t *json, const char *old_key, const char *new_key, const struct tpa_diff_row *row)
{
	put_interval(json, old_key, &row->side[0]);
	put_interval(json, new_key, &row->side[1]);
	if (row->side[0].sampled || row->side[1].sampled)
		tpa_json_set(json, "change_ci95", tpa_json_interval(row->difference.change));
}

/* ---- totals ---- */

static const struct {
	const char *name, *unit;
} totals[TPA_DIFF_TOTALS] = {
	[TPA_DIFF_PEAK] = { "peak", "bytes" },
	[TPA_DIFF_UNFREED] = { "unfreed", "bytes" },
	[TPA_DIFF_ALLOCATED] = { "allocated", "bytes" },
	[TPA_DIFF_ALLOCATIONS] = { "allocations", "calls" },
	[TPA_DIFF_RSS] = { "rss", "bytes" },
};

static bool is_heap_known(const struct tpa_diff *diff)
{
	return !diff->heap_unknown[0] && !diff->heap_unknown[1];
}

/* A resident memory of 0 means unknown. */
static bool is_total_known(const struct tpa_diff *diff, const struct tpa_diff_row *row, int side)
{
	return row->key == TPA_DIFF_RSS ? row->side[side].runs.mean > 0 : !diff->heap_unknown[side];
}

static json_t *amount_or_null(const struct tpa_diff *diff, const struct tpa_diff_row *row, int side)
{
	return is_total_known(diff, row, side) ? tpa_json_number(tpa_round(row->side[side].runs.mean)) : json_null();
}

static void put_comparison(json_t *json, const struct tpa_diff_row *row)
{
	bool exact = isnan(row->difference.p), differs = tpa_diff_differs(row);

	put_intervals(json, "old", "new", row);
	tpa_json_set(json, "ratio", tpa_json_real(row->difference.ratio));
	tpa_json_set(json, "ratio_ci95", exact ? json_null() : tpa_json_interval(row->difference.interval));
	tpa_json_set(json, "exact", json_boolean(exact));
	tpa_json_set(json, "p", tpa_json_real(row->difference.p));
	if (!exact)
		tpa_json_set(json, "p_corrected", tpa_json_real(row->corrected));
	/* requested memory is counted exactly; RSS also depends on the kernel and varies by run */
	tpa_json_set(json, "verdict",
		     json_string(!differs			     ? "same"
				 : exact && row->key == TPA_DIFF_RSS ? "one run"
				 : exact			     ? "different"
								     : more_or_less(row)));
	if (!exact)
		put_more_runs(json, row->more_runs);
}

static void put_no_comparison(json_t *json)
{
	tpa_json_set(json, "ratio", json_null());
	tpa_json_set(json, "ratio_ci95", json_null());
	tpa_json_set(json, "exact", json_false());
	tpa_json_set(json, "p", json_null());
	tpa_json_set(json, "verdict", json_null());
}

static json_t *total_json(const struct tpa_diff *diff, const struct tpa_diff_row *row)
{
	json_t *json = json_object();

	tpa_json_set(json, "name", json_string(totals[row->key].name));
	tpa_json_set(json, "unit", json_string(totals[row->key].unit));
	tpa_json_set(json, "old", amount_or_null(diff, row, 0));
	tpa_json_set(json, "new", amount_or_null(diff, row, 1));
	if (is_total_known(diff, row, 0) && is_total_known(diff, row, 1))
		put_comparison(json, row);
	else
		put_no_comparison(json);
	return json;
}

static json_t *totals_json(const struct tpa_diff *diff)
{
	json_t *json = json_array();

	for (size_t i = 0; i < diff->totals.count; i++)
		json_array_append_new(json, total_json(diff, &diff->totals.list[i]));
	return json;
}

/* ---- times ---- */

static const char *calls_verdict(const struct tpa_diff_time *time)
{
	const struct tpa_moments *a = &time->side[0].calls, *b = &time->side[1].calls;

	if (!(fabs(a->mean - b->mean) > 1e-9 * a->mean))
		return "same";
	if (isnan(time->calls.p))
		return "different";
	return word_of(tpa_diff_word(&time->calls, time->calls.p, fmax(a->mean, b->mean)), b->mean > a->mean);
}

static void put_times(json_t *json, const struct tpa_diff_time *time)
{
	const struct tpa_times *a = &time->side[0], *b = &time->side[1];
	const struct tpa_difference *difference = &time->difference;

	tpa_json_set(json, "old_total_ns", tpa_json_number(a->total_ns));
	tpa_json_set(json, "new_total_ns", tpa_json_number(b->total_ns));
	tpa_json_set(json, "old_p50_ns", tpa_json_number(tpa_histogram_percentile(&a->durations, 0.5)));
	tpa_json_set(json, "new_p50_ns", tpa_json_number(tpa_histogram_percentile(&b->durations, 0.5)));
	tpa_json_set(json, "speedup", tpa_json_real(1 / difference->ratio));
	tpa_json_set(json, "speedup_ci95", tpa_json_interval(inverse(difference->interval)));
	tpa_json_set(json, "later", tpa_json_real(time->later));
	tpa_json_set(json, "p", tpa_json_real(difference->p));
	if (!isnan(time->among))
		tpa_json_set(json, "p_among", json_real(time->among));
	if (!isnan(time->corrected))
		tpa_json_set(json, "p_corrected", tpa_json_real(time->corrected));
	tpa_json_set(json, "verdict", json_string(tpa_diff_time_verdict(time)));
	put_more_runs(json, time->more_runs);
}

static json_t *op_json(const struct tpa_diff_time *time)
{
	const struct tpa_times *a = &time->side[0], *b = &time->side[1];
	json_t *json = json_object();

	tpa_json_set(json, "name", tpa_json_string(time->name));
	tpa_json_set(json, "category", tpa_json_string(time->category));
	tpa_json_set(json, "old_calls", tpa_json_number(tpa_round(a->calls.mean * (double)a->calls.count)));
	tpa_json_set(json, "new_calls", tpa_json_number(tpa_round(b->calls.mean * (double)b->calls.count)));
	tpa_json_set(json, "calls_ratio", tpa_json_real(time->calls.ratio));
	tpa_json_set(json, "calls_verdict", json_string(calls_verdict(time)));
	put_times(json, time);
	return json;
}

static json_t *other_time_json(const struct tpa_diff_time *time)
{
	json_t *json = json_object();

	tpa_json_set(json, "name", json_string(time->name));
	put_times(json, time);
	return json;
}

/* The increase of a run's time in it. */
static double change_of(const struct tpa_diff_time *time)
{
	const struct tpa_times *a = &time->side[0], *b = &time->side[1];

	return fabs((double)b->total_ns / fmax((double)b->calls.count, 1) -
		    (double)a->total_ns / fmax((double)a->calls.count, 1));
}

static int by_change(const void *left, const void *right)
{
	double x = change_of(*(const struct tpa_diff_time *const *)left);
	double y = change_of(*(const struct tpa_diff_time *const *)right);

	return TPA_DOWN(x, y);
}

/* ---- listed and counted rows ---- */

/* Counts rows by kind, and selects those to list. */
struct listing {
	struct tpa_diff_choice choice;
	json_t *counts;
	size_t listed;
};

static struct listing begin_listing(struct tpa_diff_choice choice)
{
	return (struct listing){ .choice = choice, .counts = json_object() };
}

static bool is_telling(const char *what)
{
	static const char *const nothing[] = { "same",	       "alike",	     "noise",  "too few",
					       "too few runs", "not tested", "drifts", "as others" };

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strcmp(what, nothing[i]) == 0)
			return false;
	return true;
}

static void count_rows(struct listing *listing, const char *what, size_t count)
{
	json_int_t before = json_integer_value(json_object_get(listing->counts, what));

	if (count)
		tpa_json_set(listing->counts, what, json_integer(before + (json_int_t)count));
}

/* Counts a row. Returns true if it is also listed. */
static bool take(struct listing *listing, const char *what)
{
	count_rows(listing, what, 1);
	if ((listing->choice.top && listing->listed == listing->choice.top) ||
	    (listing->choice.telling && !is_telling(what)))
		return false;
	listing->listed++;
	return true;
}

static void end_listing(json_t *json, const char *key, struct listing *listing)
{
	json_t *all = json_object_get(json, "counts"), *list = json_array(), *rows;
	const char *what;

	json_object_foreach(listing->counts, what, rows) {
		json_array_append_new(list, json_pack("{s:s, s:O}", "verdict", what, "rows", rows));
	}
	json_decref(listing->counts);
	if (!all) {
		all = json_object();
		tpa_json_set(json, "counts", all);
	}
	tpa_json_set(all, key, list);
}

/* ---- ops ---- */

static void put_all_times(json_t *json, const struct tpa_diff_times *times, struct tpa_diff_choice choice)
{
	const struct tpa_diff_time **list = tpa_zalloc(times->count, sizeof(struct tpa_diff_time *));
	json_t *ops = json_array(), *others = json_array();
	struct listing listing = begin_listing(choice);
	size_t count = 0;

	for (size_t i = 0; i < times->count; i++) {
		if (times->list[i]->category)
			list[count++] = times->list[i];
		else
			json_array_append_new(others, other_time_json(times->list[i]));
	}
	qsort((void *)list, count, sizeof(struct tpa_diff_time *), by_change);
	for (size_t i = 0; i < count; i++)
		if (take(&listing, tpa_diff_time_verdict(list[i])))
			json_array_append_new(ops, op_json(list[i]));
	free((void *)list);
	tpa_json_set(json, "times", others);
	tpa_json_set(json, "ops", ops);
	end_listing(json, "ops", &listing);
}

/* ---- rows ---- */

/* The names of a row's two sides. */
struct columns {
	const char *old_value, *new_value, *old_count, *new_count;
	enum { AS_BYTES, AS_RATE, AS_SHARE } as;
	bool by_speed; /* growth by the second, one run per side: it also depends on the machine's speed */
};

static json_t *amount_json(const struct columns *columns, double value)
{
	return columns->as == AS_BYTES ? tpa_json_number(tpa_round(value)) : tpa_json_real(value);
}

static json_t *frame_json(const struct tpa_named_stacks *names, uint32_t name)
{
	const struct tpa_named *named = &names->names[name];

	return json_pack("{s:o, s:o, s:s}", "function", tpa_json_string(named->function), "module",
			 tpa_json_string(tpa_named_module(names, named)), "language",
			 named->python ? "python" : "native");
}

static json_t *name_json(const struct tpa_named_stacks *names, uint32_t name)
{
	char *text = tpa_named_whole(names, name);
	json_t *json = tpa_json_string(text);

	free(text);
	return json;
}

static void put_name(json_t *json, const struct tpa_diff_sites *sites, const struct tpa_diff_row *row, bool stacks)
{
	const struct tpa_named_stacks *names = &sites->names;
	const struct tpa_named *own = &names->names[row->own];
	json_t *stack;

	tpa_json_set(json, "name",
		     sites->by == TPA_BY_MODULE ? tpa_json_string(tpa_named_module(names, own))
						: name_json(names, row->own));
	if (!stacks)
		return;
	stack = json_array();
	for (uint32_t node = row->key; node; node = names->nodes[node].parent)
		json_array_append_new(stack, frame_json(names, names->nodes[node].name));
	tpa_json_set(json, "stack", stack);
}

/* `exact`: nothing needs testing. */
static const char *verdict_of(const struct tpa_diff_row *row, bool exact, bool by_speed)
{
	if (by_speed && (exact || row->corrected < TPA_DIFF_LEVEL))
		return "one run";
	if (exact) /* one run per side: the variation between runs of one program is unknown */
		return "different";
	if (!isnan(row->corrected))
		return more_or_less(row);
	return isnan(row->difference.p) ? "too few" : "not tested";
}

static bool is_exact(const struct tpa_diff_row *row, const struct columns *columns)
{
	return columns->as != AS_SHARE && isnan(row->difference.p);
}

static json_t *row_json(const struct tpa_diff_sites *sites, const struct tpa_diff_rows *rows,
			const struct tpa_diff_row *row, const struct columns *columns, bool stacks)
{
	const struct tpa_diff_side *a = &row->side[0], *b = &row->side[1];
	bool exact = is_exact(row, columns);
	json_t *json = json_object();

	put_name(json, sites, row, stacks);
	tpa_json_set(json, columns->old_value, amount_json(columns, a->runs.mean));
	tpa_json_set(json, columns->new_value, amount_json(columns, b->runs.mean));
	if (columns->old_count) {
		tpa_json_set(json, columns->old_count,
			     tpa_json_number(tpa_round(a->count / fmax((double)a->runs.count, 1))));
		tpa_json_set(json, columns->new_count,
			     tpa_json_number(tpa_round(b->count / fmax((double)b->runs.count, 1))));
	}
	if (columns->as != AS_SHARE)
		put_intervals(json, columns->old_value, columns->new_value, row);
	tpa_json_set(json, "change", json_real(fabs(b->runs.mean - a->runs.mean)));
	tpa_json_set(json, "ratio", tpa_json_real(row->difference.ratio));
	tpa_json_set(json, "ratio_ci95", exact ? json_null() : tpa_json_interval(row->difference.interval));
	tpa_json_set(json, "p", tpa_json_real(row->difference.p));
	if (!isnan(row->corrected))
		tpa_json_set(json, "p_corrected", tpa_json_real(row->corrected));
	if (rows->estimated)
		tpa_json_set(json, "estimated", json_true());
	tpa_json_set(json, "verdict", json_string(verdict_of(row, exact, columns->by_speed)));
	if (!exact)
		put_more_runs(json, row->more_runs);
	return json;
}

/*
 * The kind under which a row is counted: its verdict, or "alike" for a row that differs so little that its ratio
 * prints as 1, or by less than a thousandth of the total.
 */
static const char *counted_as(const struct tpa_diff_row *row, const struct columns *columns, double all)
{
	double a = row->side[0].runs.mean, b = row->side[1].runs.mean, change = fabs(b - a);
	const char *verdict = verdict_of(row, is_exact(row, columns), columns->by_speed);

	if (columns->as != AS_BYTES || !is_telling(verdict))
		return verdict;
	return change < ALIKE_ROW * fmax(a, b) || change < ALIKE_ALL * all ? "alike" : verdict;
}

/* The sum of the larger side. */
static double sum_of(const struct tpa_diff_rows *rows)
{
	double sums[2] = { 0, 0 };

	for (size_t i = 0; i < rows->count; i++)
		for (int side = 0; side < 2; side++)
			sums[side] += fabs(rows->list[i].side[side].runs.mean);
	return fmax(sums[0], sums[1]);
}

static void put_list(json_t *json, const char *key, const struct tpa_diff_sites *sites,
		     const struct tpa_diff_rows *rows, const struct columns *columns, bool stacks,
		     struct tpa_diff_choice choice)
{
	struct listing listing = begin_listing(choice);
	json_t *array = json_array();
	double all = sum_of(rows);
	size_t count;
	const struct tpa_diff_row **list = tpa_diff_rows_sort(rows, &count);

	count_rows(&listing, "same", rows->count - count);
	for (size_t i = 0; i < count; i++)
		if (take(&listing, counted_as(list[i], columns, all)))
			json_array_append_new(array, row_json(sites, rows, list[i], columns, stacks));
	free((void *)list);
	end_listing(json, key, &listing);
	tpa_json_set(json, key, array);
}

/* CPU time can't be compared if no run of a side has samples. */
static bool is_cpu_known(const struct tpa_diff_sites *sites)
{
	return sites->cpu.runs[0] && sites->cpu.runs[1];
}

static bool is_by_speed(const struct tpa_diff *diff)
{
	return !diff->sites.growth_open && diff->sites.growth_unit == BY_SECOND && diff->runs[0] == 1 &&
	       diff->runs[1] == 1;
}

static void put_rows(json_t *json, const struct tpa_diff *diff, struct tpa_diff_choice choice)
{
	static const struct columns blocks = { "old_bytes", "new_bytes", "old_blocks", "new_blocks", AS_BYTES, false };
	static const struct columns calls = { "old_bytes",	 "new_bytes", "old_allocations",
					      "new_allocations", AS_BYTES,    false };
	const struct tpa_diff_sites *sites = &diff->sites;
	const struct columns rates = { "old_rate", "new_rate", NULL, NULL, AS_RATE, is_by_speed(diff) };
	static const struct columns shares = { "old_share", "new_share", NULL, NULL, AS_SHARE, false };
	static const struct tpa_diff_rows none;
	bool stacks = sites->by == TPA_BY_STACK, heap = is_heap_known(diff), cpu = is_cpu_known(sites);
	/* Allocations that a run did not record, and samples that no run took, have no row. */
	const struct {
		const char *key;
		const struct tpa_diff_rows *rows;
		const struct columns *columns;
		bool stacks;
	} lists[] = {
		{ "peak", heap ? &sites->peak : &none, &blocks, stacks },
		{ "unfreed", heap ? &sites->unfreed : &none, &blocks, stacks },
		{ "allocated", heap ? &sites->allocated : &none, &calls, stacks },
		{ "leaks", heap ? &sites->growth : &none, &rates, stacks },
		{ "cpu", cpu ? &sites->cpu : &none, &shares, false },
		{ "cpu_stacks", cpu ? &sites->cpu_stacks : &none, &shares, true },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) - !stacks; i++)
		put_list(json, lists[i].key, sites, lists[i].rows, lists[i].columns, lists[i].stacks, choice);
}

/* ---- growth ---- */

static json_t *growth_json(const struct tpa_diff *diff)
{
	static const char *const units[] = { NULL, "bytes/step", "bytes/s", NULL };
	const struct tpa_diff_row *row = &diff->growth.list[0];
	const char *unit = diff->sites.growth_open ? NULL : units[diff->sites.growth_unit];
	bool exact = isnan(row->difference.p);
	json_t *json;

	if (!unit || !diff->growth.count || !is_heap_known(diff))
		return json_null();
	json = json_object();
	tpa_json_set(json, "unit", json_string(unit));
	tpa_json_set(json, "old", tpa_json_real(row->side[0].runs.mean));
	tpa_json_set(json, "new", tpa_json_real(row->side[1].runs.mean));
	tpa_json_set(json, "change_ci95", tpa_json_interval(row->difference.change));
	tpa_json_set(json, "ratio", tpa_json_real(row->difference.ratio));
	tpa_json_set(json, "p", tpa_json_real(row->difference.p));
	tpa_json_set(json, "verdict",
		     json_string(!tpa_diff_differs(row) ? "same" : verdict_of(row, exact, is_by_speed(diff))));
	if (!exact)
		put_more_runs(json, row->more_runs);
	return json;
}

static json_t *files_json(const struct tpa_diff *diff, int side)
{
	json_t *json = json_array();

	for (size_t i = 0; i < diff->runs[side]; i++)
		json_array_append_new(json, tpa_json_string(diff->files[side][i]));
	return json;
}

json_t *tpa_diff_json(const struct tpa_diff *diff, struct tpa_diff_choice choice)
{
	json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "tprof/1", "old",
				 tpa_json_string(diff->files[0][0]), "new", tpa_json_string(diff->files[1][0]),
				 "old_runs", files_json(diff, 0), "new_runs", files_json(diff, 1), "totals",
				 totals_json(diff), "growth", growth_json(diff));

	tpa_json_set(json, "notes", tpa_json_texts(&diff->notes));
	tpa_json_set(json, "heap_known", json_boolean(is_heap_known(diff)));
	tpa_json_set(json, "cpu_known", json_boolean(is_cpu_known(&diff->sites)));
	put_all_times(json, &diff->times, choice);
	put_rows(json, diff, choice);
	return json;
}
