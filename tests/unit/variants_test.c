/* SPDX-License-Identifier: Apache-2.0 */
/* Runs side by side: pooled by program and arguments; their intervals hold step times that were put into traces. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "model/result/variants.h"
#include "normal.h"
#include "tracegen.h"

#define RUNS_MAX 8

struct compared {
	struct tpa_trace *traces[RUNS_MAX];
	struct tpa_run *runs[RUNS_MAX];
	size_t count, trace_count;
	struct tpa_variants variants;
};

static struct gen *new_gen(const char *arguments, size_t length)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_text(gen, TPROF_TEXT_EXE, "/bin/model", 10);
	gen_text(gen, TPROF_TEXT_ARGS, arguments, length);
	return gen;
}

static void open_trace(struct compared *compared, struct gen *gen)
{
	const char *name = gen_save(gen);
	char *error = NULL;

	compared->traces[compared->trace_count] = tpa_trace_open(name, &error);
	if (!compared->traces[compared->trace_count])
		fail_msg("%s", error);
	compared->trace_count++;
	unlink(name);
	gen_free(gen);
}

/* A run of one process, or of two. */
static void add_two(struct compared *compared, struct gen *gen, struct gen *other)
{
	struct tpa_trace **first = &compared->traces[compared->trace_count];
	struct tpa_run *run;

	open_trace(compared, gen);
	if (other)
		open_trace(compared, other);
	run = tpa_run_replay(first, other ? 2 : 1, &(struct tpa_replay_options){ 0 });
	assert_non_null(run);
	compared->runs[compared->count++] = run;
}

static void add(struct compared *compared, struct gen *gen)
{
	add_two(compared, gen, NULL);
}

static void make(struct compared *compared)
{
	tpa_variants_make(&compared->variants, (const struct tpa_run *const *)compared->runs, compared->count);
}

static void done(struct compared *compared)
{
	tpa_variants_free(&compared->variants);
	for (size_t i = 0; i < compared->count; i++)
		tpa_run_free(compared->runs[i]);
	for (size_t i = 0; i < compared->trace_count; i++)
		tpa_trace_close(compared->traces[i]);
	compared->count = compared->trace_count = 0;
}

static void call(struct gen *gen, uint32_t op, uint64_t begin, uint64_t end, uint64_t flop)
{
	gen_op_begin(gen, 1, begin, op);
	gen_detail(gen, 1, begin, flop, 0, "");
	gen_op_end(gen, 1, end, false);
}

static struct gen *two_ops(const char *arguments, size_t length, uint64_t scale)
{
	struct gen *gen = new_gen(arguments, length);

	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "one");
	gen_op(gen, 2, TPROF_OP_ANNOTATION, "layer", "two");
	gen_value(gen, "parameters", 100 * scale);
	call(gen, 1, 1000, 1000 + 100 * scale, 7);
	gen_step(gen, 1, 20000, 5);
	call(gen, 2, 30000, 30000 + 300 * scale, 9 * scale);
	gen_step(gen, 1, 30000 + 1000 * scale, 5);
	return gen;
}

static void test_pooling(void **state)
{
	struct compared compared = { .count = 0 };
	const struct tpa_variant *first, *second;

	(void)state;
	add(&compared, two_ops("model\0-a", 9, 1));
	add(&compared, two_ops("model\0-b", 9, 2));
	add(&compared, two_ops("model\0-a", 9, 3));
	make(&compared);
	assert_int_equal(compared.variants.count, 2);
	first = &compared.variants.list[0];
	second = &compared.variants.list[1];
	assert_int_equal(first->run_count, 2);
	assert_int_equal(second->parameters, 200);
	assert_true(fabs(first->step_ns - (11000 + 13000) / 2.0) < 1);
	assert_true(fabs(second->step_ns - 12000) < 1 && isnan(second->step_interval.low));
	/* Two runs of 11 and 13 us: mean 12, t(0.975, 1) = 12.706, s / sqrt(2) = 1. */
	assert_true(fabs(first->step_interval.high - 12000 - 12706.2) < 1);
	assert_true(fabs(first->flop_per_step - (9 + 27) / 2.0) < 1e-9 && fabs(first->items_per_step - 5) < 1e-9);
	assert_int_equal(tpa_variant_op(first, "one", "")->sum.calls, 2);
	assert_int_equal(tpa_variant_op(first, "one", "")->sum.self_flop, 14);
	assert_null(tpa_variant_op(first, "one", "layer"));
	assert_true(fabs(tpa_variant_op(first, "two", "layer")->share - 0.75) < 0.01);
	assert_string_equal(first->ops[0].sum.name, "two");
	done(&compared);
}

/* A worker of the second run: its ops and memory are the run's, its steps and arguments are not looked at. */
static void test_processes_of_a_run(void **state)
{
	struct compared compared = { .count = 0 };
	const struct tpa_variant *variant;
	struct gen *worker;

	(void)state;
	add(&compared, two_ops("model\0-a", 9, 1));
	worker = gen_new(&(struct gen_options){ .start_ticks = 0, .pid = 5000, .start_unix_ns = 50 });
	gen_op(worker, 1, TPROF_OP_ANNOTATION, "", "load");
	call(worker, 1, 1000, 1400, 3);
	gen_alloc(worker, 1, 2000, &(struct gen_alloc){ .address = 4096, .size = 777 });
	gen_finish(worker, 3000, 0);
	add_two(&compared, two_ops("model\0-a", 9, 3), worker);
	make(&compared);
	assert_int_equal(compared.variants.count, 1);
	variant = &compared.variants.list[0];
	assert_int_equal(variant->run_count, 2);
	assert_true(fabs(variant->step_ns - (11000 + 13000) / 2.0) < 1);
	assert_true(fabs(variant->step_interval.high - 12000 - 12706.2) < 1);
	assert_int_equal(tpa_variant_op(variant, "one", "")->sum.calls, 2);
	assert_int_equal(tpa_variant_op(variant, "load", "")->sum.calls, 1);
	assert_int_equal(variant->peak_bytes, 777);
	assert_int_equal(variant->parameters, 100);
	done(&compared);
}

/* Steps of 1 ms and a deviation of 5%; every run is off by up to `run_deviation` as a whole. */
static struct gen *steps(int count, double run_deviation)
{
	struct gen *gen = new_gen("model", 6);
	double speed = 1 + run_deviation * normal(), ticks = 0;

	for (int i = 0; i <= count; i++) { /* the first step does not count, whatever it is */
		ticks += i ? 1e6 * (speed + 0.05 * normal()) : 9e6;
		gen_step(gen, 1, (uint64_t)ticks, 1);
	}
	return gen;
}

static int covered(int trials, int runs, int count, double run_deviation)
{
	int inside = 0;

	for (int trial = 0; trial < trials; trial++) {
		struct compared compared = { .count = 0 };
		struct tpa_interval interval;

		for (int i = 0; i < runs; i++)
			add(&compared, steps(count, run_deviation));
		make(&compared);
		interval = compared.variants.list[0].step_interval;
		inside += interval.low <= 1e6 && 1e6 <= interval.high;
		done(&compared);
	}
	return inside;
}

/* 95 of 100, but for three standard deviations of such a count (6 of 200). */
static void test_intervals_cover(void **state)
{
	int one, several;

	(void)state;
	one = covered(200, 1, 30, 0);
	several = covered(200, 5, 10, 0.1);
	print_message("of 200 intervals hold the truth: one run %d, five runs %d\n", one, several);
	assert_true(one >= 181 && several >= 181);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pooling),
		cmocka_unit_test(test_processes_of_a_run),
		cmocka_unit_test(test_intervals_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
