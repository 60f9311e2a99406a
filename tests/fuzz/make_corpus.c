/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the seeds of the fuzzer, small traces with every kind of record, into the folder that is named. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracegen.h"

static void save(struct gen *gen, const char *folder, const char *name, size_t cut)
{
	char path[512];
	const uint8_t *bytes;
	size_t size;
	FILE *file;

	bytes = gen_bytes(gen, &size);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size - cut, file) != size - cut || fclose(file)) {
		perror(path);
		exit(1);
	}
	gen_free(gen);
}

static struct gen *begin(uint32_t clock, uint32_t origin)
{
	struct gen *gen = gen_new(&(struct gen_options){
		.tick_shift = 2, .start_ticks = 1000, .clock = clock, .origin = origin, .header_size = 2560 });
	uint32_t chain[4] = { 1, 2, 3, 4 }, twin[1] = { 4 }, i;

	gen_text(gen, TPROF_TEXT_EXE, "/bin/a", 6);
	gen_text(gen, TPROF_TEXT_ARGS, "a\0b", 4);
	gen_module(gen, 1, 0, 0x1000, 0x2000, "/bin/a");
	gen_module(gen, 2, 0x5000, 0x5000, 0x9000, "/lib/b.so");
	gen_unload(gen, 2, 90);
	for (i = 1; i <= 4; i++)
		gen_frame(gen, i, i % 3, 16 * i, i == 4);
	gen_nodes(gen, 16, TPROF_NODE_ROOT, chain, 4);
	gen_nodes(gen, 20, 18, twin, 1);
	return gen;
}

static void allocate(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t size, uint32_t node)
{
	struct gen_alloc alloc = { .address = address, .size = size, .node = node };

	alloc.usable = size % 3 ? 0 : size + 9;
	alloc.fn = size % 5 ? TPROF_FN_MALLOC : TPROF_FN_NEW;
	gen_alloc(gen, thread, ticks, &alloc);
}

static void heap(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);
	uint32_t i;

	for (i = 0; i < 40; i++) {
		allocate(gen, 1 + i % 2, 1100 + 50 * i, 0x1000 + 32 * (i % 13), 10 + i, 16 + i % 6);
		if (i % 3)
			gen_release(gen, 1 + i % 2, 1120 + 50 * i, 0x1000 + 32 * (i % 13),
				    i % 7 ? TPROF_FN_FREE : TPROF_FN_REALLOC);
		if (i % 21 == 7)
			gen_cancel(gen, 1 + i % 2, 1130 + 50 * i);
	}
	gen_finish(gen, 9000, 1);
	save(gen, folder, "heap", 0);
}

static void maps(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_TSC, TPROF_ORIGIN_FORK);

	gen_map(gen, 1, 1100, 0x10000, 0x8000, MAP_ANONYMOUS, 17);
	gen_map(gen, 1, 1200, 0x14000, 0x8000, MAP_PRIVATE, 18);
	gen_unmap(gen, 1, 1300, 0x12000, 0x4000, true);
	gen_map(gen, 1, 1400, 0x90000, 0x9000, TPROF_MAP_REMAP, 19);
	gen_unmap(gen, 1, 1500, 0x90000, 0x1000, false);
	gen_cancel(gen, 1, 1600);
	gen_memory(gen, 1, 1700, 0x100000, 0x900000);
	gen_name(gen, 1, 1800, "worker");
	gen_release(gen, 1, 1900, 0x1000, TPROF_FN_DELETE);
	save(gen, folder, "maps", 0);
}

static void takeover(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_EXEC);
	uint32_t thread;

	for (thread = 1; thread < 6; thread++) {
		allocate(gen, thread, 1000 * thread, 0x1003, thread, 17);
		gen_long(gen, thread, 1000 * thread, 50, "unknown", 7);
		gen_release(gen, thread, 1000 * thread + 200, 0x1003, TPROF_FN_DELETE);
		gen_end_thread(gen, thread);
	}
	save(gen, folder, "takeover", 3000);
}

static void ops(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);
	uint32_t i;

	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "outer");
	gen_op(gen, 2, TPROF_OP_ANNOTATION, "layer", "inner");
	gen_op_code(gen, 3, TPROF_OP_FUNCTION, "openmp", 1);
	gen_value(gen, "parameters", 8970);
	gen_counter(gen, 1, 0, 0, "page-faults");
	gen_counter(gen, 0, 2, 0, "cycles");
	gen_counter(gen, 2, 0, TPROF_COUNTER_USER, "instructions");
	for (i = 0; i < 12; i++) {
		uint32_t thread = 1 + i % 2;
		uint64_t ticks = 1100 + 100 * i;

		gen_op_begin(gen, thread, ticks, 1 + i % 3);
		gen_detail(gen, thread, ticks + 4, 100 * i, 8 * i, i % 4 ? "2x3" : "");
		allocate(gen, thread, ticks + 8, 0x1000 + 32 * (i % 5), 10 + i, 16 + i % 6);
		gen_op_begin(gen, thread, ticks + 16, 2);
		gen_release(gen, thread, ticks + 20, 0x1000 + 32 * (i % 4), TPROF_FN_FREE);
		gen_counters(gen, thread, ticks + 38, i % 6, (const uint64_t[]){ i, 1000 * i, 1 }, 3);
		gen_op_end(gen, thread, ticks + 40, i % 5 == 0);
		if (i % 4 != 3)
			gen_op_end(gen, thread, ticks + 60, false);
		if (i % 3 == 2)
			gen_step(gen, thread, ticks + 80, i);
		if (i == 7)
			gen_mark(gen, thread, ticks + 90, "epoch");
		if (i == 8 || i == 9)
			gen_plain(gen, thread, ticks + 95, i == 8 ? TPROF_EVENT_PAUSE : TPROF_EVENT_RESUME);
	}
	gen_op_end(gen, 3, 9000, true);
	save(gen, folder, "ops", 0);
}

