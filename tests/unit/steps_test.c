/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: what ends them, warm-up, time by op, and what was different in the slow ones; by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/replay/replay.h"
#include "model/replay/run.h"
#include "model/steps/step_ops.h"
#include "report/json/json.h"
#include "replayed.h"

enum { ENGINE = 1, FORWARD, LEAF };

static struct gen *new_gen(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0, .chunk_size = 1 << 16 });

	gen_op(gen, ENGINE, TPROF_OP_FUNCTION, "torch", "torch::autograd::Engine::execute");
	gen_op(gen, FORWARD, TPROF_OP_FUNCTION, "torch", "aten::linear");
	gen_op(gen, LEAF, TPROF_OP_FUNCTION, "blas", "sgemm");
	return gen;
}

static void call(struct gen *gen, uint64_t from, uint64_t to, uint32_t op, const char *shape)
{
	gen_op_begin(gen, 1, from, op);
	if (shape)
		gen_detail(gen, 1, from, 1, 0, shape);
	gen_op_end(gen, 1, to, false);
}

/* Twenty backward passes; a pass within a pass ends no step. */
static void test_autograd(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t t = 1000 + 100 * i;

		call(gen, t, t + 30, FORWARD, NULL);
		gen_op_begin(gen, 1, t + 40, ENGINE);
		call(gen, t + 50, t + 60, ENGINE, NULL);
		gen_op_end(gen, 1, t + 90, false);
	}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->steps.source, TPA_STEPS_AUTOGRAD);
	assert_int_equal(replayed.process->steps.count, 20);
	assert_int_equal(replayed.process->steps.first_ns, 1090);
	assert_int_equal((int)replayed.process->steps.durations.mean, 100);
	assert_string_equal(tpa_process_op_name(replayed.process, replayed.process->steps.anchor),
			    "torch::autograd::Engine::execute");
	assert_int_equal(replayed.process->steps.op_count, 2);
	assert_int_equal(replayed.process->steps.ops[0].self_ns / replayed.process->steps.summed, 50);
	done(&replayed);
}

static void forward_and_backward(struct gen *gen, uint64_t t)
{
	call(gen, t, t + 30, FORWARD, NULL);
	call(gen, t + 40, t + 90, ENGINE, NULL);
}

static void write_file(struct gen *gen, const char *name)
{
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);
	FILE *file = fopen(name, "we");

	assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* A trace that is followed has no pass yet, then ten, then 20. */
static void test_autograd_of_a_trace_that_grows(void **state)
{
	static const struct tpa_replay_options options = { .timeline_points = 8 };
	struct gen *gen = new_gen();
	struct tpa_run *run = calloc(1, sizeof(*run));
	const struct tpa_step_stats *steps;
	struct tpa_trace *trace;
	struct tpa_replay replay;
	char name[4096], *error = NULL;

	(void)state;
	call(gen, 100, 200, FORWARD, NULL);
	snprintf(name, sizeof(name), "%s", gen_save(gen));
	trace = tpa_trace_open(name, &error);
	assert_non_null(trace);
	tpa_replay_init(&replay, trace, &options, 0);
	tpa_replay_steps(&replay, SIZE_MAX);
	for (uint32_t i = 0; i < 20; i++) {
		forward_and_backward(gen, 1000 + 100 * i);
		if (i % 10 < 9)
			continue;
		write_file(gen, name);
		assert_true(tpa_replay_refresh(&replay, &error));
		tpa_replay_steps(&replay, SIZE_MAX);
	}
	assert_non_null(run);
	run->processes = calloc(1, sizeof(*run->processes));
	run->process_count = 1;
	tpa_replay_result(&replay, run->processes);
	steps = &run->processes->steps;
	assert_int_equal(steps->source, TPA_STEPS_AUTOGRAD);
	assert_int_equal(steps->count, 20);
	assert_int_equal(steps->first_ns, 1090);
	tpa_run_free(run);
	tpa_replay_free(&replay);
	unlink(name);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* The program's own word counts. */
static void test_marks_before_autograd(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		call(gen, 1000 + 200 * i, 1050 + 200 * i, ENGINE, NULL);
		call(gen, 1060 + 200 * i, 1090 + 200 * i, ENGINE, NULL);
		gen_step(gen, 1, 1100 + 200 * i, 0);
	}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->steps.source, TPA_STEPS_MARKED);
	assert_int_equal(replayed.process->steps.count, 10);
	done(&replayed);
}

