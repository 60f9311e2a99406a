/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/rank.h"

#define LEVEL 0.05

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static double number(const json_t *json, const char *key)
{
	return json_number_value(json_object_get(json, key));
}

/* ---- totals ---- */

struct total {
	const char *name, *unit;
	double before, after, variance; /* variance: of the difference, where the numbers are estimates */
};

static json_t *total_json(const struct total *total)
{
	double off = fabs(total->after - total->before);
	json_t *json = json_object();

	json_object_set_new(json, "name", json_string(total->name));
	json_object_set_new(json, "unit", json_string(total->unit));
	json_object_set_new(json, "old", tp_json_number(tp_round(total->before)));
	json_object_set_new(json, "new", tp_json_number(tp_round(total->after)));
	json_object_set_new(json, "ratio", real(total->before > 0 ? total->after / total->before : NAN));
	json_object_set_new(json, "exact", json_boolean(!(total->variance > 0)));
	json_object_set_new(json, "p", total->variance > 0 ? real(erfc(off / sqrt(2 * total->variance))) : json_null());
	json_object_set_new(json, "verdict", json_string(off > 0 ? "different" : "same"));
	return json;
}

static json_t *totals(const struct tp_process *a, const struct tp_process *b)
{
	const struct tp_heap *x = &a->heap, *y = &b->heap;
	const struct tp_variance *v = &x->variance, *w = &y->variance;
	const struct total list[] = {
		{ "peak", "bytes", (double)x->peak_bytes, (double)y->peak_bytes, v->peak_bytes + w->peak_bytes },
		{ "unfreed", "bytes", (double)x->end_bytes, (double)y->end_bytes, v->live_bytes + w->live_bytes },
		{ "allocated", "bytes", (double)x->bytes, (double)y->bytes, v->bytes + w->bytes },
		{ "allocations", "calls", (double)x->allocations, (double)y->allocations,
		  v->allocations + w->allocations },
	};
	json_t *json = json_array();

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		json_array_append_new(json, total_json(&list[i]));
	return json;
}

/* ---- ops ---- */

static const struct tp_op_stats *op_named(const struct tp_process *process, const struct tp_op_stats *op)
{
	for (size_t i = 0; i < process->op_count; i++)
		if (strcmp(process->ops[i].name, op->name) == 0 && strcmp(process->ops[i].category, op->category) == 0)
			return &process->ops[i];
	return NULL;
}

