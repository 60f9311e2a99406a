/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of programs whose allocations are known, of which a sample is recorded as the collector would: each block with
 * probability 1 - exp(-size / mean), by seeds that are the same in every test run. Behind cmocka.
 */
#ifndef TPROF_TESTS_SAMPLED_RUNS_H
#define TPROF_TESTS_SAMPLED_RUNS_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "report/rows/diff.h"
#include "report/json/diff_json.h"
#include "symbols/symbols.h"
#include "tracegen.h"

#define PLACES 60
#define MEAN 65536.0
#define NODE(place) (TPROF_NODE_FIRST + (uint32_t)(place))

struct sampled {
	struct gen *gen;
	uint64_t now, blocks, seed;
	double allocated[PLACES]; /* in truth */
};

static inline double uniform(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return ((double)(*seed >> 11) + 0.5) / 0x1p53;
}

/* Its address; 0: it is not in the sample. */
static inline uint64_t take(struct sampled *run, uint32_t place, uint64_t size)
{
	struct gen_alloc alloc = { .size = size, .node = NODE(place) };

	run->now += 10;
	run->allocated[place] += (double)size;
	if (uniform(&run->seed) >= -expm1(-(double)size / MEAN))
		return 0;
	alloc.address = 0x100000 + (++run->blocks << 24);
	gen_alloc(run->gen, 1, run->now, &alloc);
	return alloc.address;
}

static inline void give(struct sampled *run, uint64_t address)
{
	run->now += 10;
	if (address)
		gen_release(run->gen, 1, run->now, address, TPROF_FN_FREE);
}

static inline void end_step(struct sampled *run)
{
	run->now += 1000000;
	gen_step(run->gen, 1, run->now, 0);
}

/* `factor`: what one run has more of than another, at place 0. */
typedef void program(struct sampled *run, double factor);

/* Each place is a function in a module of its own. */
static inline struct sampled sampled_run(program *what, double factor, uint64_t seed)
{
	struct sampled run = { .seed = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1) };
	char path[32];

	for (int i = 0; i < 10; i++)
		uniform(&run.seed);
	run.gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 16 });
	gen_header(run.gen)->sample_bytes = (uint64_t)MEAN;
	for (uint32_t i = 1; i <= PLACES; i++) {
		snprintf(path, sizeof(path), "/lib/place%u.so", i - 1);
		gen_module(run.gen, i, 0x10000 * i, 0x10000 * i, 0x10000 * i + 0x8000, path);
		gen_frame(run.gen, i, i, 0x100, 0);
		gen_nodes(run.gen, NODE(i - 1), TPROF_NODE_ROOT, &i, 1);
	}
	what(&run, factor);
	gen_finish(run.gen, run.now + 100, 0);
	return run;
}

static inline struct tpa_run *open_sampled(struct sampled *run, struct tpa_trace **trace)
{
	const struct tpa_replay_options options = { .batches = true };
	const char *name = gen_save(run->gen);
	char *error = NULL;
	struct tpa_run *result;

	*trace = tpa_trace_open(name, &error);
	assert_non_null(*trace);
	unlink(name);
	gen_free(run->gen);
	result = tpa_run_replay(trace, 1, &options);
	assert_non_null(result);
	return result;
}

static inline void add_sampled(struct tpa_diff *diff, int side, struct sampled *run)
{
	const struct tpa_symbols_options options = { 0 };
	struct tpa_trace *trace;
	struct tpa_run *replayed = open_sampled(run, &trace);
	struct tpa_symbols *symbols = tpa_symbols_open(trace, &options);

	assert_non_null(symbols);
	tpa_diff_add(diff, side, replayed, &symbols);
	tpa_symbols_close(symbols);
	tpa_run_free(replayed);
	tpa_trace_close(trace);
}

#endif