static void kernels(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);
	struct tprof_fold counts = { .ticks = 4000, .units = 90, .calls = 4, .min = 800, .max = 1300 };
	struct gen_work gemm = { TPROF_WORK_GEMM, TPROF_DTYPE_F32, TPROF_WORK_TRANS_A, { 3, 4, 5 }, 3 };
	struct gen_work axpy = { TPROF_WORK_AXPY, TPROF_DTYPE_F64, 0, { 20 }, 1 };

	gen_op(gen, 1, TPROF_OP_FUNCTION, "blas", "sgemm");
	gen_op(gen, 2, TPROF_OP_FUNCTION, "blas", "daxpy");
	gen_hooks(gen, TPROF_HOOKS_DONE, 3, 2, "/usr/lib/libtorch_cpu.so");
	gen_hooks(gen, TPROF_HOOKS_UNREACHED, 0, 34, "");
	gen_reach(gen, 5000, TPROF_REACH_DEFINITE, TPROF_NODE_NONE, 1, 3, 4096);
	gen_reach(gen, 5000, TPROF_REACH_STILL, TPROF_NODE_NONE, 0, 1, 16);
	counts.histogram[tprof_fold_bucket(800)] = 3;
	counts.histogram[tprof_fold_bucket(1300)] = 1;
	for (uint32_t i = 0; i < 6; i++) {
		gen_op_begin(gen, 1, 2000 * i, 1);
		gen_work(gen, 1, 2000 * i, &gemm);
		counts.flags = i % 2 ? TPROF_FOLD_MIXED : 0;
		gen_fold(gen, 1, 2000 * i + 10, 2, i % 3 ? &axpy : NULL, &counts);
		gen_op_end(gen, 1, 2000 * i + 1900, i == 5);
		gemm.kind += 7;
	}
	counts.flags = TPROF_FOLD_SHARE | TPROF_FOLD_LASTED;
	counts.calls *= 256;
	gen_header(gen)->features_required = TPROF_FEATURE_TIMED_SHARE;
	gen_fold_lasted(gen, 1, 13000, 2, &counts, 6000, counts.calls);
	gen_fold_lasted(gen, 1, 14000, 2, &counts, 90000000, counts.calls / 2);
	save(gen, folder, "kernels", 0);
}

/* PyTorch's operators, of sizes that there are, and that there are not. */
static void shapes(const char *folder)
{
	static const char *const names[] = { "aten::add.Tensor", "aten::addmm",
					     "aten::cat",	 "aten::native_layer_norm",
					     "aten::sum",	 "aten::mul_.Tensor",
					     "aten::view" };
	static const uint64_t sizes[] = { 3, 0, 1, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX };
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);
	struct tprof_fold counts = { .ticks = 4000, .calls = 4, .min = 800, .max = 1300 };
	uint32_t op = 1;

	counts.histogram[tprof_fold_bucket(800)] = 3;
	counts.histogram[tprof_fold_bucket(1300)] = 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++, op++) {
			const uint64_t f32 = TPROF_TENSOR_TYPE + 6, n = sizes[k];
			const uint64_t plain[] = { f32, 1, n, f32, 2, n, n, f32, 2, n, n };
			const uint64_t list[] = { TPROF_TENSOR_LIST, 2, f32, 2, 3, n, f32 + 1, 0, TPROF_TENSOR_NONE };

			gen_op(gen, op, TPROF_OP_FUNCTION, "torch", names[i]);
			if (i == 2)
				gen_shape(gen, op, list, 9 - k % 3);
			else
				gen_shape(gen, op, plain, 11 - k % 4);
		}
	for (uint32_t i = 1; i < op; i++) {
		gen_op_begin(gen, 1, 2000 * i, i);
		gen_op_begin(gen, 1, 2000 * i + 10, 1 + i * 7 % op);
		gen_op_end(gen, 1, 2000 * i + 20, false);
		gen_op_shape(gen, 1, 2000 * i + 30, i % 5 ? i : 1 + i % 3);
		gen_op_end(gen, 1, 2000 * i + 40, false);
		if (i % 6 == 0)
			gen_fold(gen, 1, 2000 * i + 60, i, NULL, &counts);
	}
	save(gen, folder, "shapes", 0);
}

