/* SPDX-License-Identifier: Apache-2.0 */
/* Folded calls and typed work in the model: as if each call had been recorded by itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "tracegen.h"

enum { OUTER = 1, HOT = 2 };

struct replayed {
	struct tpa_trace *trace;
	struct tpa_run *run;
};

static struct gen *new_gen(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_op(gen, OUTER, TPROF_OP_FUNCTION, "blas", "sgemv");
	gen_op(gen, HOT, TPROF_OP_FUNCTION, "blas", "sdot");
	return gen;
}

static struct replayed replay(struct gen *gen)
{
	const char *name = gen_save(gen);
	struct replayed replayed;
	char *error = NULL;

	replayed.trace = tpa_trace_open(name, &error);
	assert_non_null(replayed.trace);
	unlink(name);
	assert_int_equal(replayed.trace->damage_count, 0);
	replayed.run = tpa_run_replay(&replayed.trace, 1, NULL);
	assert_non_null(replayed.run);
	gen_free(gen);
	return replayed;
}

static void done(struct replayed *replayed)
{
	tpa_run_free(replayed->run);
	tpa_trace_close(replayed->trace);
}

static const struct tpa_op_stats *op_named(const struct replayed *replayed, const char *name)
{
	const struct tpa_process *process = &replayed->run->processes[0];

	for (size_t i = 0; i < process->op_count; i++)
		if (strcmp(process->ops[i].name, name) == 0)
			return &process->ops[i];
	fail_msg("no op %s", name);
	return NULL;
}

static const struct gen_work dot = { TPROF_WORK_DOT, TPROF_DTYPE_F32, 0, { 10 }, 1 };

/* Clock and ticks are nanoseconds: 100 calls within one of the outer op, that takes 50,000. */
static void within_another_op(void **state)
{
	struct tprof_fold counts = { .ticks = 20000, .units = 1000, .calls = 100, .min = 150, .max = 1000 };
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(150)] = 60;
	counts.histogram[tprof_fold_bucket(200)] = 39;
	counts.histogram[tprof_fold_bucket(1000)] = 1;
	gen_op_begin(gen, 1, 1000, OUTER);
	gen_fold(gen, 1, 1100, HOT, &dot, &counts);
	gen_op_end(gen, 1, 51000, false);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->calls, 100);
	assert_int_equal(op->folded, 100);
	assert_int_equal(op->total_ns, 20000);
	assert_int_equal(op->self_ns, 20000);
	assert_int_equal(op->min_ns, 150);
	assert_int_equal(op->max_ns, 1000);
	assert_in_range(op->p50_ns, 150, 160);
	assert_in_range(op->p90_ns, 190, 224);
	assert_int_equal(op->flop, 2000);
	assert_int_equal(op->bytes, 8000);
	assert_int_equal(op->shape_count, 1);
	assert_string_equal(op->shapes[0].text, "n=10");
	assert_int_equal(op->shapes[0].calls, 100);
	op = op_named(&replayed, "sgemv");
	assert_int_equal(op->total_ns, 50000);
	assert_int_equal(op->self_ns, 30000);
	assert_int_equal(op->flop, 2000); /* it said nothing itself: its parts' */
	done(&replayed);
}

/* Some calls with events of their own, some folded, some without a known work. */
static void together_with_others(void **state)
{
	struct tprof_fold counts = { .ticks = 900, .units = 37, .calls = 3, .min = 200, .max = 400 };
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(200)] = counts.histogram[tprof_fold_bucket(300)] =
		counts.histogram[tprof_fold_bucket(400)] = 1;
	counts.flags = TPROF_FOLD_MIXED;
	gen_op_begin(gen, 1, 1000, HOT);
	gen_work(gen, 1, 1000, &dot);
	gen_op_end(gen, 1, 1500, false);
	gen_fold(gen, 1, 2000, HOT, &dot, &counts);
	gen_fold(gen, 1, 3000, HOT, NULL, &counts);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->calls, 7);
	assert_int_equal(op->folded, 6);
	assert_int_equal(op->total_ns, 500 + 900 + 900);
	assert_int_equal(op->flop, 20 + 74);
	assert_int_equal(op->min_ns, 200);
	assert_int_equal(op->max_ns, 500);
	assert_int_equal(op->shape_count, 2);
	assert_string_equal(op->shapes[1].text, "n=8..15");
	assert_int_equal(op->shapes[1].flop, 74);
	done(&replayed);
}

