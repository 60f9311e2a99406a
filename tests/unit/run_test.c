/* SPDX-License-Identifier: Apache-2.0 */
/* The heap model against a naive one, on random programs; and the cases that need care, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/run.h"
#include "tracegen.h"

#define SITES 12
#define NODE(site) (TPROF_NODE_FIRST + (uint32_t)(site))

/* ---- replaying what was generated ---- */

struct replayed {
	struct tp_trace *traces[4];
	size_t count;
	struct tp_run *run;
};

static void add_trace(struct replayed *replayed, struct gen *gen)
{
	const char *name = gen_save(gen);
	char *error = NULL;
	struct tp_trace *trace = tp_trace_open(name, &error);

	if (!trace)
		fail_msg("%s", error);
	unlink(name);
	assert_int_equal(trace->damage_count, 0);
	replayed->traces[replayed->count++] = trace;
}

static void replay(struct replayed *replayed, const struct tp_replay_options *options)
{
	const char *error = NULL;

	tp_run_free(replayed->run);
	replayed->run = tp_run_replay(replayed->traces, replayed->count, options, &error);
	assert_non_null(replayed->run);
}

static const struct tp_process *replay_gen(struct replayed *replayed, struct gen *gen)
{
	memset(replayed, 0, sizeof(*replayed));
	add_trace(replayed, gen);
	replay(replayed, NULL);
	return &replayed->run->processes[0];
}

static void close_replayed(struct replayed *replayed)
{
	size_t i;

	tp_run_free(replayed->run);
	for (i = 0; i < replayed->count; i++)
		tp_trace_close(replayed->traces[i]);
	memset(replayed, 0, sizeof(*replayed));
}

/* Stack nodes NODE(0), NODE(1), ..., each a frame of its own under the root. */
static struct gen *gen_with_sites(const struct gen_options *options)
{
	struct gen *gen = gen_new(options);
	uint32_t i, frame;

	gen_module(gen, 1, 0x10000, 0x10000, 0x20000, "/usr/bin/program");
	for (i = 0; i < SITES; i++) {
		frame = i + 1;
		gen_frame(gen, frame, 1, 0x100 * frame, 0);
		gen_nodes(gen, NODE(i), TPROF_NODE_ROOT, &frame, 1);
	}
	return gen;
}

static void do_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t size, uint32_t site)
{
	struct gen_alloc alloc = { .address = address, .size = size, .node = NODE(site) };

	gen_alloc(gen, thread, ticks, &alloc);
}

static void do_free(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address)
{
	gen_release(gen, thread, ticks, address, TPROF_FN_FREE);
}

static const struct tp_site *site_of(const struct tp_process *process, uint32_t site)
{
	static const struct tp_site none;
	size_t i;

	for (i = 0; i < process->site_count; i++)
		if (process->sites[i].node == NODE(site))
			return &process->sites[i];
	return &none;
}

/* ---- random programs ---- */

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

static unsigned pick(struct program *program, unsigned n)
{
	program->seed = program->seed * 1103515245u + 12345u;
	return (program->seed >> 8) % n;
}

static struct op *note(struct program *program, enum op_kind kind, uint32_t thread)
{
	struct op *op = &program->ops[program->count++];

	*op = (struct op){ .kind = kind, .thread = thread, .time = program->now };
	return op;
}

static void step_time(struct program *program)
{
	program->now += 1 + pick(program, pick(program, 20) ? 300 : 3000000);
}

static uint64_t new_address(struct program *program)
{
	if (program->reusable_count && pick(program, 4))
		return program->reusable[--program->reusable_count];
	program->next_address += 16 * (1 + pick(program, 64));
	return program->next_address + (pick(program, 40) ? 0 : 4);
}

static void random_alloc(struct program *program, uint32_t thread, uint8_t fn)
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

static void random_free(struct program *program, uint32_t thread, uint8_t fn)
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
static void random_cancel(struct program *program, uint32_t thread)
{
	struct block block = program->live[pick(program, (unsigned)program->live_count)];

	gen_release(program->gen, thread, program->now, block.address, TPROF_FN_REALLOC);
	step_time(program);
	gen_memory(program->gen, thread == 1 ? 2 : 1, program->now, 4096, 8192);
	step_time(program);
	gen_cancel(program->gen, thread, program->now);
	program->failed_reallocs++;
}

