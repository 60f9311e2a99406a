/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of table records share while a trace is opened. */
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

/* Notes that a record is damaged and that `lost` bytes of it could not be used. */
void tpa_tables_damage(struct tpa_tables *tables, const uint8_t *record, uint64_t lost, const char *reason);

/*
 * Two texts, each with a NUL behind it, in one block that free() of the first releases; the second stands at
 * [first_length + 1].
 */
char *tpa_tables_texts(const void *first, size_t first_length, const void *second, size_t second_length);

/* Whether a frame, node, module or op can have that number. */
static inline bool tpa_tables_is_number(const struct tpa_tables *tables, uint64_t number)
{
	return number && number < tables->impl->number_limit;
}

/* Makes room for a frame of that number. False: there is one already. */
bool tpa_tables_frame(struct tpa_tables *tables, uint64_t number);

/* Reads the body [at, end) of a record with a length. Returns why the record is damaged; NULL: it is not. */
typedef const char *tpa_read_body(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end);

/* Of Python: see python.c. */
tpa_read_body tpa_tables_code, tpa_tables_python;

/* Of the run as a whole: see facts.c. */
tpa_read_body tpa_fact_value, tpa_fact_counter, tpa_fact_reach, tpa_fact_jitdump, tpa_fact_file, tpa_fact_hooks;

/* Of a search for holders: see holder_facts.c. */
tpa_read_body tpa_fact_holder, tpa_fact_held, tpa_fact_holders;
void tpa_facts_holders_free(struct tpa_trace *trace);

/* Reads the JOIN record at tables->at and moves tables->at behind it, or behind what is lost. Returns as tpa_read_body does. */
const char *tpa_tables_join(struct tpa_tables *tables);

/* Once all chunks are read: see resolve.c. */
void tpa_tables_resolve(struct tpa_tables *tables);

/* Makes each joined node an alias of a node whose frames are those of both. The nodes are unified. */
void tpa_nodes_join(struct tpa_trace *trace, size_t *node_room, const struct tpa_join *joins, size_t count);

#endif