/* Calls of an op within one of its own: what they took is in that one's total already. */
static void within_the_same_op(void **state)
{
	struct tprof_fold counts = { .ticks = 500, .units = 30, .calls = 3, .min = 100, .max = 300 };
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(100)] = 2;
	counts.histogram[tprof_fold_bucket(300)] = 1;
	gen_op_begin(gen, 1, 1000, HOT);
	gen_work(gen, 1, 1000, &dot);
	gen_fold(gen, 1, 1500, HOT, &dot, &counts);
	gen_op_end(gen, 1, 3000, false);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->calls, 4);
	assert_int_equal(op->total_ns, 2000);
	assert_int_equal(op->self_ns, 2000);
	assert_int_equal(op->shape_count, 1);
	assert_int_equal(op->shapes[0].calls, 4);
	assert_int_equal(op->shapes[0].total_ns, 2000);
	done(&replayed);
}

static uint64_t any(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* Calls of 100 to 227 ns, some of them of 1,000: each is timed with a chance of one in 16. Returns the true sum. */
static uint64_t draw_share(uint64_t *random, uint32_t calls, struct tprof_fold *counts)
{
	uint64_t sum = 0;

	*counts = (struct tprof_fold){
		.units = 10 * calls, .calls = calls, .min = UINT32_MAX, .flags = TPROF_FOLD_SHARE
	};
	for (uint32_t i = 0; i < calls; i++) {
		uint32_t ns = any(random) % 20 ? 100 + (uint32_t)(any(random) % 128) : 1000;

		sum += ns;
		if (any(random) % 16)
			continue;
		counts->ticks += ns;
		counts->min = ns < counts->min ? ns : counts->min;
		counts->max = ns > counts->max ? ns : counts->max;
		counts->histogram[tprof_fold_bucket(ns)]++;
	}
	return sum;
}

/* Of 400 estimates 95% have the truth within their interval, for the op itself and for what is around it. */
static void a_share_is_timed(void **state)
{
	uint64_t random = 88172645463325252u, held = 0, held_outer = 0, sum = 0, truth = 0;

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		struct gen *gen = new_gen();
		struct replayed replayed;
		const struct tpa_op_stats *op;
		struct tprof_fold counts;
		uint64_t true_ns = draw_share(&random, 4000, &counts), outer_ns = true_ns + 1000000;

		gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
		gen_op_begin(gen, 1, 1000, OUTER);
		gen_fold(gen, 1, 1100, HOT, &dot, &counts);
		gen_op_end(gen, 1, 1000 + outer_ns, false);
		replayed = replay(gen);
		op = op_named(&replayed, "sdot");
		assert_int_equal(op->calls, 4000);
		assert_int_equal(op->flop, 80000);
		assert_int_equal(op->shapes[0].calls, 4000);
		assert_true(op->untimed > 3500 && op->untimed < 4000);
		held += fabs((double)op->total_ns - (double)true_ns) < TPA_NORMAL_95 * sqrt(op->total_variance);
		sum += op->total_ns;
		truth += true_ns;
		op = op_named(&replayed, "sgemv");
		assert_int_equal(op->total_ns, outer_ns);
		held_outer += fabs((double)op->self_ns - 1000000) < TPA_NORMAL_95 * sqrt(op->self_variance);
		done(&replayed);
	}
	/* 380 of 400 with a deviation of 4.4; some more are missed where few of the long ones were drawn. */
	assert_in_range(held, 360, 396);
	assert_int_equal(held_outer, held);
	assert_true(fabs((double)sum / (double)truth - 1) < 0.005);
}