static void random_map(struct program *program, uint32_t thread, bool map)
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

static void random_step(struct program *program)
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

static struct program *random_program(unsigned seed, uint32_t chunk_size)
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
	for (i = 0; i < count; i++)
		random_step(program);
	if (pick(program, 2))
		gen_finish(program->gen, program->now, 0);
	return program;
}

static void free_program(struct program *program)
{
	gen_free(program->gen);
	free(program);
}

/* ---- the naive model ---- */

struct naive_site {
	uint64_t allocations, frees, bytes, peak_bytes, peak_blocks, peak_usable, live_bytes, live_blocks, live_usable;
	uint64_t temporary, short_lived, largest;
	uint64_t map_bytes, map_calls, map_live, map_peak;
};

struct naive {
	struct naive_site sites[SITES];
	uint64_t peak_bytes, peak_time, mapped_peak, largest_point;
};

/* Index of the allocation that a free ends. */
static size_t owner_of(const struct program *program, size_t free_index)
{
	size_t i = free_index;

	while (i-- > 0)
		if (program->ops[i].kind == OP_ALLOC && program->ops[i].address == program->ops[free_index].address)
			return i;
	abort();
}

static bool is_temporary(const struct program *program, size_t alloc, size_t free_index)
{
	size_t i;

	if (program->ops[alloc].thread != program->ops[free_index].thread)
		return false;
	for (i = alloc + 1; i < free_index; i++)
		if (program->ops[i].kind <= OP_FREE && program->ops[i].thread == program->ops[alloc].thread)
			return false;
	return true;
}

/* Everything that is live right after event `at`, added up from nothing. */
static uint64_t naive_live(const struct program *program, size_t at, struct naive_site *sites, uint64_t from)
{
	bool *ended = calloc(at + 1, sizeof(*ended));
	uint64_t total = 0;
	size_t i;

	assert_non_null(ended);
	for (i = 0; i <= at; i++)
		if (program->ops[i].kind == OP_FREE)
			ended[owner_of(program, i)] = true;
	for (i = 0; i <= at; i++) {
		const struct op *op = &program->ops[i];

		if (op->kind != OP_ALLOC || ended[i] || op->time < from)
			continue;
		total += op->size;
		if (sites) {
			sites[op->site].live_bytes += op->size;
			sites[op->site].live_blocks++;
			sites[op->site].live_usable += op->usable;
		}
	}
	free(ended);
	return total;
}

static void naive_heap(const struct program *program, struct naive *naive, uint64_t from, uint64_t to)
{
	uint64_t live = 0;
	size_t i, peak = SIZE_MAX, last = SIZE_MAX, k;
	struct naive_site at_peak[SITES] = { 0 };

	for (i = 0; i < program->count && program->ops[i].time <= to; i++) {
		const struct op *op = &program->ops[i];

		last = i;
		if (op->kind == OP_ALLOC) {
			struct naive_site *site = &naive->sites[op->site];

			live += op->size;
			if (op->time < from)
				continue;
			site->allocations++;
			site->bytes += op->size;
			site->largest = op->size > site->largest ? op->size : site->largest;
		} else if (op->kind == OP_FREE) {
			size_t alloc = owner_of(program, i);
			struct naive_site *site = &naive->sites[program->ops[alloc].site];

			live -= program->ops[alloc].size;
			if (op->time < from)
				continue;
			site->frees++;
			site->temporary += is_temporary(program, alloc, i);
			site->short_lived += op->time - program->ops[alloc].time <= TP_SHORT_LIVED_NS;
		}
		if (op->time >= from && live > naive->peak_bytes) {
			naive->peak_bytes = live;
			naive->peak_time = op->time;
			peak = i;
		}
	}
	if (last != SIZE_MAX)
		naive_live(program, last, naive->sites, from);
	if (peak != SIZE_MAX)
		assert_int_equal(naive_live(program, peak, at_peak, 0), naive->peak_bytes);
	for (k = 0; k < SITES; k++) {
		naive->sites[k].peak_bytes = at_peak[k].live_bytes;
		naive->sites[k].peak_blocks = at_peak[k].live_blocks;
		naive->sites[k].peak_usable = at_peak[k].live_usable;
	}
}

