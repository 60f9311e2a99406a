/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers the places in the code that an export tells of, for formats with a table of frames. Functions without a name are one for
 * each module, "[libfoo.so]". Memory grows with the distinct places.
 */
#ifndef TPROF_EXPORT_FRAMES_H
#define TPROF_EXPORT_FRAMES_H

#include "base/arena.h"
#include "base/pairs.h"
#include "report/rows/stack.h"

/* Texts are as the trace or the symbols have them: any bytes. Equal texts have equal pointers. */
struct tpa_frame_text {
	const char *name, *file; /* file NULL: unknown */
	const char *module;	 /* NULL: it is no code, but an op */
	int line;		 /* 0: unknown */
	bool python;
	/* Of the place that was seen first: its module, NULL if unknown, and its address in the module's file, link time. */
	const struct tpa_module *loaded;
	uint64_t address;
};

struct tpa_frame_table {
	struct tpa_arena *arena;
	struct tpa_frame_text *list; /* by number */
	size_t count, room;
	struct tpa_pairs places, texts;
};

void tpa_frames_init(struct tpa_frame_table *frames);
void tpa_frames_free(struct tpa_frame_table *frames);

/* The number of a line of a stack of traces[which]. The symbols must stay open. */
uint32_t tpa_frames_line(struct tpa_frame_table *frames, size_t which, const struct tpa_line *line);

/* The number of an op. */
uint32_t tpa_frames_op(struct tpa_frame_table *frames, const char *name);

#endif