/* Of 20 calls and of 100 the same ten were timed: what is not known goes with all calls times those that nobody timed. */
static void the_fewer_are_timed(void **state)
{
	double variance[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct tprof_fold counts = {
			.ticks = 2000, .calls = i ? 100 : 20, .min = 100, .max = 300, .flags = TPROF_FOLD_SHARE
		};
		struct gen *gen = new_gen();
		struct replayed replayed;

		counts.histogram[tprof_fold_bucket(100)] = counts.histogram[tprof_fold_bucket(300)] = 5;
		gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
		gen_fold(gen, 1, 1100, HOT, NULL, &counts);
		replayed = replay(gen);
		variance[i] = op_named(&replayed, "sdot")->total_variance;
		done(&replayed);
	}
	assert_true(fabs(variance[1] / variance[0] - 100. * 90 / (20 * 10)) < 1e-9);
}

/* One call in four is twice as long: nobody of a record that timed none of its own can know, but the op's others do. */
static void a_share_without_any_timed(void **state)
{
	struct tprof_fold counts = { .ticks = 1000, .units = 80, .calls = 8, .min = 100, .max = 200 }, none = {
		.units = 30,
		.calls = 3,
		.min = UINT32_MAX,
		.flags = TPROF_FOLD_SHARE,
	};
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(100)] = 6;
	counts.histogram[tprof_fold_bucket(200)] = 2;
	gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
	gen_fold(gen, 1, 1000, HOT, &dot, &counts);
	gen_fold(gen, 1, 9000, HOT, &dot, &none);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->calls, 11);
	assert_int_equal(op->untimed, 3);
	assert_int_equal(op->flop, 220);
	assert_in_range(op->total_ns, 1000 + 375 - 30, 1000 + 375 + 30);
	assert_true(op->total_variance > 0);
	assert_int_equal(op->max_ns, 200);
	done(&replayed);
}

/*
 * One of 1,001 timed calls waited for a processor, longer than buckets go: it is the longest, and stands for 255 that nobody
 * timed. Of one that was drawn Garwood (1936) has 0.025 to 5.57: seven to 1,426 of the 256,000 waited.
 */
static void a_timed_call_that_waited(void **state)
{
	enum { CALLS = 256000, SHORT = 100, WAITED = 8000000 };
	struct tprof_fold counts = { .ticks = 1000 * SHORT + WAITED,
				     .units = 10 * CALLS,
				     .calls = CALLS,
				     .min = SHORT,
				     .max = WAITED,
				     .flags = TPROF_FOLD_SHARE };
	struct gen *gen = new_gen();
	struct tpa_interval interval;
	struct replayed replayed;
	const struct tpa_op_stats *op;
	double deviation;

	(void)state;
	counts.histogram[tprof_fold_bucket(SHORT)] = 1000;
	counts.histogram[TPROF_FOLD_BUCKETS - 1] = 1;
	gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
	gen_fold(gen, 1, 1000, HOT, &dot, &counts);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->max_ns, WAITED);
	assert_in_range(op->p50_ns, SHORT, 111);
	interval = tpa_interval_estimate((double)op->total_ns, op->total_variance, 0);
	assert_true(interval.low < (double)CALLS * SHORT + 10.0 * WAITED);
	assert_true(interval.high > (double)CALLS * SHORT + 5 * 256.0 * WAITED);
	deviation = tpa_moments_deviation(&op->durations);
	assert_true(deviation > WAITED / 40.0 && deviation < WAITED / 25.0);
	done(&replayed);
}

/*
 * One of 100 timed calls waited. Nobody knows how many of the 25,600 did, but they were over after 3 ms, what there was
 * between them and what is behind the last timed one included; `of` of them are known to.
 */