/* Page by page. */
static void naive_maps(const struct program *program, struct naive *naive)
{
	int owner[PAGES];
	uint64_t total;
	size_t i, k, page;

	memset(owner, -1, sizeof(owner));
	for (i = 0; i < program->count; i++) {
		const struct op *op = &program->ops[i];

		if (op->kind != OP_MAP && op->kind != OP_UNMAP)
			continue;
		for (page = op->address; page < op->address + op->size; page++)
			owner[page] = op->kind == OP_MAP ? (int)op->site : -1;
		if (op->kind == OP_MAP) {
			naive->sites[op->site].map_calls++;
			naive->sites[op->site].map_bytes += op->size * 4096;
		}
		for (k = 0; k < SITES; k++)
			naive->sites[k].map_live = 0;
		for (page = 0, total = 0; page < PAGES; page++) {
			if (owner[page] >= 0) {
				naive->sites[owner[page]].map_live += 4096;
				total += 4096;
			}
		}
		if (total > naive->mapped_peak) {
			naive->mapped_peak = total;
			for (k = 0; k < SITES; k++)
				naive->sites[k].map_peak = naive->sites[k].map_live;
		}
	}
}

static void compare_sites(const struct naive *naive, const struct tp_process *process)
{
	size_t i;

	for (i = 0; i < SITES; i++) {
		const struct tp_site *site = site_of(process, (uint32_t)i);
		const struct naive_site *other = &naive->sites[i];

		assert_int_equal(site->allocations, other->allocations);
		assert_int_equal(site->frees, other->frees);
		assert_int_equal(site->bytes, other->bytes);
		assert_int_equal(site->peak_bytes, other->peak_bytes);
		assert_int_equal(site->peak_blocks, other->peak_blocks);
		assert_int_equal(site->peak_usable, other->peak_usable);
		assert_int_equal(site->live_bytes, other->live_bytes);
		assert_int_equal(site->live_blocks, other->live_blocks);
		assert_int_equal(site->live_usable, other->live_usable);
		assert_int_equal(site->temporary, other->temporary);
		assert_int_equal(site->short_lived, other->short_lived);
		assert_int_equal(site->largest, other->largest);
	}
}

static void compare_maps(const struct naive *naive, const struct tp_process *process)
{
	uint64_t calls[SITES] = { 0 }, live = 0;
	size_t i;

	assert_int_equal(process->heap.mapped_peak, naive->mapped_peak);
	for (i = 0; i < process->map_site_count; i++) {
		const struct tp_map_site *site = &process->map_sites[i];
		const struct naive_site *other = &naive->sites[site->node - TPROF_NODE_FIRST];

		assert_int_equal(site->calls, other->map_calls);
		assert_int_equal(site->bytes, other->map_bytes);
		assert_int_equal(site->live_bytes, other->map_live);
		assert_int_equal(site->peak_bytes, other->map_peak);
		assert_false(site->file);
		calls[site->node - TPROF_NODE_FIRST] = site->calls;
		live += site->live_bytes;
	}
	for (i = 0; i < SITES; i++)
		assert_int_equal(calls[i], naive->sites[i].map_calls);
	assert_int_equal(process->heap.mapped_end, live);
}

static void compare_timeline(const struct tp_process *process, uint32_t points)
{
	uint64_t largest = 0;
	size_t i;

	assert_true(process->point_count <= points);
	for (i = 0; i < process->point_count; i++) {
		if (process->timeline[i].live_bytes > largest)
			largest = process->timeline[i].live_bytes;
		if (i)
			assert_true(process->timeline[i].time_ns >= process->timeline[i - 1].time_ns);
	}
	assert_int_equal(largest, process->heap.peak_bytes);
}

static void compare(const struct program *program, const struct tp_process *process, uint64_t from, uint64_t to)
{
	struct naive *naive = calloc(1, sizeof(*naive));

	assert_non_null(naive);
	naive_heap(program, naive, from, to);
	compare_sites(naive, process);
	assert_int_equal(process->heap.peak_bytes, naive->peak_bytes);
	if (!from && to == UINT64_MAX) {
		naive_maps(program, naive);
		compare_maps(naive, process);
		assert_int_equal(process->heap.peak_time_ns, naive->peak_time - 1000000);
		assert_int_equal(process->heap.failed_reallocs, program->failed_reallocs);
	}
	assert_int_equal(process->heap.unmatched_frees, 0);
	assert_int_equal(process->heap.reordered, 0);
	assert_int_equal(process->heap.implied_frees, 0);
	free(naive);
}

