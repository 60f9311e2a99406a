/* SPDX-License-Identifier: Apache-2.0 */
/* Writes into the code of a process that runs what libtprof.so wants to be there (tprof/patches.h). */
#ifndef TPROF_ATTACH_PATCH_H
#define TPROF_ATTACH_PATCH_H

#include <stdint.h>

#include "attach/tracee.h"

#define TPA_PATCHES_LEFT 16

struct tpa_patched {
	uint64_t functions;		 /* that were written to */
	uint64_t stopped_ns;		 /* for how long all threads stood */
	uint64_t left[TPA_PATCHES_LEFT]; /* addresses of those that were left out, as a thread was always there */
	size_t left_count;
};

/*
 * `patches`: the address of its struct tprof_patches. `caller` is stopped. All other threads are stopped, while none of them, nor
 * what a signal interrupted in one, is within bytes that are to be changed; they are if need be run on by single
 * instructions. A patch in which there is one again and again is left out. Returns NULL, or why nothing was written: a sentence
 * without its subject, which is the process. To be freed.
 */
char *tpa_patch(struct tpa_tracee *caller, uint64_t patches, struct tpa_patched *patched);

#endif