static void no_more_than_it_lasted(void **state)
{
	enum { CALLS = 25600, SHORT = 100, WAITED = 200000, LASTED = 3000000 };
	struct tprof_fold counts = {
		.ticks = 99 * SHORT + WAITED, .calls = CALLS, .min = SHORT, .max = WAITED, .flags = TPROF_FOLD_SHARE
	};
	static const struct {
		uint32_t flags, lasted, of;
		uint64_t total;
	} cases[] = {
		{ 0, LASTED, CALLS, (99 * SHORT + WAITED) * UINT64_C(256) }, /* what stands there is padding */
		{ TPROF_FOLD_LASTED, 0, 0, (99 * SHORT + WAITED) * UINT64_C(256) },
		{ TPROF_FOLD_LASTED, LASTED, CALLS, LASTED },
		{ TPROF_FOLD_LASTED, LASTED, CALLS + 1, LASTED }, /* killed before the last one was counted */
		{ TPROF_FOLD_LASTED, LASTED / 2, CALLS / 2, LASTED },
		{ TPROF_FOLD_LASTED, LASTED, 99, (99 * SHORT + WAITED) * UINT64_C(256) }, /* fewer than were timed */
		{ TPROF_FOLD_LASTED, 1000, CALLS, 99 * SHORT + WAITED }, /* nonsense: it was measured */
		{ TPROF_FOLD_LASTED, 100 * LASTED, CALLS, (99 * SHORT + WAITED) * UINT64_C(256) },
	};

	(void)state;
	counts.histogram[tprof_fold_bucket(SHORT)] = 99;
	counts.histogram[TPROF_FOLD_BUCKETS - 1] = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gen *gen = new_gen();
		struct replayed replayed;
		const struct tpa_op_stats *op;

		counts.flags = TPROF_FOLD_SHARE | cases[i].flags;
		gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
		gen_fold_lasted(gen, 1, 1000, HOT, &counts, cases[i].lasted, cases[i].of);
		replayed = replay(gen);
		op = op_named(&replayed, "sdot");
		assert_int_equal(op->calls, CALLS);
		assert_int_equal(op->total_ns, cases[i].total);
		assert_int_equal(op->self_ns, cases[i].total);
		assert_true(op->total_variance > 0 || cases[i].lasted == 1000);
		if (cases[i].total == LASTED)
			assert_true(op->total_variance <= 0.25 * LASTED * LASTED);
		assert_int_equal(replayed.run->processes[0].op_counts.self_flop, 0);
		done(&replayed);
	}
}

/* Recording is said to have cost more than all calls lasted: the sum is what was measured, but an estimate all the same. */
static void a_cost_that_is_too_large(void **state)
{
	enum { CALLS = 25600, SHORT = 100, LASTED = 3000000 };
	struct tprof_fold counts = { .ticks = 100 * SHORT,
				     .calls = CALLS,
				     .min = SHORT / 2,
				     .max = 2 * SHORT,
				     .flags = TPROF_FOLD_SHARE | TPROF_FOLD_LASTED };
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(SHORT / 2)] = counts.histogram[tprof_fold_bucket(2 * SHORT)] = 50;
	gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
	gen_header(gen)->fold_untimed_ticks = LASTED / CALLS + 100;
	gen_fold_lasted(gen, 1, 1000, HOT, &counts, LASTED, CALLS);
	replayed = replay(gen);
	op = op_named(&replayed, "sdot");
	assert_int_equal(op->total_ns, 100 * SHORT);
	assert_true(op->total_variance > 0 && op->self_variance > 0);
	done(&replayed);
}

/* A child's estimate may be more than there was: its caller's total is what the clock said all the same. */
static void more_than_there_was(void **state)
{
	struct tprof_fold counts = {
		.ticks = 2000, .units = 100, .calls = 100, .min = 100, .max = 300, .flags = TPROF_FOLD_SHARE
	};
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *op;

	(void)state;
	counts.histogram[tprof_fold_bucket(100)] = 5;
	counts.histogram[tprof_fold_bucket(300)] = 5;
	gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
	gen_op_begin(gen, 1, 1000, OUTER);
	gen_fold(gen, 1, 1100, HOT, &dot, &counts);
	gen_op_end(gen, 1, 16000, false);
	replayed = replay(gen);
	op = op_named(&replayed, "sgemv");
	assert_int_equal(op->total_ns, 15000);
	assert_int_equal(op->self_ns, 0);
	assert_true(op->self_variance > 0);
	done(&replayed);
}

