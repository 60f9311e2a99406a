/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory sample says beside RSS and address space. */
#ifndef TPROF_MODEL_SAMPLES_MEMORY_PARTS_H
#define TPROF_MODEL_SAMPLES_MEMORY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of RSS, bytes. */
struct tp_memory_parts {
	uint64_t shared;	      /* of files, and shared memory */
	uint64_t own, stacks, mapped; /* as counted last: the collector's, the threads', what the program mapped */
	bool counted;		      /* these three ever were */
};

/* What a MEMORY event's name holds. What it does not say stays as it was. */
void tp_memory_parts_read(struct tp_memory_parts *parts, const char *bytes, size_t length);

#endif
