/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: counted by the model, put together into rows, with intervals; the truth is worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "model/stats/stats.h"
#include "report/rows/cpu_rows.h"
#include "report/rows/tree.h"

#include "folder.h"
#include "tracegen.h"

enum { MAIN = 16, F = 17, G = 18, REC1 = 19, REC2 = 20, REC3 = 21 };

struct sampled {
	struct tpa_trace *trace;
	struct tpa_run *run;
	struct tpa_symbols *symbols;
};

static void close_sampled(struct sampled *sampled)
{
	tpa_symbols_close(sampled->symbols);
	tpa_run_free(sampled->run);
	tpa_trace_close(sampled->trace);
}

/* Stacks as code of a JIT compiler, whose names are in a file: g < f < main, rec < rec < rec < main. */
static void write_stacks(struct gen *gen)
{
	static const char *const names[] = { "main", "f", "g(int)", "rec" };
	const uint32_t chain[] = { 1, 2, 3 }, recursion[] = { 4, 4, 4 };
	char path[200];
	FILE *out;

	snprintf(path, sizeof(path), "%s/perf-4711.map", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	for (uint32_t i = 0; i < 4; i++) {
		fprintf(out, "%x00 10 %s\n", i + 1, names[i]);
		gen_frame(gen, i + 1, 0, (uint64_t)(i + 1) << 8, TPROF_FRAME_EXACT);
	}
	fclose(out);
	gen_nodes(gen, MAIN, TPROF_NODE_ROOT, chain, 3);
	gen_nodes(gen, REC1, MAIN, recursion, 3);
}

/*
 * Ten samples of twelve periods: main 1, f 2, g 5 (one of them of three periods, one of thread 2), rec 2. The squares
 * of the periods sum up to 18, so shares are as good as those of 144 / 18 = 8 samples.
 */
static void write_samples(struct gen *gen)
{
	gen_sample(gen, 1, 1000, MAIN, 1);
	gen_sample(gen, 1, 2000, F, 1);
	gen_sample(gen, 1, 3000, F, 1);
	gen_sample(gen, 1, 4000, G, 1);
	gen_sample(gen, 1, 5000, G, 1);
	gen_sample(gen, 1, 6000, G, 3);
	gen_sample(gen, 1, 7000, G, 1);
	gen_sample(gen, 2, 7500, G, 1);
	gen_sample(gen, 1, 8000, REC3, 1);
	gen_sample(gen, 1, 9000, REC3, 1);
}

static void make(struct sampled *sampled, bool samples, const struct tpa_replay_options *options)
{
	struct tpa_symbols_options symbols_options = { .debug_dir = folder };
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	const char *name;
	char *error = NULL;

	gen_header(gen)->cpu_period_ns = 1000;
	write_stacks(gen);
	if (samples)
		write_samples(gen);
	gen_finish(gen, 10000, 0);
	name = gen_save(gen);
	sampled->trace = tpa_trace_open(name, &error);
	assert_non_null(sampled->trace);
	unlink(name);
	gen_free(gen);
	sampled->run = tpa_run_replay(&sampled->trace, 1, options);
	assert_non_null(sampled->run);
	sampled->symbols = tpa_symbols_open(sampled->trace, &symbols_options);
	assert_non_null(sampled->symbols);
}

static struct tpa_cpu_rows *rows_of(const struct sampled *sampled, const struct tpa_cpu_options *options)
{
	struct tpa_cpu_builder *builder = tpa_cpu_rows_begin(options);

	assert_non_null(builder);
	tpa_cpu_rows_add(builder, &sampled->run->processes[0], 0, sampled->symbols);
	return tpa_cpu_rows_end(builder);
}

/* The row of a function; NULL is a row without one. */
static const struct tpa_cpu_row *row_of(const struct tpa_cpu_rows *rows, const char *function)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tpa_location *location = rows->rows[i].line.location;

		if (function ? location && strcmp(location->function, function) == 0 : !location)
			return &rows->rows[i];
	}
	fail_msg("no row of %s", function ? function : "(none)");
	return NULL;
}

static void near(double value, double wanted)
{
	if (value < wanted - 5e-5 || value > wanted + 5e-5)
		fail_msg("%f instead of %f", value, wanted);
}

