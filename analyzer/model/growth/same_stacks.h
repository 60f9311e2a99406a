/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks are one to whoever reads a report. By what the trace itself says of a frame, so that nothing is looked up for
 * most of them: file and offset of native code, file, function and line of Python's. A library that is loaded again at another
 * address is the same then.
 *
 * What a program makes anew in each step has a new name each time: generated code, a compiled kernel, a plug-in copied to a
 * temporary file. Such names are alike where they differ in these alone:
 *   - numbers: "<generated 17>", "kernel_17". Not those behind a colon, which are lines.
 *   - hashes: a word of 8 or more letters and digits that is a hexadecimal number, or changes from letters to digits and back
 *   - below /tmp, /var/tmp and /dev/shm: the names of files and folders, but for what stands behind the last dot
 *   - code without any name: its address
 * Functions of native code are asked for where several files have names that are alike, and of code in no file.
 */
#ifndef TPROF_MODEL_GROWTH_SAME_STACKS_H
#define TPROF_MODEL_GROWTH_SAME_STACKS_H

#include "model/options.h"

struct tpa_alike {
	const struct tpa_trace *trace;
	const struct tpa_replay_options *options;
	uint64_t *exact, *loose; /* by frame; 0: not asked for yet */
	uint64_t *modules;	 /* by module: of its loose name */
	bool *several;		 /* by module: other files have that name too */
};

/* Stacks with the same `exact` are printed alike; with the same `loose` they differ in such names alone. */
struct tpa_alike_stack {
	uint64_t exact, loose;
};

void tpa_alike_init(struct tpa_alike *alike, const struct tpa_trace *trace, const struct tpa_replay_options *options);
void tpa_alike_free(struct tpa_alike *alike);

/* `op` as sites have it. */
struct tpa_alike_stack tpa_alike_stack(struct tpa_alike *alike, uint32_t node, const char *op);

/* The name without what may differ: each is a "#". The caller frees it. */
char *tpa_alike_name(const char *name);

#endif