static void pools(const char *folder)
{
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);
	struct gen_alloc block = { .size = 9, .node = 17 };

	gen_header(gen)->flags |= TPROF_FLAG_POOLS | TPROF_FLAG_WAITED;
	gen_plain(gen, 1, 1100, TPROF_EVENT_RESUME);
	for (uint64_t ticks = 1200; ticks < 2200; ticks += 200) {
		allocate(gen, 1, ticks, 0x1000, 100, 17);
		block.address = 0x1000 + ticks / 200 % 3 * 16;
		gen_pool_alloc(gen, 1, ticks + 10, 0x1000, &block);
		gen_pool_alloc(gen, 1, ticks + 20, ticks % 400 ? 0 : 0x9000, &block);
		gen_pool_free(gen, 1, ticks + 30, block.address, ticks % 400 == 0);
		gen_plain(gen, 1, ticks + 40, TPROF_EVENT_PAUSE);
		gen_release(gen, 1, ticks + 50, 0x1000, TPROF_FN_REALLOC);
		allocate(gen, 1, ticks + 60, 0x1000, 200, 17);
		gen_plain(gen, 1, ticks + 70, TPROF_EVENT_RESUME);
		gen_release(gen, 1, ticks + 80, 0x1000, TPROF_FN_FREE);
	}
	save(gen, folder, "pools", 0);
}

/* Two calls of the loop, one inside the other; recursion; a Python stack that is longer than its native one. */
static void python(const char *folder)
{
	static const uint32_t native[] = { 1, 22, 3, 22, 4 }, inner[] = { 31, 32, 33, 31, 32 };
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);

	gen_frame(gen, 22, 1, 48, TPROF_FRAME_LOOP);
	gen_code(gen, 1, 10, "function", "/file.py");
	for (uint32_t i = 31; i <= 33; i++)
		gen_python(gen, i, i == 33 ? 9 : 1, i, i != 32 ? TPROF_PYTHON_ENTRY : 0);
	gen_nodes(gen, 30, TPROF_NODE_ROOT, native, 5);
	gen_nodes(gen, 35, TPROF_NODE_CUT, inner, 5);
	for (uint32_t i = 0; i < 5; i++)
		gen_join(gen, 40 + i, 34 - i, 39 - i % 3);
	gen_join(gen, 50, 30, 39);
	for (uint32_t i = 0; i < 6; i++)
		allocate(gen, 1, 1100 + i, 0x1000 + 64 * i, 100, i == 5 ? 50 : 40 + i);
	save(gen, folder, "python", 0);
}

/* Blocks by three means, in the short and the long form and of pools, and calls in a part of the time. */
static void levels(const char *folder)
{
	static const uint8_t means[] = { 0, 12, 19 };
	struct gen *gen = begin(TPROF_CLOCK_MONOTONIC, TPROF_ORIGIN_FIRST);

	gen_header(gen)->max_overhead = 150;
	gen_header(gen)->sample_bytes = UINT64_C(512) << 10;
	gen_header(gen)->features = TPROF_FEATURE_LEVELS;
	gen_header(gen)->flags |= TPROF_FLAG_POOLS;
	gen_op(gen, 1, TPROF_OP_FUNCTION, "blas", "hooked");
	gen_op(gen, 2, TPROF_OP_ANNOTATION, "", "marked");
	for (uint32_t i = 0; i < 60; i++) {
		uint8_t mean = means[i / 10 % 3];
		struct gen_alloc block = { .address = 0x10000 + 0x10000 * (uint64_t)i + (i % 7 == 3),
					   .size = i % 10 ? 100 + 300 * i : 0,
					   .node = 16 + i % 6,
					   .has_mean = i % 20 != 19,
					   .mean = mean };
		uint64_t ticks = 1100 + 400 * i;

		if (i % 10 == 0)
			gen_level(gen, 1, ticks, mean, i / 10 % 2 == 0);
		if (block.size || !mean)
			gen_alloc(gen, 1, ticks + 40, &block);
		block.address += 0x8000;
		if (i % 9 == 4 && block.size)
			gen_pool_alloc(gen, 1, ticks + 80, 0, &block);
		for (uint32_t op = 1 + (i / 10 % 2); op <= 2; op++) {
			gen_op_begin(gen, 1, ticks + 120 * op, op);
			gen_op_end(gen, 1, ticks + 120 * op + 40, false);
		}
		if (i % 4 == 2)
			gen_release(gen, 1, ticks + 380, block.address - 0x8000, TPROF_FN_FREE);
	}
	save(gen, folder, "levels", 0);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_corpus FOLDER\n");
		return 2;
	}
	heap(argv[1]);
	maps(argv[1]);
	takeover(argv[1]);
	ops(argv[1]);
	kernels(argv[1]);
	shapes(argv[1]);
	pools(argv[1]);
	python(argv[1]);
	levels(argv[1]);
	return 0;
}
