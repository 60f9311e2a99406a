/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: what they did, in order, and the trace that a collector would have written of them. */
#ifndef TPROF_TESTS_RANDOM_PROGRAM_H
#define TPROF_TESTS_RANDOM_PROGRAM_H

#include <stdlib.h>
#include <sys/mman.h>

#include "site_runs.h"

enum op_kind { OP_ALLOC, OP_FREE, OP_MAP, OP_UNMAP };

/* What really happened, in order; cancelled calls are not in it. */
struct op {
	enum op_kind kind;
	uint32_t thread, site;
	uint64_t time, address, size, usable;
};

struct block {
	uint64_t address, size, usable;
	uint32_t site;
	uint64_t time;
};

#define OPS_MAX 6000
#define THREADS 6
#define PAGES 96
#define PAGE_BASE UINT64_C(0x7f0000000000)

struct program {
	unsigned seed;
	struct gen *gen;
	struct op ops[OPS_MAX];
	size_t count;
	struct block live[512];
	size_t live_count;
	uint64_t now, next_address;
	uint64_t reusable[64];
	size_t reusable_count;
	uint64_t failed_reallocs;
	uint32_t thread_number[THREADS], threads;
};

static inline unsigned pick(struct program *program, unsigned n)
{
	program->seed = program->seed * 1103515245u + 12345u;
	return (program->seed >> 8) % n;
}

static inline struct op *note(struct program *program, enum op_kind kind, uint32_t thread)
{
	struct op *op = &program->ops[program->count++];

	*op = (struct op){ .kind = kind, .thread = thread, .time = program->now };
	return op;
}

static inline void step_time(struct program *program)
{
	program->now += 1 + pick(program, pick(program, 20) ? 300 : 3000000);
}

static inline uint64_t new_address(struct program *program)
{
	if (program->reusable_count && pick(program, 4))
		return program->reusable[--program->reusable_count];
	program->next_address += 16 * (1 + pick(program, 64));
	return program->next_address + (pick(program, 40) ? 0 : 4);
}

static inline void random_alloc(struct program *program, uint32_t thread, uint8_t fn)
{
	struct block block = { new_address(program), 1 + pick(program, 5000), 0, pick(program, SITES), program->now };
	struct gen_alloc alloc = { .address = block.address, .size = block.size, .node = NODE(block.site), .fn = fn };
	struct op *op = note(program, OP_ALLOC, thread);

	alloc.usable = pick(program, 3) ? 0 : block.size + pick(program, 100);
	block.usable = alloc.usable ? alloc.usable : tprof_usable_guess(block.size);
	op->address = block.address;
	op->size = block.size;
	op->usable = block.usable;
	op->site = block.site;
	gen_alloc(program->gen, thread, program->now, &alloc);
	program->live[program->live_count++] = block;
}

static inline void random_free(struct program *program, uint32_t thread, uint8_t fn)
{
	size_t which = pick(program, 3) ? program->live_count - 1 : pick(program, (unsigned)program->live_count);
	struct block block = program->live[which];

	note(program, OP_FREE, thread)->address = block.address;
	gen_release(program->gen, thread, program->now, block.address, fn);
	program->live[which] = program->live[--program->live_count];
	if (program->reusable_count < 64)
		program->reusable[program->reusable_count++] = block.address;
}

/* A realloc that fails: freed and cancelled. Other threads may record in between what is no allocation. */
static inline void random_cancel(struct program *program, uint32_t thread)
{
	struct block block = program->live[pick(program, (unsigned)program->live_count)];

	gen_release(program->gen, thread, program->now, block.address, TPROF_FN_REALLOC);
	step_time(program);
	gen_memory(program->gen, thread == 1 ? 2 : 1, program->now, 4096, 8192);
	step_time(program);
	gen_cancel(program->gen, thread, program->now);
	program->failed_reallocs++;
}

static inline void random_map(struct program *program, uint32_t thread, bool map)
{
	unsigned page = pick(program, PAGES - 1), pages = 1 + pick(program, PAGES - page > 16 ? 16 : PAGES - page - 1);
	struct op *op;

	if (!map && !pick(program, 5)) {
		gen_unmap(program->gen, thread, program->now, PAGE_BASE + page * 4096, pages * 4096u, false);
		step_time(program);
		gen_cancel(program->gen, thread, program->now);
		return;
	}
	op = note(program, map ? OP_MAP : OP_UNMAP, thread);
	op->address = page;
	op->size = pages;
	op->site = pick(program, SITES);
	if (map)
		gen_map(program->gen, thread, program->now, PAGE_BASE + page * 4096,
			pages * 4096u - pick(program, 4000), MAP_ANONYMOUS | MAP_PRIVATE, NODE(op->site));
	else
		gen_unmap(program->gen, thread, program->now, PAGE_BASE + page * 4096, pages * 4096u, false);
}

static inline void random_step(struct program *program)
{
	unsigned slot = pick(program, THREADS), what = pick(program, 100);
	uint32_t thread = program->thread_number[slot];

	step_time(program);
	if (what < 2 && slot > 1) { /* threads 1 and 2 stay */
		gen_end_thread(program->gen, thread);
		program->thread_number[slot] = ++program->threads;
	} else if (what < 8) {
		random_map(program, thread, what < 5);
	} else if (what < 12 && program->live_count) {
		random_cancel(program, thread);
	} else if (what < 20 && program->live_count) {
		random_free(program, thread, TPROF_FN_REALLOC);
		step_time(program);
		if (pick(program, 2)) { /* the address goes to another thread before the realloc returns */
			random_alloc(program, program->thread_number[pick(program, 2)], TPROF_FN_MALLOC);
			step_time(program);
		}
		random_alloc(program, thread, TPROF_FN_REALLOC);
	} else if (program->live_count < 10 || (what < 65 && program->live_count < 400)) {
		random_alloc(program, thread, pick(program, 3) ? TPROF_FN_MALLOC : TPROF_FN_NEW);
	} else {
		random_free(program, thread, TPROF_FN_FREE);
	}
}

/* At most the first `most` steps of a random program: the trace is that of the whole program at an earlier moment. */
static inline struct program *random_program_of(unsigned seed, uint32_t chunk_size, size_t most)
{
	struct gen_options options = { .start_ticks = 1000000,
				       .start_unix_ns = 1700000000000000000,
				       .chunk_size = chunk_size };
	struct program *program = calloc(1, sizeof(*program));
	size_t i, count;

	assert_non_null(program);
	program->seed = seed;
	program->gen = gen_with_sites(&options);
	program->now = options.start_ticks;
	program->next_address = 0x555500000000;
	for (i = 0; i < THREADS; i++)
		program->thread_number[i] = ++program->threads;
	count = 200 + pick(program, OPS_MAX / 3 - 300);
	for (i = 0; i < count && i < most; i++)
		random_step(program);
	if (count <= most && pick(program, 2))
		gen_finish(program->gen, program->now, 0);
	return program;
}

static inline struct program *random_program(unsigned seed, uint32_t chunk_size)
{
	return random_program_of(seed, chunk_size, SIZE_MAX);
}

static inline void free_program(struct program *program)
{
	gen_free(program->gen);
	free(program);
}

#endif
