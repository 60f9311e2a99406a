/* SPDX-License-Identifier: Apache-2.0 */
/* What two sides are put together from: which processes' growth is added up, and what a filter leaves out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "report/rows/diff.h"
#include "report/json/diff_json.h"
#include "site_runs.h"
#include "symbols/symbols.h"

#define STEPS 200u
#define MILLISECOND UINT64_C(1000000)

/* Each step, of a millisecond, leaks a block. */
static struct gen *leaking(uint32_t pid, bool steps, uint64_t size)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ .pid = pid, .chunk_size = 1 << 16 });

	for (uint32_t i = 0; i < STEPS; i++) {
		do_alloc(gen, 1, (i + 1) * MILLISECOND, 0x100000 + 0x1000 * (uint64_t)i, size, 1);
		if (steps)
			gen_step(gen, 1, (i + 1) * MILLISECOND + 10, 0);
	}
	gen_finish(gen, (STEPS + 1) * MILLISECOND, 0);
	return gen;
}

static void add_side(struct tpa_diff *diff, int side, const struct replayed *run)
{
	const struct tpa_symbols_options options = { 0 };
	struct tpa_symbols *symbols[4];

	for (size_t i = 0; i < run->count; i++) {
		symbols[i] = tpa_symbols_open(run->run->processes[i].trace, &options);
		assert_non_null(symbols[i]);
	}
	tpa_diff_add(diff, side, run->run, symbols);
	for (size_t i = 0; i < run->count; i++)
		tpa_symbols_close(symbols[i]);
}

/* A program with steps, and a helper without any that leaks as well: the helper's rate is one of seconds, and no part of it. */
static void test_unit_of_growth(void **state)
{
	const struct tpa_replay_options options = { .batches = true };
	struct tpa_diff diff;
	json_t *json;

	(void)state;
	tpa_diff_init(&diff, TPA_BY_MODULE, NULL);
	for (int side = 0; side < 2; side++) {
		struct replayed run = { .count = 0 };
		struct gen *trainer = leaking(10, true, side ? 300 : 100), *helper = leaking(11, false, 5000);

		add_trace(&run, helper);
		add_trace(&run, trainer);
		replay(&run, &options);
		for (size_t i = 0; i < 2; i++)
			assert_true(run.run->processes[i].growth.heap.leaks == 1);
		add_side(&diff, side, &run);
		close_replayed(&run);
		gen_free(trainer);
		gen_free(helper);
	}
	tpa_diff_test(&diff);
	assert_int_equal(diff.sites.growth_unit, 1);
	assert_int_equal(diff.sites.growth.count, 1);
	assert_float_equal(diff.sites.growth.list[0].side[0].runs.mean, 100, 1e-6);
	assert_float_equal(diff.sites.growth.list[0].side[1].runs.mean, 300, 1e-6);
	json = tpa_diff_json(&diff, (struct tpa_diff_choice){ 0, false });
	assert_string_equal(json_string_value(json_object_get(json_object_get(json, "growth"), "unit")), "bytes/step");
	json_decref(json);
	tpa_diff_free(&diff);
}

/* Two ops, and a stack of each in a module of its own; each op's samples there too. */
static struct gen *two_ops(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_header(gen)->cpu_period_ns = 1000;
	for (uint32_t i = 1; i <= 2; i++) {
		uint64_t now = 1000 * i;

		gen_module(gen, i, 0x10000 * i, 0x10000 * i, 0x10000 * i + 0x8000,
			   i == 1 ? "/lib/wanted.so" : "/lib/other.so");
		gen_frame(gen, i, i, 0x100, 0);
		gen_nodes(gen, NODE(i), TPROF_NODE_ROOT, &i, 1);
		gen_op(gen, i, TPROF_OP_ANNOTATION, "test", i == 1 ? "first" : "second");
		gen_op_begin(gen, 1, now, i);
		do_alloc(gen, 1, now + 10, 0x1000 * i, 100 * i, i);
		gen_sample(gen, 1, now + 20, NODE(i), 1);
		gen_op_end(gen, 1, now + 30, false);
	}
	gen_finish(gen, 9000, 0);
	return gen;
}

