/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's tables without a trace file: chunks come from memory, and are kept for a look at the end. */
#ifndef STRESS_HARNESS_H
#define STRESS_HARNESS_H

#include <tprof/format.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define HARNESS_CHUNKS 20000u

/* Recording is on from here on. */
void harness_start(void);

/* The chunks handed out so far; NULL where one is not begun yet. Any thread, any time. */
size_t harness_chunk_count(void);
struct tprof_chunk *harness_chunk(size_t i);

/* Ends the program with a line on stderr, status 1. */
#define HARNESS_CHECK(what)                                                                                            \
	do {                                                                                                           \
		if (!(what))                                                                                           \
			harness_fail(__FILE__, __LINE__, #what);                                                       \
	} while (0)
static inline __attribute__((noreturn)) void harness_fail(const char *file, int line, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	_exit(1);
}

struct harness_node {
	uint32_t parent, frame; /* frame 0: no record of it */
};

/* Decodes what is committed of a chunk of tables into nodes[] and seen_frames[]; fails on anything that is no record. */
void harness_read_tables(const struct tprof_chunk *chunk, struct harness_node *nodes, uint64_t *frame_offsets,
			 size_t max);

#endif
