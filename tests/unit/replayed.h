/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the model: a generated trace of one process, replayed. Included behind cmocka. */
#ifndef TPROF_TESTS_REPLAYED_H
#define TPROF_TESTS_REPLAYED_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "tracegen.h"

struct replayed {
	struct tpa_trace *trace;
	struct tpa_run *run;
	const struct tpa_process *process;
};

/* `gen` is freed. Any damage fails the test. */
static inline struct replayed replay(struct gen *gen, const struct tpa_replay_options *options)
{
	const char *name = gen_save(gen);
	struct replayed replayed;
	char *error = NULL;

	replayed.trace = tpa_trace_open(name, &error);
	if (!replayed.trace)
		fail_msg("%s", error);
	unlink(name);
	assert_int_equal(replayed.trace->damage_count, 0);
	replayed.run = tpa_run_replay(&replayed.trace, 1, options);
	assert_non_null(replayed.run);
	replayed.process = &replayed.run->processes[0];
	gen_free(gen);
	return replayed;
}

static inline void done(struct replayed *replayed)
{
	tpa_run_free(replayed->run);
	tpa_trace_close(replayed->trace);
}

static inline const struct tpa_op_stats *op_named(const struct replayed *replayed, const char *name)
{
	for (size_t i = 0; i < replayed->process->op_count; i++)
		if (strcmp(replayed->process->ops[i].name, name) == 0)
			return &replayed->process->ops[i];
	fail_msg("no op %s", name);
	return NULL;
}

static inline void allocate(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t size)
{
	struct gen_alloc alloc = { .address = address, .size = size };

	gen_alloc(gen, thread, ticks, &alloc);
}

#endif
