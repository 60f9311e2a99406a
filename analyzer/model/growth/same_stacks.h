/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that are the same to the reader of a report. They are compared by what the trace itself says of a frame, so
 * that most frames need no symbol lookup: file and offset of native code; file, function and line of Python code. So a
 * library that is loaded again at another address is still the same.
 *
 * What a program creates anew in each step has a new name each time: generated code, a compiled kernel, a plug-in that
 * was copied to a temporary file. Such names are alike if they differ only in these:
 *   - numbers: "<generated 17>", "kernel_17"; but not numbers after a colon, which are lines
 *   - hashes: words of 8 or more letters and digits that are hexadecimal numbers, or change from letters to digits and
 *     back
 *   - below /tmp, /var/tmp and /dev/shm: the names of files and folders, except what follows the last dot
 *   - code without a name: its address
 * Names of native functions are looked up only where several files have names that are alike, and for code that is in
 * no file.
 */
#ifndef TPROF_MODEL_GROWTH_SAME_STACKS_H
#define TPROF_MODEL_GROWTH_SAME_STACKS_H

#include "model/options.h"

struct tpa_alike {
	const struct tpa_trace *trace;
	const struct tpa_replay_options *options;
	uint64_t *exact, *loose; /* hashes by frame; 0: not computed yet */
	uint64_t *modules;	 /* by module: hash of its loose name */
	bool *several;		 /* by module: other files have the same loose name */
};

/*
 * Hashes of a stack. Stacks with the same `exact` are printed alike; those with the same `loose` differ only in such
 * names.
 */
struct tpa_alike_stack {
	uint64_t exact, loose;
};

void tpa_alike_init(struct tpa_alike *alike, const struct tpa_trace *trace, const struct tpa_replay_options *options);
void tpa_alike_free(struct tpa_alike *alike);

/* The hashes of a stack. `op`: name of the site's op; NULL: none. */
struct tpa_alike_stack tpa_alike_stack(struct tpa_alike *alike, uint32_t node, const char *op);

/* The name with each part that may differ replaced by "#". The caller frees it. */
char *tpa_alike_name(const char *name);

#endif