/* Nobody says a word: three shapes of one op, over and over, on the thread that calls most. */
static void test_period(void **state)
{
	const struct tpa_replay_options find = { .find_steps = true };
	const struct tpa_step_stats *steps;
	struct replayed replayed;

	(void)state;
	for (uint32_t pass = 0; pass < 2; pass++) {
		struct gen *gen = new_gen();

		for (uint32_t i = 0; i < 50; i++) {
			uint64_t t = 1000 + 100 * i;

			call(gen, t, t + 10, LEAF, "1x1");
			call(gen, t + 20, t + 50, LEAF, "2x2");
			call(gen, t + 50, t + 60, LEAF, "3x3");
			call(gen, t + 60, t + 80, LEAF, "2x2");
			gen_op_begin(gen, 2, t + 85, FORWARD);
			gen_op_end(gen, 2, t + 86, false);
		}
		replayed = replay(gen, pass ? &find : NULL);
		steps = &replayed.process->steps;
		assert_int_equal(steps->source, pass ? TPA_STEPS_PERIOD : TPA_STEPS_NONE);
		assert_int_equal(steps->count, pass ? 50 : 0);
		if (pass) {
			assert_true(fabs(steps->calls - 4) < 1e-9);
			assert_true(steps->confidence > 0.999);
			assert_true(fabs(steps->durations.mean - 100) < 1e-9);
			assert_int_equal(steps->anchor, LEAF);
		}
		assert_int_equal(op_named(&replayed, "sgemm")->calls, 200); /* once, not once a pass */
		done(&replayed);
	}
}

/* What ended the steps that are asked for: the op's event, in the pass that found the period, or the STEP. */
static void test_ends(void **state)
{
	const struct tpa_replay_options ask = { .find_steps = true, .step_ends = { 7, 50 } };
	const struct tpa_replay_options beyond = { .step_ends = { 9000, 9001 } };
	struct gen *gen = new_gen();
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		uint64_t t = 1000 + 100 * i;

		call(gen, t, t + 10, LEAF, "1x1");
		call(gen, t + 20, t + 50, LEAF, "2x2");
		call(gen, t + 60, t + 80, FORWARD, "3x3");
	}
	replayed = replay(gen, &ask);
	assert_int_equal(replayed.process->steps.source, TPA_STEPS_PERIOD);
	assert_int_equal(replayed.process->steps.ends_ns[0], replayed.process->steps.list[6].end_ns);
	assert_int_equal(replayed.process->steps.ends_ns[1], replayed.process->steps.list[49].end_ns);
	done(&replayed);

	gen = new_gen();
	for (uint32_t i = 1; i <= 9000; i++)
		gen_step(gen, 1, 100 * i + i % 7, 0);
	replayed = replay(gen, &beyond);
	assert_int_equal(replayed.process->steps.ends_ns[0], 900000 + 9000 % 7);
	assert_int_equal(replayed.process->steps.ends_ns[1], 0);
	done(&replayed);
}

static void test_no_period(void **state)
{
	const struct tpa_replay_options find = { .find_steps = true };
	struct gen *gen = new_gen();
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		call(gen, 1000 + 100 * i, 1050 + 100 * i, LEAF, "1x1");
	replayed = replay(gen, &find);
	assert_int_equal(replayed.process->steps.source, TPA_STEPS_NONE);
	assert_int_equal(replayed.process->steps.count, 0);
	done(&replayed);
}

/* 500, 300, then 40 of 100: two are warm-up; 16 items each in the rest. */
static void test_warmup(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_step_stats *steps;
	struct replayed replayed;
	uint64_t t = 800;
	json_t *json;

	(void)state;
	gen_step(gen, 1, 500, 1000);
	gen_step(gen, 1, 800, 2000);
	for (uint32_t i = 0; i < 40; i++)
		gen_step(gen, 1, t += 100, 16);
	replayed = replay(gen, NULL);
	steps = &replayed.process->steps;
	assert_int_equal(steps->warmup, 2);
	assert_int_equal(steps->warmup_ns, 800);
	assert_int_equal(steps->durations.count, 40);
	assert_int_equal((int)steps->durations.mean, 100);
	assert_int_equal(steps->items, 3640);
	assert_int_equal(steps->rest_items, 640);
	json = tpa_steps_json(replayed.process, NULL, 0);
	assert_float_equal(json_real_value(json_object_get(json, "items_per_s")), 16 / 100e-9, 1);
	json_decref(json);
	assert_int_equal(steps->outlier_count, 1); /* the second: what warms up took longer too */
	done(&replayed);
}

/* Items of the warm-up alone are no rate of the rest. */
static void test_items_of_the_warmup(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;
	json_t *json;

	(void)state;
	gen_step(gen, 1, 500, 1000);
	for (uint32_t i = 1; i <= 40; i++)
		gen_step(gen, 1, 500 + 100 * (uint64_t)i, 0);
	replayed = replay(gen, NULL);
	json = tpa_steps_json(replayed.process, NULL, 0);
	assert_int_equal(json_integer_value(json_object_get(json, "items")), 1000);
	assert_true(json_is_null(json_object_get(json, "items_per_s")));
	json_decref(json);
	done(&replayed);
}