static const struct tpa_diff_row *row_named(const struct tpa_diff *diff, const struct tpa_diff_rows *rows,
					    const char *name)
{
	for (size_t i = 0; i < rows->count; i++) {
		char *text = tpa_named_whole(&diff->sites.names, rows->list[i].key);
		bool same = text && strcmp(text, name) == 0;

		free(text);
		if (same)
			return &rows->list[i];
	}
	return NULL;
}

static void test_filter_by_op(void **state)
{
	const struct tpa_replay_options options = { .batches = true };
	regex_t filter;

	(void)state;
	assert_int_equal(regcomp(&filter, "wanted", REG_EXTENDED | REG_NOSUB), 0);
	for (int filtered = 0; filtered < 2; filtered++) {
		struct replayed run = { .count = 0 };
		struct gen *gen = two_ops();
		struct tpa_diff diff;

		tpa_diff_init(&diff, TPA_BY_OP, filtered ? &filter : NULL);
		add_trace(&run, gen);
		replay(&run, &options);
		add_side(&diff, 0, &run);
		assert_non_null(row_named(&diff, &diff.sites.peak, "first"));
		assert_non_null(row_named(&diff, &diff.sites.cpu, "first"));
		assert_int_equal(!!row_named(&diff, &diff.sites.peak, "second"), !filtered);
		assert_int_equal(!!row_named(&diff, &diff.sites.allocated, "second"), !filtered);
		assert_int_equal(!!row_named(&diff, &diff.sites.cpu, "second"), !filtered);
		close_replayed(&run);
		gen_free(gen);
		tpa_diff_free(&diff);
	}
	regfree(&filter);
}

/* Of a row's value in one run of each side, an estimate. */
static void add_values(struct tpa_diff_rows *rows, const double *values, int side, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tpa_diff_amount amount = { values[i], values[i] > 0 ? 1 : 0, 1, 0 };

		tpa_diff_rows_add(rows, i, i, &amount);
	}
	tpa_diff_rows_end_run(rows, side, 1);
}

/* Of the larger side's sum a thousandth is tested, and less than that is not, unless a side has more. */
static void test_small_rows_are_not_tested(void **state)
{
	/* Old comes to 100,000, new to less. */
	const double old_values[] = { 99701, 100, 99, 0, 100 }, new_values[] = { 50000, 80, 80, 120, 99 };
	const bool tested[] = { true, true, false, true, true };

	(void)state;
	for (int all = 0; all < 2; all++) {
		struct tpa_diff_rows rows = { .small_too = all };

		add_values(&rows, old_values, 0, 5);
		add_values(&rows, new_values, 1, 5);
		tpa_diff_rows_test(&rows);
		for (size_t i = 0; i < 5; i++)
			assert_int_equal(!isnan(rows.list[i].corrected), all || tested[i]);
		tpa_diff_rows_free(&rows);
	}
}

/* A byte of a hundred million, or a block, makes a difference; the last digit of a mean of whole numbers does not. */
static void test_what_differs(void **state)
{
	const struct tpa_diff_side side = { .runs = { .count = 1, .mean = 1e8 }, .count = 3 };
	struct tpa_diff_row row = { .side = { side, side } };

	(void)state;
	assert_false(tpa_diff_differs(&row));
	row.side[1].runs.mean = 1e8 + 1e-2;
	assert_false(tpa_diff_differs(&row));
	row.side[1].runs.mean = 1e8 - 1;
	assert_true(tpa_diff_differs(&row));
	row.side[1] = side;
	row.side[1].count = 4;
	assert_true(tpa_diff_differs(&row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_of_growth),
		cmocka_unit_test(test_filter_by_op),
		cmocka_unit_test(test_small_rows_are_not_tested),
		cmocka_unit_test(test_what_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
