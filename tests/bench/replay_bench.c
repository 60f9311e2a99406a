/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a trace is replayed: 6 million events of two threads, 1,000 stacks, 10,000 live blocks. Prints events a
 * second of the processor, of decoding alone and of the whole replay; best of fifteen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "trace/events.h"
#include "tracegen.h"

#define EVENTS 6000000u
#define STACKS 1000u
#define LIVE 10000u
#define DEPTH 20u
#define ROUNDS 15

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % n);
}

static void write_stacks(struct gen *gen)
{
	uint32_t frames[DEPTH], i, k;

	gen_module(gen, 1, 0, 0x10000, 0x1000000, "/usr/bin/program");
	for (i = 0; i < STACKS; i++) {
		for (k = 0; k < DEPTH; k++) {
			frames[k] = i * DEPTH + k + 1;
			gen_frame(gen, frames[k], 1, 16 * frames[k], 0);
		}
		gen_nodes(gen, TPROF_NODE_FIRST + i * DEPTH, TPROF_NODE_ROOT, frames, DEPTH);
	}
}

/* A pool of slots; each pick frees the old block and takes a new one at an address of an allocator that reuses. */
static void write_events(struct gen *gen)
{
	static uint64_t address[LIVE], spare[64];
	uint64_t seed = 1, now = 1 << 20, top = 0x555500000000;
	uint32_t spares = 0, events = 0;

	while (events < EVENTS) {
		uint32_t slot = pick(&seed, LIVE), thread = 1;
		struct gen_alloc alloc = { .size = 16 + pick(&seed, 1000),
					   .node = TPROF_NODE_FIRST + pick(&seed, STACKS) * DEPTH + DEPTH - 1 };

		now += 50 + pick(&seed, 200);
		if (address[slot]) {
			gen_release(gen, thread, now, address[slot], TPROF_FN_FREE);
			spare[spares++] = address[slot];
			events++;
		}
		now += 50 + pick(&seed, 100);
		if (spares > 32)
			alloc.address = spare[--spares];
		else
			alloc.address = top += 16 * (1 + pick(&seed, 64));
		address[slot] = alloc.address;
		gen_alloc(gen, thread, now, &alloc);
		events++;
	}
	gen_finish(gen, now, 0);
}

static double decode(struct tpa_trace *trace, uint64_t *count)
{
	double begin = seconds();
	struct tpa_events *events = tpa_events_open(trace);

	*count = 0;
	while (tpa_events_next(events))
		++*count;
	tpa_events_close(events);
	return seconds() - begin;
}

static double replay(struct tpa_trace *trace)
{
	double begin = seconds();

	tpa_run_free(tpa_run_replay(&trace, 1, NULL));
	return seconds() - begin;
}

int main(void)
{
	struct gen_options options = { .chunk_size = TPROF_CHUNK_SIZE, .tick_shift = 4, .start_ticks = 1 << 20 };
	struct gen *gen = gen_new(&options);
	double best_decode = 1e9, best_replay = 1e9, took;
	struct tpa_trace *trace;
	const char *name;
	uint64_t count = 0;
	char *error;
	int i;

	write_stacks(gen);
	write_events(gen);
	name = gen_save(gen);
	trace = tpa_trace_open(name, &error);
	unlink(name);
	gen_free(gen);
	if (!trace) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	for (i = 0; i < ROUNDS; i++) {
		took = decode(trace, &count);
		best_decode = took < best_decode ? took : best_decode;
		took = replay(trace);
		best_replay = took < best_replay ? took : best_replay;
	}
	printf("%" PRIu64 " events, %.2f bytes each: decode %.1f M/s, replay %.1f M/s\n", count,
	       (double)trace->used_bytes / (double)count, (double)count / best_decode / 1e6,
	       (double)count / best_replay / 1e6);
	tpa_trace_close(trace);
	return 0;
}