/*
 * 41 steps of 100 with 60 in the op and a block of 10 bytes. One takes 500, 300 of them in the op and 140 outside, with
 * three blocks of 100 more and 7 samples of another thread.
 */
static void test_outlier(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_step_outlier *outlier;
	struct replayed replayed;
	uint64_t t = 0;

	(void)state;
	for (uint32_t i = 1; i <= 41; i++) {
		bool slow = i == 21;

		call(gen, t + 10, t + (slow ? 310 : 70), LEAF, NULL);
		allocate(gen, 1, t + (slow ? 320 : 80), 0x10000 + 64 * i, 10);
		for (uint32_t k = 0; slow && k < 3; k++)
			allocate(gen, 1, t + 330 + k, 0x90000 + 128 * k, 100);
		if (slow)
			gen_sample(gen, 2, t + 340, TPROF_NODE_NONE, 7);
		if (slow) /* an op that other steps do not call */
			call(gen, t + 350, t + 410, FORWARD, NULL);
		gen_step(gen, 1, t += slow ? 500 : 100, 0);
	}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->steps.outlier_count, 1);
	outlier = &replayed.process->steps.outliers[0];
	assert_int_equal(outlier->step, 21);
	assert_int_equal(outlier->ns, 500);
	/* Averages are over 40 steps, itself among them: (39 * 60 + 300) / 40 = 66, 60 / 40 = 1, and (39 * 40 + 140) / 40. */
	assert_int_equal(outlier->ops[0].op, LEAF);
	assert_int_equal(outlier->ops[0].ns, 300 - 66);
	assert_int_equal(outlier->ops[1].op, FORWARD);
	assert_int_equal(outlier->ops[1].ns, 60 - 1);
	assert_int_equal(outlier->ops[2].ns, 0);
	assert_int_equal(outlier->outside_ns, 140 - 42);
	assert_int_equal(outlier->allocations, 4 - 1);
	assert_int_equal(outlier->allocated_bytes, 310 - (40 * 10 + 300) / 40);
	assert_int_equal(outlier->cpu_periods, 7);
	done(&replayed);
}

/* What the kernel counted in a step: minor and major faults, waits, preemptions, CPU time of all and of the thread. */
static void count(uint64_t *counts, const uint64_t *in_step)
{
	for (int i = 0; i < 6; i++)
		counts[i] += in_step[i];
}

/*
 * 41 steps of 1000, in each 10 faults, a wait, 800 of CPU time, 700 of it the thread's own. One takes 5000, with 410 faults,
 * 4 of them major, 21 waits, 40 preemptions, 4800 of CPU time, 1000 its own. `late`: when the counts of its end were read.
 */
static struct replayed outlier_by_counts(uint64_t late, uint32_t other_thread)
{
	static const uint64_t usual[6] = { 10, 0, 1, 0, 800, 700 }, slow[6] = { 410, 4, 21, 40, 4800, 1000 };
	uint64_t counts[6] = { 100, 0, 0, 0, 5000, 5000 }, t = 0;
	struct gen *gen = new_gen();

	for (uint32_t i = 1; i <= 41; i++) {
		uint32_t thread = i == 21 ? other_thread : 1;

		t += i == 21 ? 5000 : 1000;
		count(counts, i == 21 ? slow : usual);
		gen_usage(gen, thread, i == 21 ? t - late : t, counts);
		gen_step(gen, thread, t, 0);
	}
	return replay(gen, NULL);
}

static void test_usage(void **state)
{
	struct replayed replayed = outlier_by_counts(0, 1);
	const struct tpa_step_outlier *outlier = &replayed.process->steps.outliers[0];

	(void)state;
	assert_int_equal(replayed.process->steps.outlier_count, 1);
	assert_true(outlier->usage_known && outlier->own_known);
	/* Averages of 40: (39 * 10 + 410) / 40 = 20, 4 / 40 = 0, (39 + 21) / 40 = 1, 40 / 40 = 1. */
	assert_int_equal(outlier->minor_faults, 410 - 20);
	assert_int_equal(outlier->major_faults, 4);
	assert_int_equal(outlier->waits, 21 - 1);
	assert_int_equal(outlier->preemptions, 40 - 1);
	/* (39 * 800 + 4800) / 40 = 900, of it its own (39 * 700 + 1000) / 40 = 707; the rest of 1100 it did not run. */
	assert_int_equal(outlier->cpu_ns, 4800 - 900);
	assert_int_equal(outlier->others_cpu_ns, 4800 - 900 - (1000 - 707));
	assert_int_equal(outlier->waited_ns, 5000 - 1100 - (1000 - 707));
	done(&replayed);

	replayed = outlier_by_counts(500, 1); /* a tenth of it: near enough */
	assert_true(replayed.process->steps.outliers[0].usage_known);
	done(&replayed);
	replayed = outlier_by_counts(501, 1);
	assert_false(replayed.process->steps.outliers[0].usage_known);
	done(&replayed);
	/* Another thread ended the step: what is its own is not known, and all threads' is. */
	replayed = outlier_by_counts(0, 2);
	assert_true(replayed.process->steps.outliers[0].usage_known);
	assert_false(replayed.process->steps.outliers[0].own_known);
	assert_int_equal(replayed.process->steps.outliers[0].cpu_ns, 3900);
	done(&replayed);
}

