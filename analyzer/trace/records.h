/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of table records share while a trace is opened: what was read so far, and where it goes. */
#ifndef TPROF_TRACE_RECORDS_H
#define TPROF_TRACE_RECORDS_H

#include "trace/impl.h"

#define TPA_BAD_NUMBER "a table record has a number that is out of range"
#define TPA_CUT_RECORD "a table record does not fit its chunk"
#define TPA_NUMBER_TWICE "a table record gives a number that is taken"

struct tpa_unload {
	uint64_t module, ticks;
};

struct tpa_join { /* a node that stands for two */
	uint32_t node, native, python;
};

struct tpa_tables {
	struct tpa_trace_impl *impl;
	size_t module_room, frame_room, node_room, frame_module_room, op_room, code_room;
	struct tpa_unload *unloads;
	size_t unload_count, unload_room;
	struct tpa_join *joins;
	size_t join_count, join_room;
	uint32_t *frame_module; /* module number of each frame, until all modules are known */
	uint64_t frame_top;	/* one behind the highest frame number that a node has */

	/* The chunk being read. */
	const uint8_t *start, *at, *end;
	uint64_t offset;   /* of `start` in the file */
	uint64_t expected; /* number behind the last NODES or JOIN record */
	uint64_t python;   /* Python node of the last JOIN record */
};

void tpa_tables_damage(struct tpa_tables *tables, const uint8_t *record, uint64_t lost, const char *reason);

/* Makes `count` elements of a list, the new ones zero. False: no memory. */
bool tpa_tables_extend(void *list, size_t *count, size_t *room, size_t need, size_t size);

/*
 * Two texts, each with a NUL behind it, in one block that free() of the first frees; the second stands at [first_length + 1].
 * NULL: no memory.
 */
char *tpa_tables_texts(const void *first, size_t first_length, const void *second, size_t second_length);

/* Makes room for a frame's number. False: no memory. *taken: there is one of that number already. */
bool tpa_tables_frame(struct tpa_tables *tables, uint64_t number, bool *taken);

/* Records of [at, end), whose tag stands at `record`. False: no memory. */
bool tpa_tables_code(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end);
bool tpa_tables_python(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end);

/* The JOIN record at tables->at, which is moved behind it. False: no memory. */
bool tpa_tables_join(struct tpa_tables *tables, const uint8_t *record);

/* Once all chunks are read: see resolve.c. False: no memory. */
bool tpa_tables_resolve(struct tpa_tables *tables);

/* Makes each joined node an alias of a node whose frames are those of both. The nodes are unified. False: no memory. */
bool tpa_nodes_join(struct tpa_trace *trace, size_t *node_room, const struct tpa_join *joins, size_t count);

#endif
