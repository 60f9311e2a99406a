/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that lived when the last step ended, and were freed since: a program that frees all on its way out (Python does) has
 * none live at the end, and how old what leaked was is to be told all the same.
 */
#ifndef TPROF_MODEL_HEAP_LATE_FREES_H
#define TPROF_MODEL_HEAP_LATE_FREES_H

#include <stddef.h>
#include <stdint.h>

#include "model/heap/live.h"

struct tp_archive;

#define TP_OUTLIVED_MANY ((size_t)1 << 22) /* that are kept */

struct tp_outlived_block {
	uint64_t time, size;
	uint32_t site;
};

struct tp_outlived {
	uint64_t step_ended; /* event time; 0: none did */
	struct tp_outlived_block *list;
	size_t count, room;
};

/* A block is freed that was there when the step ended. What there is no room for is not told. */
void tp_outlived_add(struct tp_outlived *outlived, const struct tp_block *block);

/* Saves, or loads. Whoever loads checks the sites. */
void tp_outlived_archive(struct tp_archive *archive, struct tp_outlived *outlived);

/* A step ended. */
static inline void tp_outlived_begin(struct tp_outlived *outlived, uint64_t time)
{
	outlived->step_ended = time;
	outlived->count = 0;
}

#endif