static void test_random_programs(void **state)
{
	unsigned seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct program *program = random_program(seed, seed % 3 ? 4096 : 65536);
		struct replayed replayed;
		const struct tp_process *process = replay_gen(&replayed, program->gen);

		compare(program, process, 0, UINT64_MAX);
		compare_timeline(process, 512);
		close_replayed(&replayed);
		free_program(program);
	}
}

static void test_random_windows(void **state)
{
	unsigned seed;

	(void)state;
	for (seed = 100; seed < 130; seed++) {
		struct program *program = random_program(seed, 4096);
		uint64_t length = program->now - 1000000;
		struct tp_replay_options options = { .from_ns = length / 3,
						     .to_ns = length / 4 * 3,
						     .timeline_points = 16 };
		struct replayed replayed = { 0 };
		uint64_t at_start;
		size_t before = 0;

		add_trace(&replayed, program->gen);
		replay(&replayed, &options);
		while (before < program->count && program->ops[before].time < 1000000 + options.from_ns)
			before++;
		at_start = before ? naive_live(program, before - 1, NULL, 0) : 0;
		/* A peak at the very begin is what was live then: the naive one only knows events. */
		if (replayed.run->processes[0].heap.peak_bytes > at_start)
			compare(program, &replayed.run->processes[0], 1000000 + options.from_ns,
				1000000 + options.to_ns);
		else
			assert_int_equal(replayed.run->processes[0].heap.peak_bytes, at_start);
		compare_timeline(&replayed.run->processes[0], 16);
		close_replayed(&replayed);
		free_program(program);
	}
}

/* With ticks so coarse that many events share one, totals stay exact; only what lies within a tick is lost. */
static void test_coarse_ticks(void **state)
{
	unsigned seed, i;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct gen_options options = { .tick_shift = 8, .start_ticks = 1 << 20 };
		struct gen *gen = gen_with_sites(&options);
		struct program random = { .seed = seed };
		uint64_t owner[8] = { 0 }, last[8][2] = { { 0 } }, now = options.start_ticks, live = 0;
		struct replayed replayed;
		const struct tp_process *process;

		/* Eight addresses that all threads share: each is freed by one and taken by another at once. */
		for (i = 0; i < 4000; i++) {
			unsigned slot = pick(&random, 8), thread = 1 + pick(&random, 4);

			now += 1 + pick(&random, 60);
			/* Nothing is so fast that an address changes hands twice in a tick. */
			if (last[slot][0] >> options.tick_shift == now >> options.tick_shift)
				continue;
			last[slot][0] = last[slot][1];
			last[slot][1] = now;
			if (owner[slot])
				do_free(gen, thread, now, 0x1000 + slot * 64);
			else
				do_alloc(gen, thread, now, 0x1000 + slot * 64, 10, slot);
			live += owner[slot] ? (uint64_t)-10 : 10;
			owner[slot] = !owner[slot];
		}
		process = replay_gen(&replayed, gen);
		assert_int_equal(process->heap.allocations - process->heap.frees, process->heap.end_blocks);
		assert_int_equal(process->heap.end_bytes, live);
		assert_int_equal(process->heap.unmatched_frees, 0);
		assert_int_equal(process->heap.implied_frees, 0);
		assert_true(process->heap.peak_bytes <= 80);
		close_replayed(&replayed);
		gen_free(gen);
	}
}

/* ---- one by one ---- */

static void test_inherited(void **state)
{
	struct gen_options options = { .origin = TPROF_ORIGIN_FORK };
	struct replayed replayed;
	const struct tp_process *process;
	struct gen *gen;
	int fork;

	(void)state;
	for (fork = 0; fork < 2; fork++) {
		options.origin = fork ? TPROF_ORIGIN_FORK : TPROF_ORIGIN_EXEC;
		gen = gen_with_sites(&options);
		do_free(gen, 1, 10, 0x1000);
		gen_release(gen, 1, 20, 0x2000, TPROF_FN_REALLOC);
		gen_cancel(gen, 1, 30);
		do_alloc(gen, 1, 40, 0x1000, 100, 0);
		process = replay_gen(&replayed, gen);
		assert_int_equal(process->heap.inherited_frees, fork);
		assert_int_equal(process->heap.unmatched_frees, !fork);
		assert_int_equal(process->heap.frees, 0);
		assert_int_equal(process->heap.end_bytes, 100);
		close_replayed(&replayed);
		gen_free(gen);
	}
}