/* ---- tests ---- */

/* Values as other programs give them, to four digits. */
static void wilson(void **state)
{
	static const double truth[][4] = { { 10, 100, 0.0552, 0.1744 }, { 5, 10, 0.2366, 0.7634 }, { 0, 10, 0, 0.2775 },
					   { 10, 10, 0.7225, 1 },	{ 1, 2, 0.0945, 0.9055 },  { 0, 0, 0, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		struct tpa_interval interval = tpa_interval_share(truth[i][0], truth[i][1]);

		near(interval.low, truth[i][2]);
		near(interval.high, truth[i][3]);
	}
}

static void counts(void **state)
{
	const struct tpa_process *process;
	struct sampled sampled;

	(void)state;
	make(&sampled, true, NULL);
	process = &sampled.run->processes[0];
	assert_int_equal(process->cpu.samples, 10);
	assert_int_equal(process->cpu.periods, 12);
	assert_true(process->cpu.squares == 18);
	assert_int_equal(tpa_cpu_ns(process, &process->cpu), 12000);
	assert_int_equal(process->cpu_site_count, 5); /* g of two threads */
	assert_int_equal(process->threads[0].cpu.periods, 11);
	assert_int_equal(process->threads[1].cpu.periods, 1);
	assert_int_equal(process->heap.allocations, 0);
	close_sampled(&sampled);
}

static void windows_and_threads(void **state)
{
	struct tpa_replay_options thread = { .thread = 2 }, window = { .from_ns = 3500, .to_ns = 6500 };
	struct sampled sampled;

	(void)state;
	make(&sampled, true, &thread);
	assert_int_equal(sampled.run->processes[0].cpu.samples, 1);
	close_sampled(&sampled);
	make(&sampled, true, &window);
	assert_int_equal(sampled.run->processes[0].cpu.samples, 3);
	assert_int_equal(sampled.run->processes[0].cpu.periods, 5);
	close_sampled(&sampled);
}

static void by_function(void **state)
{
	struct tpa_cpu_options options = { .by = TPA_BY_FUNCTION };
	struct tpa_interval interval;
	struct tpa_cpu_rows *rows;
	struct sampled sampled;

	(void)state;
	make(&sampled, true, NULL);
	rows = rows_of(&sampled, &options);
	assert_int_equal(rows->count, 4);
	assert_string_equal(rows->rows[0].line.location->function, "g(int)");
	assert_int_equal(row_of(rows, "g(int)")->self.samples, 5);
	assert_int_equal(row_of(rows, "g(int)")->self_ns, 7000);
	assert_int_equal(row_of(rows, "main")->self.periods, 1);
	assert_int_equal(row_of(rows, "main")->total.periods, 12);
	assert_int_equal(row_of(rows, "main")->total_ns, 12000);
	assert_int_equal(row_of(rows, "f")->self.periods, 2);
	assert_int_equal(row_of(rows, "f")->total.periods, 9);
	/* Recursion: once a stack. */
	assert_int_equal(row_of(rows, "rec")->self.samples, 2);
	assert_int_equal(row_of(rows, "rec")->total.samples, 2);
	near(tpa_cpu_share(rows, &row_of(rows, "g(int)")->self), 7.0 / 12);
	interval = tpa_cpu_interval(rows, &row_of(rows, "rec")->self); /* 1/6 of 8 */
	near(interval.low, 0.0366);
	near(interval.high, 0.5130);
	tpa_cpu_rows_free(rows);
	close_sampled(&sampled);
}

static void relations(void **state)
{
	struct tpa_cpu_options callers = { .relation = TPA_RELATION_CALLERS, .function = "rec" };
	struct tpa_cpu_options callees = { .relation = TPA_RELATION_CALLEES, .function = "f" };
	struct tpa_cpu_options shortened = { .relation = TPA_RELATION_CALLERS, .function = "g" };
	struct tpa_cpu_options unknown = { .relation = TPA_RELATION_CALLERS, .function = "re" };
	struct tpa_cpu_rows *rows;
	struct sampled sampled;

	(void)state;
	make(&sampled, true, NULL);
	rows = rows_of(&sampled, &callers);
	assert_int_equal(rows->all.samples, 2);
	assert_int_equal(rows->count, 2);
	assert_int_equal(row_of(rows, "main")->total.samples, 2);
	assert_int_equal(row_of(rows, "rec")->total.samples, 2);
	tpa_cpu_rows_free(rows);
	rows = rows_of(&sampled, &callees);
	assert_int_equal(rows->all.periods, 9);
	assert_int_equal(row_of(rows, "g(int)")->total.periods, 7);
	assert_int_equal(row_of(rows, NULL)->total.periods, 2);
	tpa_cpu_rows_free(rows);
	rows = rows_of(&sampled, &shortened);
	assert_int_equal(row_of(rows, "f")->total.periods, 7);
	tpa_cpu_rows_free(rows);
	rows = rows_of(&sampled, &unknown);
	assert_int_equal(rows->all.samples + rows->count, 0);
	tpa_cpu_rows_free(rows);
	close_sampled(&sampled);
}

static void by_thread_and_stack(void **state)
{
	struct tpa_cpu_options by_thread = { .by = TPA_BY_THREAD }, by_stack = { .by = TPA_BY_STACK };
	struct tpa_cpu_rows *rows;
	struct sampled sampled;

	(void)state;
	make(&sampled, true, NULL);
	rows = rows_of(&sampled, &by_thread);
	assert_int_equal(rows->count, 2);
	assert_int_equal(rows->rows[0].thread, 1);
	assert_int_equal(rows->rows[0].self.periods, 11);
	tpa_cpu_rows_free(rows);
	rows = rows_of(&sampled, &by_stack);
	assert_int_equal(rows->count, 4);
	assert_int_equal(rows->rows[0].node, G);
	assert_int_equal(rows->rows[0].self.periods, 7);
	tpa_cpu_rows_free(rows);
	close_sampled(&sampled);
}

static void filters(void **state)
{
	struct tpa_cpu_options options = { .by = TPA_BY_FUNCTION };
	struct tpa_cpu_rows *rows;
	struct sampled sampled;
	regex_t filter;

	(void)state;
	make(&sampled, true, NULL);
	assert_int_equal(regcomp(&filter, "rec", REG_EXTENDED | REG_NOSUB), 0);
	options.filter = &filter;
	rows = rows_of(&sampled, &options);
	assert_int_equal(rows->count, 2);
	assert_int_equal(row_of(rows, "main")->total.samples, 2);
	assert_int_equal(rows->all.periods, 12); /* shares stay shares of all */
	tpa_cpu_rows_free(rows);
	regfree(&filter);
	close_sampled(&sampled);
}

static void nothing(void **state)
{
	struct tpa_cpu_options options = { .by = TPA_BY_FUNCTION };
	struct tpa_cpu_rows *rows;
	struct sampled sampled;

	(void)state;
	make(&sampled, false, NULL);
	assert_int_equal(sampled.run->processes[0].cpu.samples, 0);
	rows = rows_of(&sampled, &options);
	assert_int_equal(rows->count, 0);
	assert_true(tpa_cpu_share(rows, &rows->all) == 0);
	tpa_cpu_rows_free(rows);
	close_sampled(&sampled);
}

static void tree_of_nanoseconds(void **state)
{
	struct tpa_tree_options options = { .what = TPA_WHAT_CPU };
	struct tpa_tree *tree = tpa_tree_new();
	struct sampled sampled;

	(void)state;
	make(&sampled, true, NULL);
	tpa_tree_add(tree, &sampled.run->processes[0], sampled.symbols, &options);
	tpa_tree_finish(tree);
	assert_int_equal(tree->nodes[0].bytes, 12000);
	assert_int_equal(tree->nodes[0].calls, 10);
	assert_int_equal(tree->depth, 4); /* main, rec, rec, rec */
	tpa_tree_free(tree);
	close_sampled(&sampled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wilson),      cmocka_unit_test(counts),    cmocka_unit_test(windows_and_threads),
		cmocka_unit_test(by_function), cmocka_unit_test(relations), cmocka_unit_test(by_thread_and_stack),
		cmocka_unit_test(filters),     cmocka_unit_test(nothing),   cmocka_unit_test(tree_of_nanoseconds),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
