/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the heap model: traces whose stacks are a few sites, and runs of one process or several. Behind cmocka. */
#ifndef TPROF_TESTS_SITE_RUNS_H
#define TPROF_TESTS_SITE_RUNS_H

#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "tracegen.h"

#define SITES 12
#define NODE(site) (TPROF_NODE_FIRST + (uint32_t)(site))

struct replayed {
	struct tpa_trace *traces[8];
	size_t count;
	struct tpa_run *run;
};

static inline void add_trace(struct replayed *replayed, struct gen *gen)
{
	const char *name = gen_save(gen);
	char *error = NULL;
	struct tpa_trace *trace = tpa_trace_open(name, &error);

	if (!trace)
		fail_msg("%s", error);
	unlink(name);
	assert_int_equal(trace->damage_count, 0);
	replayed->traces[replayed->count++] = trace;
}

static inline void replay(struct replayed *replayed, const struct tpa_replay_options *options)
{

	tpa_run_free(replayed->run);
	replayed->run = tpa_run_replay(replayed->traces, replayed->count, options);
	assert_non_null(replayed->run);
}

static inline const struct tpa_process *replay_gen(struct replayed *replayed, struct gen *gen)
{
	memset(replayed, 0, sizeof(*replayed));
	add_trace(replayed, gen);
	replay(replayed, NULL);
	return &replayed->run->processes[0];
}

static inline void close_replayed(struct replayed *replayed)
{
	size_t i;

	tpa_run_free(replayed->run);
	for (i = 0; i < replayed->count; i++)
		tpa_trace_close(replayed->traces[i]);
	memset(replayed, 0, sizeof(*replayed));
}

/* Stack nodes NODE(0), NODE(1), ..., each a frame of its own under the root. */
static inline struct gen *gen_with_sites(const struct gen_options *options)
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

static inline void do_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t size,
			    uint32_t site)
{
	struct gen_alloc alloc = { .address = address, .size = size, .node = NODE(site) };

	gen_alloc(gen, thread, ticks, &alloc);
}

static inline void do_free(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address)
{
	gen_release(gen, thread, ticks, address, TPROF_FN_FREE);
}

static inline const struct tpa_site *site_of(const struct tpa_process *process, uint32_t site)
{
	static const struct tpa_site none;
	size_t i;

	for (i = 0; i < process->site_count; i++)
		if (tpa_trace_file_node(process->trace, process->sites[i].node) == NODE(site))
			return &process->sites[i];
	return &none;
}

#endif
