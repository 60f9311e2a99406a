/* SPDX-License-Identifier: Apache-2.0 */
/* The TPROF_* environment, read once at the start. */
#ifndef TPROF_CORE_CONFIG_H
#define TPROF_CORE_CONFIG_H

#include "core/base.h"
#include "core/perf.h"

#define TPC_DEPTH_MAX 1000u

enum tpc_alloc_mode { TPC_ALLOC_OFF, TPC_ALLOC_TRACE, TPC_ALLOC_SAMPLE };

enum tpc_python_mode { TPC_PYTHON_OFF, TPC_PYTHON_STACKS, TPC_PYTHON_ALLOC }; /* ALLOC: stacks too */

struct tpc_config {
	const char *output;		 /* TPROF_OUTPUT, not expanded */
	const char *exe;		 /* TPROF_EXE: glob, or NULL */
	uint32_t alloc;			 /* TPROF_ALLOC: enum tpc_alloc_mode */
	uint64_t sample_bytes;		 /* mean of TPC_ALLOC_SAMPLE; 0: mean_log2 tells it */
	uint32_t mean_log2;		 /* core/budget.c changes it; 0: all allocations are recorded */
	uint32_t max_overhead;		 /* TPROF_MAX_OVERHEAD, hundredths of a percent; 0: no bound */
	uint32_t cpu;			 /* TPROF_CPU: samples a second of CPU time; 0: off */
	bool children;			 /* TPROF_CHILDREN */
	bool start_off;			 /* TPROF_START=off: tell it when to begin */
	uint32_t depth;			 /* TPROF_DEPTH, frames; core/ring.c lowers it */
	uint32_t python;		 /* TPROF_PYTHON: enum tpc_python_mode */
	bool leakcheck;			 /* TPROF_LEAKCHECK=exit */
	uint64_t leakcheck_step;	 /* TPROF_LEAKCHECK=step:N; 0: none */
	uint32_t verbose;		 /* TPROF_VERBOSE */
	uint64_t run;			 /* TPROF_RUN; 0: not said */
	uint64_t ring;			 /* TPROF_RING, bytes; 0: the trace grows */
	uint32_t ring_wait;		 /* TPROF_RING_WAIT, milliseconds */
	uint32_t ring_folder;		 /* TPROF_RING_FOLDER: the process whose ring tprof run folds; 0: none */
	struct tpc_perf_wanted counters; /* TPROF_COUNTERS */
};

extern struct tpc_config tpc_config TPC_NEAR;

/* Are all allocations recorded at present, at a level of TPROF_MAX_OVERHEAD? */
static inline bool tpc_config_takes_all(void)
{
	return tpc_config.alloc == TPC_ALLOC_SAMPLE && !tpc_config.sample_bytes && !tpc_load(&tpc_config.mean_log2);
}

struct tpc_text;

/* Which functions are ops, or allocate by rules: set by the floor that knows, before the environment is read. */
struct tpc_config_ops {
	bool (*set)(const char *value);	      /* TPROF_OPS; false: the value can't be understood */
	bool (*set_step)(const char *value);  /* the same of TPROF_STEP */
	void (*allowed)(struct tpc_text *to); /* what TPROF_OPS may be, for a message */
	bool (*set_rules)(const char *path);  /* the same two of TPROF_RULES */
	void (*rules_allowed)(struct tpc_text *to);
};
extern const struct tpc_config_ops *tpc_config_ops;

/*
 * Reads `environment`, once. What can't be understood leaves its default, and a line for it in
 * `complaints`, each ended by a newline.
 */
void tpc_config_read(char *const *environment, struct tpc_text *complaints);

#endif
