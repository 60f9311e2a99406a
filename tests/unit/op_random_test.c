/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of ops that call themselves and each other, on threads that free each other's blocks, against a naive replay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replayed.h"

#define OPS 3u
#define THREADS 2u
#define DEPTH 12u
#define BLOCKS 64u
#define EVENTS 3000u

struct call {
	uint32_t op;
	int64_t net, peak;
	uint64_t allocated, self_allocated;
};

struct truth {
	uint64_t calls, allocated, self_allocated, peak;
	int64_t net;
};

struct model {
	struct gen *gen;
	uint64_t now, random;
	struct call open[THREADS + 1][DEPTH];
	uint32_t depth[THREADS + 1];
	uint64_t size[BLOCKS]; /* 0: not live */
	struct truth truth[OPS + 1];
};

static uint32_t pick(struct model *model, uint32_t count)
{
	model->random = model->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(model->random >> 33) % count;
}

static bool is_inside_itself(const struct model *model, uint32_t thread, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		if (model->open[thread][i].op == model->open[thread][depth].op)
			return true;
	return false;
}

/* In each of the thread's open calls, one by one. */
static void change(struct model *model, uint32_t thread, int64_t bytes)
{
	for (uint32_t i = 0; i < model->depth[thread]; i++) {
		struct call *call = &model->open[thread][i];

		call->net += bytes;
		call->allocated += bytes > 0 ? (uint64_t)bytes : 0;
		call->self_allocated += bytes > 0 && i + 1 == model->depth[thread] ? (uint64_t)bytes : 0;
		call->peak = call->net > call->peak ? call->net : call->peak;
	}
}

static void begin(struct model *model, uint32_t thread)
{
	uint32_t op = 1 + pick(model, OPS);

	gen_op_begin(model->gen, thread, model->now, op);
	model->open[thread][model->depth[thread]++] = (struct call){ .op = op };
}

static void end(struct model *model, uint32_t thread)
{
	uint32_t depth = --model->depth[thread];
	const struct call *call = &model->open[thread][depth];
	struct truth *truth = &model->truth[call->op];

	gen_op_end(model->gen, thread, model->now, false);
	truth->calls++;
	truth->self_allocated += call->self_allocated;
	truth->peak = (uint64_t)call->peak > truth->peak ? (uint64_t)call->peak : truth->peak;
	if (is_inside_itself(model, thread, depth))
		return;
	truth->allocated += call->allocated;
	truth->net += call->net;
}

static void use_memory(struct model *model, uint32_t thread)
{
	uint32_t block = pick(model, BLOCKS);
	uint64_t address = 0x10000 + block * 0x1000;

	if (model->size[block]) {
		gen_release(model->gen, thread, model->now, address, TPROF_FN_FREE);
		change(model, thread, -(int64_t)model->size[block]);
		model->size[block] = 0;
		return;
	}
	model->size[block] = 1 + pick(model, 3000);
	allocate(model->gen, thread, model->now, address, model->size[block]);
	change(model, thread, (int64_t)model->size[block]);
}

static void run(struct model *model)
{
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t thread = 1 + pick(model, THREADS), what = pick(model, 8);

		model->now += 10;
		if (what == 0 && model->depth[thread] < DEPTH)
			begin(model, thread);
		else if (what == 1 && model->depth[thread])
			end(model, thread);
		else
			use_memory(model, thread);
	}
	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		for (model->now += 10; model->depth[thread]; model->now += 10)
			end(model, thread);
	}
}

static void compare(const struct replayed *replayed, const struct truth *truth, const char *name)
{
	const struct tpa_op_stats *op = op_named(replayed, name);

	assert_int_equal(op->calls, truth->calls);
	assert_int_equal(op->allocated_bytes, truth->allocated);
	assert_int_equal(op->self_allocated_bytes, truth->self_allocated);
	assert_int_equal(op->net_bytes, truth->net);
	assert_int_equal(op->peak_bytes, truth->peak);
}

static void test_random_programs(void **state)
{
	static const char *const names[] = { "", "one", "two", "three" };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct model model = { .gen = gen_new(&(struct gen_options){ .start_ticks = 0 }), .random = seed };
		struct replayed replayed;

		for (uint32_t op = 1; op <= OPS; op++)
			gen_op(model.gen, op, TPROF_OP_ANNOTATION, "", names[op]);
		run(&model);
		replayed = replay(model.gen, NULL);
		for (uint32_t op = 1; op <= OPS; op++)
			compare(&replayed, &model.truth[op], names[op]);
		done(&replayed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