static json_t *op_json(const struct tp_op_stats *a, const struct tp_op_stats *b)
{
	const struct tp_op_stats *known = a ? a : b;
	struct tp_rank_test test = { NAN, NAN, true };
	json_t *json = json_object();

	if (a && b && a->histogram && b->histogram)
		test = tp_rank_test(a->histogram, b->histogram);
	json_object_set_new(json, "name", tp_json_string(known->name));
	json_object_set_new(json, "category", tp_json_string(known->category));
	json_object_set_new(json, "old_calls", tp_json_number(a ? a->calls : 0));
	json_object_set_new(json, "new_calls", tp_json_number(b ? b->calls : 0));
	json_object_set_new(json, "old_total_ns", tp_json_number(a ? a->total_ns : 0));
	json_object_set_new(json, "new_total_ns", tp_json_number(b ? b->total_ns : 0));
	json_object_set_new(json, "old_p50_ns", tp_json_number(a ? a->p50_ns : 0));
	json_object_set_new(json, "new_p50_ns", tp_json_number(b ? b->p50_ns : 0));
	json_object_set_new(json, "speedup", real(a && b && b->p50_ns ? (double)a->p50_ns / (double)b->p50_ns : NAN));
	json_object_set_new(json, "later", real(test.later));
	json_object_set_new(json, "p", real(test.p));
	json_object_set_new(json, "verdict", json_string(a && b ? "too few" : a ? "gone" : "new"));
	if (test.memory)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *ops(const struct tp_process *a, const struct tp_process *b)
{
	json_t *json = json_array();
	bool good = true;

	for (size_t i = 0; good && i < a->op_count; i++)
		good = json_array_append_new(json, op_json(&a->ops[i], op_named(b, &a->ops[i]))) == 0;
	for (size_t i = 0; good && i < b->op_count; i++)
		if (!op_named(a, &b->ops[i]))
			good = json_array_append_new(json, op_json(NULL, &b->ops[i])) == 0;
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

bool tp_diff_begin(struct tp_diff *diff, const struct tp_process *a, const struct tp_process *b)
{
	diff->json = json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "tprof/1", "old", tp_json_string(a->trace->file),
			       "new", tp_json_string(b->trace->file), "totals", totals(a, b), "ops", ops(a, b));
	return diff->json != NULL;
}

/* ---- rows that are matched by name ---- */

static bool put_frame(char **key, const json_t *frame)
{
	const char *function = json_string_value(json_object_get(frame, "function"));
	const char *module = json_string_value(json_object_get(frame, "module")), *op, *slash;
	char *longer = NULL;

	op = json_string_value(json_object_get(frame, "op"));
	slash = module ? strrchr(module, '/') : NULL;
	if (asprintf(&longer, "%s%s%s%s%s", *key ? *key : "", *key ? " < " : "",
		     function ? function
		     : op     ? op
			      : "?",
		     module ? " in " : "",
		     slash    ? slash + 1
		     : module ? module
			      : "") < 0)
		return false;
	free(*key);
	*key = longer;
	return true;
}

/* NULL: memory is out. */
static char *key_of(const json_t *row)
{
	const json_t *stack = json_object_get(row, "stack");
	bool good = true;
	char *key = NULL;

	for (size_t i = 0; good && i < json_array_size(stack); i++)
		good = put_frame(&key, json_array_get(stack, i));
	if (good && !key)
		good = put_frame(&key, row);
	if (good)
		return key;
	free(key);
	return NULL;
}

/* Rows of one key add up: the lines of a function that it was called from are one. */
static bool collect(json_t *named, const json_t *rows, const char *const fields[2][3])
{
	size_t i;
	json_t *row;

	if (!rows)
		return false;
	json_array_foreach(rows, i, row)
	{
		char *key = key_of(row);
		json_t *entry = key ? json_object_get(named, key) : NULL;
		bool good = key != NULL;

		if (good && !entry) {
			entry = json_object();
			good = json_object_set_new(named, key, entry) == 0;
		}
		free(key);
		for (size_t f = 0; good && f < 3 && fields[0][f]; f++)
			good = json_object_set_new(
				       entry, fields[1][f],
				       json_real(number(entry, fields[1][f]) + number(row, fields[0][f]))) == 0;
		if (good && json_is_true(json_object_get(row, "estimated")))
			json_object_set_new(entry, "estimated", json_true());
		if (!good)
			return false;
	}
	return true;
}

bool tp_diff_sites(struct tp_diff *diff, const char *key, const json_t *old_rows, const json_t *new_rows)
{
	static const char *const before[2][3] = { { "bytes", "blocks", "allocations" },
						  { "old_bytes", "old_blocks", "old_allocations" } };
	static const char *const after[2][3] = { { "bytes", "blocks", "allocations" },
						 { "new_bytes", "new_blocks", "new_allocations" } };
	json_t *named = json_object(), *list = json_array(), *row;
	bool good = collect(named, old_rows, before) && collect(named, new_rows, after);
	const char *name;

	json_object_foreach(named, name, row)
	{
		double x = number(row, "old_bytes"), y = number(row, "new_bytes");

		if (x == y && number(row, "old_blocks") == number(row, "new_blocks") &&
		    number(row, "old_allocations") == number(row, "new_allocations"))
			continue;
		json_object_set_new(row, "name", json_string(name));
		json_object_set_new(row, "ratio", real(x > 0 ? y / x : NAN));
		json_object_set_new(row, "change", json_real(fabs(y - x)));
		good = good && json_array_append(list, row) == 0;
	}
	json_decref(named);
	return json_object_set_new(diff->json, key, list) == 0 && good;
}

bool tp_diff_cpu(struct tp_diff *diff, const struct tp_cpu *a, const json_t *old_rows, const struct tp_cpu *b,
		 const json_t *new_rows)
{
	static const char *const before[2][3] = { { "self_share" }, { "old_share" } };
	static const char *const after[2][3] = { { "self_share" }, { "new_share" } };
	/* As many independent samples as they are worth (Kish). */
	double n = a->squares > 0 ? (double)a->periods * (double)a->periods / a->squares : 0;
	double m = b->squares > 0 ? (double)b->periods * (double)b->periods / b->squares : 0;
	json_t *named = json_object(), *list = json_array(), *row;
	bool good = collect(named, old_rows, before) && collect(named, new_rows, after);
	const char *name;

	json_object_foreach(named, name, row)
	{
		double x = number(row, "old_share"), y = number(row, "new_share");

		json_object_set_new(row, "name", json_string(name));
		json_object_set_new(row, "change", json_real(fabs(y - x)));
		json_object_set_new(row, "p", real(tp_share_test(x * n, n, y * m, m)));
		json_object_set_new(row, "verdict", json_string("too few"));
		good = good && json_array_append(list, row) == 0;
	}
	json_decref(named);
	return json_object_set_new(diff->json, "cpu", list) == 0 && good;
}

/* ---- the end ---- */

static double p_of(const json_t *row)
{
	const json_t *p = json_object_get(row, "p");

	return json_is_real(p) ? json_real_value(p) : NAN;
}

static void judge(json_t *row, double p)
{
	const json_t *later = json_object_get(row, "later");
	bool more =
		later ? json_number_value(later) > 0.5
		      : number(row, "new_share") + number(row, "new") > number(row, "old_share") + number(row, "old");

	if (isnan(p))
		return;
	json_object_set_new(row, "p_corrected", json_real(p));
	json_object_set_new(row, "verdict",
			    json_string(p >= LEVEL ? "noise"
					: later	   ? (more ? "slower" : "faster")
						   : (more ? "more" : "less")));
}

/* All tests of the report are one family. */
static bool correct(json_t *json)
{
	static const char *const lists[] = { "totals", "ops", "cpu" };
	size_t count = 0, n = 0, i;
	double *p;
	json_t *row;

	for (size_t l = 0; l < 3; l++)
		count += json_array_size(json_object_get(json, lists[l]));
	p = malloc((count ? count : 1) * sizeof(*p));
	if (!p)
		return false;
	for (size_t l = 0; l < 3; l++)
		for (i = 0; (row = json_array_get(json_object_get(json, lists[l]), i)); i++)
			p[n++] = p_of(row);
	if (tp_holm(p, count)) {
		n = 0;
		for (size_t l = 0; l < 3; l++)
			for (i = 0; (row = json_array_get(json_object_get(json, lists[l]), i)); i++)
				judge(row, p[n++]);
		free(p);
		return true;
	}
	free(p);
	return false;
}

/* What changed most comes first: bytes, shares, or time of all calls. */
static double weight(const json_t *row)
{
	return json_object_get(row, "change") ? number(row, "change")
					      : fabs(number(row, "new_total_ns") - number(row, "old_total_ns"));
}

static int by_weight(const void *a, const void *b)
{
	double x = weight(*(json_t *const *)a), y = weight(*(json_t *const *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

static bool sort(json_t *json, const char *key, uint64_t top)
{
	json_t *list = json_object_get(json, key), *sorted = json_array(), **rows, *row;
	size_t count = json_array_size(list), i;
	bool good = true;

	rows = malloc((count ? count : 1) * sizeof(json_t *));
	if (!rows)
		return false;
	for (i = 0; (row = json_array_get(list, i)); i++)
		rows[i] = row;
	qsort(rows, count, sizeof(json_t *), by_weight);
	for (i = 0; good && i < count && (!top || i < top); i++)
		good = json_array_append(sorted, rows[i]) == 0;
	free(rows);
	return json_object_set_new(json, key, sorted) == 0 && good;
}

json_t *tp_diff_end(struct tp_diff *diff, uint64_t top)
{
	json_t *json = diff->json;

	diff->json = NULL;
	if (correct(json) && sort(json, "ops", top) && sort(json, "cpu", top) && sort(json, "peak", top) &&
	    sort(json, "unfreed", top) && sort(json, "allocated", top))
		return json;
	json_decref(json);
	return NULL;
}

void tp_diff_drop(struct tp_diff *diff)
{
	json_decref(diff->json);
	diff->json = NULL;
}