/* The free of an address arrives after its reuse by another thread. */
static void test_late_free(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct replayed replayed;
	const struct tp_process *process;

	(void)state;
	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_alloc(gen, 2, 2000, 0x1000, 30, 1);
	do_free(gen, 1, 2010, 0x1000);
	do_free(gen, 2, 3000, 0x1000);
	do_alloc(gen, 2, 4000, 0x1000, 7, 2);
	process = replay_gen(&replayed, gen);
	assert_int_equal(process->heap.reordered, 1);
	assert_int_equal(process->heap.implied_frees, 0);
	assert_int_equal(process->heap.unmatched_frees, 0);
	assert_int_equal(process->heap.allocations, 3);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.peak_bytes, 100);
	assert_int_equal(process->heap.end_bytes, 7);
	assert_int_equal(site_of(process, 0)->frees, 1);
	assert_int_equal(site_of(process, 1)->frees, 1);
	close_replayed(&replayed);
	gen_free(gen);
}

/* An address is allocated again, and its free is not in the trace at all. */
static void test_implied_free(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct replayed replayed;
	const struct tp_process *process;

	(void)state;
	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_alloc(gen, 2, 2000, 0x1000, 30, 1);
	do_free(gen, 1, 2000000000, 0x1000);
	process = replay_gen(&replayed, gen);
	assert_int_equal(process->heap.implied_frees, 1);
	assert_int_equal(process->heap.reordered, 0);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.end_bytes, 0);
	close_replayed(&replayed);
	gen_free(gen);
}

/* A failed realloc while another thread reaches the peak: the block counts all the time. */
static void test_cancel_at_peak(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct replayed replayed;
	const struct tp_process *process;

	(void)state;
	do_alloc(gen, 1, 10, 0x1000, 900, 0);
	gen_release(gen, 1, 20, 0x1000, TPROF_FN_REALLOC);
	do_alloc(gen, 2, 30, 0x2000, 200, 1);
	do_free(gen, 2, 40, 0x2000);
	gen_cancel(gen, 1, 50);
	process = replay_gen(&replayed, gen);
	assert_int_equal(process->heap.peak_bytes, 1100);
	assert_int_equal(process->heap.failed_reallocs, 1);
	assert_int_equal(process->heap.frees, 1);
	assert_int_equal(process->heap.end_bytes, 900);
	close_replayed(&replayed);
	gen_free(gen);
}

static void test_remap(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct replayed replayed;
	const struct tp_process *process;

	(void)state;
	gen_map(gen, 1, 10, 0x10000, 0x4000, MAP_PRIVATE, NODE(0));
	gen_unmap(gen, 1, 20, 0x10000, 0x4000, true);
	gen_map(gen, 1, 30, 0x90000, 0x8000, TPROF_MAP_REMAP, NODE(1));
	gen_unmap(gen, 1, 40, 0x92000, 0x1000, false);
	process = replay_gen(&replayed, gen);
	assert_int_equal(process->heap.mapped_peak, 0x8000);
	assert_int_equal(process->heap.mapped_end, 0x7000);
	assert_int_equal(process->heap.maps, 2);
	assert_int_equal(process->heap.unmaps, 2);
	assert_int_equal(process->map_site_count, 2);
	assert_true(process->map_sites[0].file && process->map_sites[1].file);
	assert_int_equal(process->map_sites[1].live_bytes, 0x7000);
	close_replayed(&replayed);
	gen_free(gen);
}

static void test_groups_and_filter(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct tp_replay_options options = { .group = TP_GROUP_THREAD };
	struct replayed replayed;
	size_t i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		do_alloc(gen, 1, 10 * i, 0x10000 + 0x1000 * i, 1 + i % 700, 0);
		do_alloc(gen, 2, 10 * i + 5, 0x10400 + 0x1000 * i, 1 + i % 7, 0);
	}
	gen_name(gen, 2, 40000, "loader");
	do_free(gen, 1, 40001, 0x10400);
	replay_gen(&replayed, gen);
	replay(&replayed, &options);
	assert_int_equal(replayed.run->processes[0].site_count, 2);
	assert_int_equal(replayed.run->processes[0].sites[1].key, 2);
	options.group = TP_GROUP_SIZE;
	replay(&replayed, &options);
	assert_int_equal(replayed.run->processes[0].site_count, 700);
	options.group = TP_GROUP_STACK;
	options.thread = 2;
	replay(&replayed, &options);
	assert_int_equal(replayed.run->processes[0].heap.allocations, 3000);
	assert_int_equal(replayed.run->processes[0].heap.frees, 1);
	assert_int_equal(replayed.run->processes[0].heap.unmatched_frees, 0);
	assert_string_equal(replayed.run->processes[0].threads[1].name, "loader");
	close_replayed(&replayed);
	gen_free(gen);
}