/* Of many outliers the slowest are kept. */
static void test_slowest(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;
	uint64_t t = 0;

	(void)state;
	for (uint32_t i = 1; i <= 200; i++)
		gen_step(gen, 1, t += i % 10 ? 100 : 1000 + i, 0);
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->steps.outlier_count, TPA_STEP_SLOWEST);
	for (uint32_t i = 0; i < TPA_STEP_SLOWEST; i++) {
		assert_int_equal(replayed.process->steps.outliers[i].step, 200 - 10 * i);
		assert_int_equal(replayed.process->steps.outliers[i].ns, 1200 - 10 * i);
	}
	done(&replayed);
}

/* Steps of 100 and 200 by turns: Q1 and Q3 are these, and beyond 200 + 1.5 * 100 is what is told. */
static void test_fence(void **state)
{
	(void)state;
	for (uint32_t slow = 330; slow <= 370; slow += 40) {
		struct gen *gen = new_gen();
		struct replayed replayed;
		uint64_t t = 0;

		for (uint32_t i = 1; i <= 81; i++)
			gen_step(gen, 1, t += i == 41 ? slow : i % 2 ? 100 : 200, 0);
		replayed = replay(gen, NULL);
		assert_int_equal(replayed.process->steps.outlier_count, slow > 350);
		done(&replayed);
	}
}

/*
 * Stack 20 holds a block of the very end of step 2 at the peak and in the end; 21 had one of step 1 and, that freed, one of
 * step 3 at the peak in step 3; 22 leaks one in each of steps 1 to 4.
 */
static void test_births(void **state)
{
	const uint32_t frames[] = { 1, 2, 3 };
	struct gen *gen = new_gen();
	struct replayed replayed;
	uint32_t met = 0;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		gen_frame(gen, i, 0, 0x1000 * i, 0);
	gen_nodes(gen, 20, TPROF_NODE_ROOT, &frames[0], 1);
	gen_nodes(gen, 21, TPROF_NODE_ROOT, &frames[1], 1);
	gen_nodes(gen, 22, TPROF_NODE_ROOT, &frames[2], 1);
	for (uint64_t i = 1; i <= 4; i++) {
		struct gen_alloc leak = { .address = 0x1000 + 64 * i, .size = 1, .node = 22 };
		struct gen_alloc early = { .address = 0x2000, .size = 10, .node = 21 };
		struct gen_alloc late = { .address = 0x3000, .size = 1000, .node = 21 };
		struct gen_alloc kept = { .address = 0x4000, .size = 100, .node = 20 };

		if (i == 4)
			gen_release(gen, 1, 100 * i + 5, 0x3000, TPROF_FN_FREE);
		gen_alloc(gen, 1, 100 * i + 10, &leak);
		if (i == 1)
			gen_alloc(gen, 1, 100 * i + 20, &early);
		if (i == 2) {
			gen_release(gen, 1, 100 * i + 20, 0x2000, TPROF_FN_FREE);
			gen_alloc(gen, 1, 100 * i + 100, &kept);
		}
		if (i == 3)
			gen_alloc(gen, 1, 100 * i + 20, &late);
		gen_step(gen, 1, 100 * i + 100, 0);
	}
	replayed = replay(gen, NULL);
	for (size_t i = 0; i < replayed.process->site_count; i++) {
		const struct tpa_site *site = &replayed.process->sites[i];
		uint32_t node = tpa_trace_file_node(replayed.process->trace, site->node);

		met |= 1u << (node - 20);
		if (node == 21) {
			assert_int_equal(site->peak_born.first, 3);
			assert_int_equal(site->peak_born.last, 3);
			continue;
		}
		assert_int_equal(site->peak_born.first, node == 20 ? 2 : 1);
		assert_int_equal(site->peak_born.last, node == 20 ? 2 : 3);
		assert_int_equal(site->live_born.first, node == 20 ? 2 : 1);
		assert_int_equal(site->live_born.last, node == 20 ? 2 : 4);
	}
	assert_int_equal(met, 7);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_autograd),
		cmocka_unit_test(test_autograd_of_a_trace_that_grows),
		cmocka_unit_test(test_marks_before_autograd),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_no_period),
		cmocka_unit_test(test_warmup),
		cmocka_unit_test(test_items_of_the_warmup),
		cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_slowest),
		cmocka_unit_test(test_births),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
