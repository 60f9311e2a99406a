/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace (tprof-trace(5)) of one process with one thread, as a stream: memory is needed for what the tables hold, not for
 * events. Times are nanoseconds since the start. Not thread-safe.
 */
#ifndef TPROF_IMPORT_TRACE_WRITER_H
#define TPROF_IMPORT_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tpa_trace_writer;

/* What the header says. Lists of texts have a NUL behind each. */
struct tpa_trace_about {
	const char *exe; /* "": unknown */
	const char *args;
	size_t args_length;
	const char *source; /* where it was imported from, then what limits its figures */
	size_t source_length;
	uint32_t pid;	       /* 0: unknown */
	uint64_t start_ns;     /* when it began, in nanoseconds since 1970; 0: unknown */
	uint32_t depth;	       /* frames that are recorded of a stack at most; 0: unknown */
	uint64_t sample_bytes; /* mean by which blocks were sampled; 0: all are there */
};

/* `file`, which is empty and stays the caller's, is written from its begin. */
struct tpa_trace_writer *tpa_trace_writer_new(FILE *file);
void tpa_trace_writer_free(struct tpa_trace_writer *writer);

/* ---- tables; numbers are given out from 1 on ---- */

/*
 * An image from `start` to before `end`, both 0 if they are unknown; it grows by frames that lie outside. bias is its run-time address
 * minus the one that it was linked for.
 */
uint32_t tpa_write_module(struct tpa_trace_writer *writer, const char *path, uint64_t bias, uint64_t start,
			  uint64_t end);

/* A frame that returns to `pc`, in a module (0: none). The same number for the same place. */
uint32_t tpa_write_frame(struct tpa_trace_writer *writer, uint32_t module, uint64_t pc);

/* A frame that `parent` called: a node, or how the stack ends (TPROF_NODE_ROOT and the like). The same number for the same two. */
uint32_t tpa_write_node(struct tpa_trace_writer *writer, uint32_t parent, uint32_t frame);

/* ---- events ---- */

/* When the next events happened; a time before that of the last ones counts as theirs. */
void tpa_write_time(struct tpa_trace_writer *writer, uint64_t ns);
uint64_t tpa_writer_time(const struct tpa_trace_writer *writer);

/* A block, whose usable size is taken to be what was requested. */
void tpa_write_alloc(struct tpa_trace_writer *writer, uint64_t address, uint64_t size, uint32_t node);
void tpa_write_free(struct tpa_trace_writer *writer, uint64_t address);

/* Memory that was mapped, in whole pages of 4,096 bytes. */
void tpa_write_map(struct tpa_trace_writer *writer, uint64_t address, uint64_t bytes, uint32_t node);
void tpa_write_unmap(struct tpa_trace_writer *writer, uint64_t address, uint64_t bytes);

/* Resident and virtual size of the process, in bytes; 0: unknown. */
void tpa_write_memory(struct tpa_trace_writer *writer, uint64_t resident, uint64_t virtual_size);
void tpa_write_mark(struct tpa_trace_writer *writer, const char *text);

/* How many allocations were written. */
uint64_t tpa_writer_allocations(const struct tpa_trace_writer *writer);

/* Writes what is left and the header. False: the file could not be written, errno says why. */
bool tpa_trace_writer_end(struct tpa_trace_writer *writer, const struct tpa_trace_about *about);

#endif
