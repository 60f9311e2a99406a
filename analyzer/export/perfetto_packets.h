/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a Perfetto trace, all of one sequence, and the tables of names and stacks that they refer to. An entry is written before
 * the first packet that needs it. Memory grows with distinct names and stacks.
 */
#ifndef TPROF_EXPORT_PERFETTO_PACKETS_H
#define TPROF_EXPORT_PERFETTO_PACKETS_H

#include <stdio.h>

#include "export/packer.h"
#include "export/perfetto.pb-c.h"
#include "export/stack_tree.h"

/* Sets an optional field of a message, which is evaluated twice. */
#define TPA_SET(message, field, value) ((message).has_##field = 1, (message).field = (value))

enum tpa_perfetto_table {
	TPA_PERFETTO_NAMES, /* of events */
	TPA_PERFETTO_CATEGORIES,
	TPA_PERFETTO_FUNCTIONS,
	TPA_PERFETTO_BUILD_IDS,
	TPA_PERFETTO_PATHS, /* of modules */
	TPA_PERFETTO_SOURCES,
	TPA_PERFETTO_TABLES,
};

struct tpa_perfetto {
	FILE *out;
	struct tpa_packer packer;
	uint64_t base_ns; /* added to the times of packets: CLOCK_MONOTONIC at the run's start */
	uint64_t packets;
	struct tpa_arena *arena;
	struct tpa_pairs texts; /* (table, text) to number */
	uint32_t counts[TPA_PERFETTO_TABLES];
	struct tpa_frame_table frames;
	size_t frames_written;
	struct tpa_pairs mappings;
	uint32_t mapping_count;
	struct tpa_stack_tree stacks;
	uint8_t *written; /* by node of `stacks`: the stack is in the file */
	size_t written_count, written_room;
	uint64_t *path;
	size_t path_room;
};

void tpa_perfetto_begin(struct tpa_perfetto *perfetto, FILE *out, uint64_t base_ns);
void tpa_perfetto_end(struct tpa_perfetto *perfetto);

/* Writes a packet, whose timestamp the caller has set in nanoseconds since the run's start, or not at all. */
void tpa_perfetto_write(struct tpa_perfetto *perfetto, Perfetto__TracePacket *packet);

/* The number of a text in a table: made valid UTF-8 without control characters. */
uint64_t tpa_perfetto_text(struct tpa_perfetto *perfetto, enum tpa_perfetto_table table, const char *text);

/* The number of lines [first, last) of a stack. */
uint64_t tpa_perfetto_stack(struct tpa_perfetto *perfetto, size_t which, const struct tpa_stack *stack, size_t first);

/* The same of a node of perfetto->stacks. */
uint64_t tpa_perfetto_node(struct tpa_perfetto *perfetto, uint32_t node);

#endif