static void coverage(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_trace *trace;

	(void)state;
	gen_hooks(gen, TPROF_HOOKS_DONE, 5, 4, "/lib/a.so");
	gen_hooks(gen, TPROF_HOOKS_UNREACHED, 0, 9, "/lib/a.so");
	gen_hooks(gen, TPROF_HOOKS_DONE, 2, 1, "/lib/a.so");
	gen_hooks(gen, TPROF_HOOKS_UNREACHED, 0, 3, "/lib/a.so");
	gen_hooks(gen, TPROF_HOOKS_DONE, 1, 1, "");
	gen_reach(gen, 5, TPROF_REACH_INDIRECT, TPROF_NODE_NONE, 1, 300, 70000);
	gen_op_begin(gen, 1, 10, HOT);
	replayed = replay(gen);
	trace = replayed.trace;
	assert_int_equal(trace->reach_count, 1);
	assert_int_equal(trace->reach[0].reach, TPROF_REACH_INDIRECT);
	assert_int_equal(trace->reach[0].op, 1);
	assert_int_equal(trace->reach[0].blocks, 300);
	assert_int_equal(trace->reach[0].bytes, 70000);
	assert_int_equal(trace->hooks_count, 3);
	assert_int_equal(trace->hooks[0].pointers, 7);
	assert_int_equal(trace->hooks[0].functions, 5);
	assert_int_equal(trace->hooks[1].functions, 3); /* the latest counts */
	assert_string_equal(trace->hooks[2].object, "");
	done(&replayed);
}

static void check_refusal(const struct tpa_hooks *hooks, const char *object, const char *function, const char *reason)
{
	assert_int_equal(hooks->state, TPROF_HOOKS_REFUSED);
	assert_string_equal(hooks->object, object);
	assert_string_equal(hooks->function, function);
	assert_string_equal(hooks->reason, reason);
}

/* A path, a function and a reason in one text, which may lack any of them. */
static void refused_in_their_code(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_hooks *hooks;

	(void)state;
	gen_hooks(gen, TPROF_HOOKS_CODE, 0, 3, "/lib/a.so\nno function");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 1, "/lib/a.so\nfirst\nis short");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 1, "/lib/a.so\nsecond\nis long");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 1, "/lib/a.so\nfirst\nis short, still");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 4, "/lib/a.so\n\nnot named");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 5, "/lib/a.so\n\nnot named");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 1, "\nthird");
	gen_hooks(gen, TPROF_HOOKS_REFUSED, 0, 1, "");
	gen_op_begin(gen, 1, 10, HOT);
	replayed = replay(gen);
	hooks = replayed.trace->hooks;
	assert_int_equal(replayed.trace->hooks_count, 6);
	assert_string_equal(hooks[0].object, "/lib/a.so\nno function");
	assert_true(tpa_hooks_hold(&hooks[0]) && !tpa_hooks_hold(&hooks[1]));
	check_refusal(&hooks[1], "/lib/a.so", "first", "is short");
	assert_int_equal(hooks[1].functions, 1); /* it was tried twice */
	check_refusal(&hooks[2], "/lib/a.so", "second", "is long");
	check_refusal(&hooks[3], "/lib/a.so", "", "not named");
	assert_int_equal(hooks[3].functions, 9);
	check_refusal(&hooks[4], "", "third", "");
	check_refusal(&hooks[5], "", "", "");
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_another_op),
		cmocka_unit_test(together_with_others),
		cmocka_unit_test(a_share_is_timed),
		cmocka_unit_test(a_share_without_any_timed),
		cmocka_unit_test(a_timed_call_that_waited),
		cmocka_unit_test(no_more_than_it_lasted),
		cmocka_unit_test(a_cost_that_is_too_large),
		cmocka_unit_test(more_than_there_was),
		cmocka_unit_test(coverage),
		cmocka_unit_test(refused_in_their_code),
		cmocka_unit_test(within_the_same_op),
		cmocka_unit_test(the_fewer_are_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
