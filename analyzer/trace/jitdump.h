/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads perf's jitdump format (Linux, tools/perf/Documentation/jitdump-specification.txt), in which a compiler describes the code
 * that it makes at run time: names, lines, and from when each code stands at its address.
 */
#ifndef TPROF_TRACE_JITDUMP_H
#define TPROF_TRACE_JITDUMP_H

#include "trace/trace.h"

struct tpa_jit_line {
	uint64_t offset; /* from the code's start; ascending */
	uint32_t line;
	const char *file;
};

struct tpa_jit_code {
	uint64_t start, end; /* run-time addresses */
	uint64_t time;	     /* event time when it was loaded or moved there */
	uint64_t limit;	     /* largest end up to here */
	uint64_t index;	     /* the writer's number of it */
	size_t order;	     /* of its record in the file: its number, from 0 */
	const char *name;
	const struct tpa_jit_line *lines;
	size_t line_count;
};

struct tpa_jitdump {
	struct tpa_jit_code *codes; /* once sorted: by start, then by order in the file */
	size_t count, room;
	uint32_t *of_order; /* once sorted: of each code's order, its index */
	void **texts;	    /* all that the codes point to */
	size_t text_count, text_room;
};

/*
 * Adds the code in the file to *dump, up to the first record that is cut or malformed. Times become those of the trace's
 * events. False: the file is no jitdump, or can't be read. Follows no link and opens only regular files, as everybody may write to
 * /tmp.
 */
bool tpa_jitdump_read(struct tpa_jitdump *dump, const char *path, const struct tpa_trace *trace);
void tpa_jitdump_sort(struct tpa_jitdump *dump);
void tpa_jitdump_free(struct tpa_jitdump *dump);

/* The code of a frame: see struct tpa_frame. The dump is sorted. */
static inline const struct tpa_jit_code *tpa_jit_code(const struct tpa_jitdump *dump, uint32_t jit)
{
	return &dump->codes[dump->of_order[jit - 1]];
}

/* The code that stands at an address during [from, until). */
struct tpa_jit_span {
	const struct tpa_jit_code *code; /* NULL: none ever did */
	uint64_t from, until;
};

/* The code at a time, of a sorted dump. The first that ever stood there counts from the beginning. */
struct tpa_jit_span tpa_jitdump_at(const struct tpa_jitdump *dump, uint64_t address, uint64_t time);

/* The line of an address in the code. NULL: not known. */
const struct tpa_jit_line *tpa_jit_line_at(const struct tpa_jit_code *code, uint64_t address);

#endif
