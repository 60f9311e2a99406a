/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads call the same functions with tensors of the same sizes, more and more of them, so that the table of shapes
 * grows beside threads that look things up in it. Whatever number a call was given, the record of that number says its
 * function and its sizes.
 */
#include "harness.h"

#include "core/varint.h"
#include "hooks/ops/shapes.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define FUNCTIONS 3
#define SIDE 70 /* sizes are 1 to SIDE, in two dimensions */
#define SHAPES (SIDE * SIDE)
#define CALLS (FUNCTIONS * SHAPES) /* that differ */
#define OPS_MAX (THREADS * CALLS + 1)
#define FLOAT 6u /* c10::ScalarType */

/* As libtorch has it in memory: hooks/ops/tensors.h. */
struct tensor {
	uintptr_t vtable;
	uint64_t references;
	uint64_t words[TPC_TENSOR_TYPE + 1];
};

static struct tpc_op_function functions[FUNCTIONS];
struct tpc_op_function *tpc_op_functions = functions;

static struct worker {
	pthread_t thread;
	uint32_t *given; /* by call */
	size_t found;
} workers[THREADS];
static pthread_barrier_t met;

static uint32_t call(struct worker *worker, uint32_t index, uint64_t rows, uint64_t columns)
{
	const struct tpc_signature *signature = &functions[index].signature;
	struct tensor tensor = { tpc_load(&tpc_tensor_layout.vtable), 1, { 2, rows, columns } };
	const struct tensor *pointer = &tensor;
	uintptr_t frame[4] = { 0, 0, (uintptr_t)&pointer, 0 };
	uint32_t op;

	tensor.words[TPC_TENSOR_ELEMENTS] = rows * columns;
	tensor.words[TPC_TENSOR_TYPE] = FLOAT;
	op = tpc_shapes_find(signature, index, frame).op;
	if (op)
		worker->found++;
	else
		op = tpc_shapes_number(&functions[index], frame);
	return op;
}

/* Each in an order of its own, and what was met is met again. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	uint32_t stride = (uint32_t[]){ 1, 11, 13, 17 }[worker - workers];

	pthread_barrier_wait(&met);
	for (uint32_t i = 0; i < 2 * CALLS; i++) {
		uint32_t which = (uint32_t)((uint64_t)i * stride % CALLS), shape = which / FUNCTIONS;
		uint32_t op = call(worker, which % FUNCTIONS, 1 + shape / SIDE, 1 + shape % SIDE);

		HARNESS_CHECK(op && op < OPS_MAX);
		worker->given[which] = op;
	}
	return NULL;
}

/* ---- what was written ---- */

static struct {
	char function;	   /* the last letter of its name */
	uint64_t sizes[4]; /* type, dimensions, rows, columns */
} said[OPS_MAX];

static uint64_t read_number(const uint8_t **at)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
}

static void read_record(uint8_t type, const uint8_t *at, const uint8_t *end)
{
	uint64_t op = read_number(&at);

	HARNESS_CHECK(op < OPS_MAX);
	if (type == TPROF_TABLE_OP) {
		HARNESS_CHECK(!said[op].function);
		said[op].function = (char)end[-1];
		return;
	}
	HARNESS_CHECK(type == TPROF_TABLE_SHAPE && !said[op].sizes[0]);
	for (size_t i = 0; i < TPC_LENGTH(said[op].sizes); i++)
		said[op].sizes[i] = read_number(&at);
	HARNESS_CHECK(at == end);
}

static void read_tables(const struct tprof_chunk *chunk)
{
	const uint8_t *at = (const uint8_t *)(chunk + 1), *end = at + chunk->committed;

	while (at < end) {
		uint8_t type = *at++ >> 2;
		uint64_t length = read_number(&at);

		read_record(type, at, at + length);
		at += length;
	}
}

static void check(const struct worker *worker)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t op = worker->given[i], shape = i / FUNCTIONS;

		HARNESS_CHECK(said[op].function == functions[i % FUNCTIONS].name[0]);
		HARNESS_CHECK(said[op].sizes[0] == TPROF_TENSOR_TYPE + FLOAT && said[op].sizes[1] == 2);
		HARNESS_CHECK(said[op].sizes[2] == 1 + shape / SIDE && said[op].sizes[3] == 1 + shape % SIDE);
	}
}

static void start(void)
{
	static const uintptr_t vtable;

	harness_start();
	tpc_tensor_layout.sizes = offsetof(struct tensor, words);
	tpc_unshared(tpc_tensor_layout.vtable) = (uintptr_t)&vtable;
	for (int i = 0; i < FUNCTIONS; i++) {
		functions[i].category = "torch";
		functions[i].name[0] = (char)('a' + i);
		functions[i].signature.parts = 1;
		functions[i].signature.part[0].part = TPC_PART_TENSOR + TPC_TENSOR_IN;
		functions[i].signature.part[0].offset = 2;
	}
}

int main(void)
{
	size_t found = 0, numbers = 0;

	start();
	pthread_barrier_init(&met, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i].given = calloc(CALLS, sizeof(uint32_t));
		HARNESS_CHECK(workers[i].given);
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < harness_chunk_count(); i++)
		read_tables(harness_chunk(i));
	for (int i = 0; i < THREADS; i++) {
		check(&workers[i]);
		found += workers[i].found;
	}
	for (size_t i = 0; i < OPS_MAX; i++)
		numbers += said[i].function != 0;
	printf("shapes: %d calls that differ, %zu numbers, %zu of %d found\n", CALLS, numbers, found,
	       2 * THREADS * CALLS);
	HARNESS_CHECK(numbers >= CALLS && found > THREADS * CALLS);
	return 0;
}