/* Two processes that take turns: the peak of the sum is none of theirs. */
static void test_combined(void **state)
{
	struct gen_options first = { .start_ticks = 1000, .start_unix_ns = 1000000, .pid = 10 };
	struct gen_options second = { .start_ticks = 5000, .start_unix_ns = 1000500, .pid = 11 };
	struct gen *a = gen_with_sites(&first), *b = gen_with_sites(&second);
	struct replayed replayed = { 0 };

	(void)state;
	do_alloc(a, 1, 1100, 0x1000, 1000, 0); /* at 100 of the run */
	do_free(a, 1, 1400, 0x1000);
	do_alloc(a, 1, 1600, 0x1000, 600, 0); /* at 600: 600 + 500 = the peak */
	do_free(a, 1, 1900, 0x1000);
	do_alloc(b, 1, 5050, 0x1000, 500, 1); /* at 550 */
	do_free(b, 1, 5200, 0x1000);
	do_alloc(b, 1, 5500, 0x1000, 900, 1); /* at 1000 */
	add_trace(&replayed, b);
	add_trace(&replayed, a);
	replay(&replayed, NULL);
	assert_int_equal(replayed.run->process_count, 2);
	assert_int_equal(replayed.run->processes[0].trace->header->pid, 10);
	assert_int_equal(replayed.run->processes[1].start_ns, 500);
	assert_int_equal(replayed.run->peak_bytes, 1100);
	assert_int_equal(replayed.run->peak_time_ns, 600);
	assert_int_equal(replayed.run->processes[0].combined_peak_bytes, 600);
	assert_int_equal(replayed.run->processes[1].combined_peak_bytes, 500);
	assert_int_equal(replayed.run->processes[0].heap.peak_bytes, 1000);
	assert_int_equal(replayed.run->processes[1].heap.peak_time_ns, 1000);
	assert_int_equal(replayed.run->duration_ns, 1000);
	close_replayed(&replayed);
	gen_free(a);
	gen_free(b);
}

/* Usable sizes beyond 32 bits, and numbers that no program has. */
static void test_huge(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct gen_alloc large = {
		.address = 0x1000, .size = UINT64_C(20) << 30, .usable = UINT64_C(24) << 30, .node = NODE(0)
	};
	struct gen_alloc absurd = { .address = 0x2000, .size = UINT64_MAX / 2, .usable = UINT64_MAX, .node = NODE(1) };
	struct replayed replayed;
	const struct tp_process *process;

	(void)state;
	gen_alloc(gen, 1, 10, &large);
	gen_alloc(gen, 1, 20, &absurd);
	do_free(gen, 1, 30, 0x2000);
	process = replay_gen(&replayed, gen);
	assert_int_equal(process->heap.end_usable, UINT64_C(24) << 30);
	assert_int_equal(process->heap.end_bytes, UINT64_C(20) << 30);
	close_replayed(&replayed);
	gen_free(gen);
}

static void test_empty(void **state)
{
	struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
	struct replayed replayed;
	const struct tp_process *process = replay_gen(&replayed, gen);

	(void)state;
	assert_int_equal(process->heap.events, 0);
	assert_int_equal(process->point_count, 0);
	assert_int_equal(process->site_count, 0);
	close_replayed(&replayed);
	replay(&replayed, NULL);
	assert_int_equal(replayed.run->process_count, 0);
	close_replayed(&replayed);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_random_windows),
		cmocka_unit_test(test_coarse_ticks),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_late_free),
		cmocka_unit_test(test_implied_free),
		cmocka_unit_test(test_cancel_at_peak),
		cmocka_unit_test(test_remap),
		cmocka_unit_test(test_groups_and_filter),
		cmocka_unit_test(test_combined),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
