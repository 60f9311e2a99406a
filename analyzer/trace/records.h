/* SPDX-License-Identifier: Apache-2.0 */
/* The records of the table chunks, and what their readers share. */
#ifndef TPROF_TRACE_RECORDS_H
#define TPROF_TRACE_RECORDS_H

#include "trace/impl.h"

#define TPA_BAD_NUMBER "a table record has a number that is out of range"
#define TPA_CUT_RECORD "a table record does not fit its chunk"
#define TPA_NUMBER_TWICE "a table record gives a number that is taken"

struct tpa_unload {
	uint64_t module, ticks;
};

struct tpa_frame_record {
	uint64_t pc; /* from the module's start; without a module, the run-time address */
	uint32_t module, code, line;
	uint8_t flags;
};

#define TPA_JOIN                                                                                                       \
	0x80000000u /* set in the frame of a node that joins two: the rest is the Python node, and parent the native one */

struct tpa_node_record {
	uint32_t parent,
		frame; /* parent: lower than the node's own number. Both 0: it is missing. frame 0: it was damaged */
};

/* Waits for a record of what it refers to: a frame for its module, or an op for its frame. */
struct tpa_wait {
	uint32_t number, frame;
};

/* How far a table chunk was read. */
struct tpa_table_place {
	uint64_t offset, begin; /* ticks: another chunk may take the place of this one */
	uint64_t taken;		/* bytes of records */
	uint64_t expected;	/* number behind the last NODES or JOIN record */
	uint64_t python;	/* Python node of the last JOIN record */
	bool seen;		/* in the scan that is being read */
};

/* What the table chunks say, by the file's own numbers. Records are read once, also when the file grows. */
struct tpa_tables {
	struct tpa_trace_impl *impl;
	struct tpa_frame_record *frames;
	struct tpa_node_record *nodes;
	size_t frame_count, frame_room, node_count, node_room;
	size_t module_room, op_room, code_room;
	struct tpa_module *modules; /* new ones, which the trace does not have yet */
	size_t module_count;
	size_t known_reach, known_links,
		known_held;	    /* of the trace's lists: those behind have the file's node numbers */
	struct tpa_unload *unloads; /* whose module was not read yet */
	size_t unload_count, unload_room;
	struct tpa_wait *frame_waits, *op_waits;
	size_t frame_wait_count, frame_wait_room, op_wait_count, op_wait_room;
	struct tpa_table_place *places;
	size_t place_count, place_room;
	struct tpa_pairs place_of; /* (offset, begin) -> index in places, + 1 */
	struct tpa_damage *damage; /* of records that are not read again */
	size_t damage_count, damage_room;

	/* The chunk being read. */
	struct tpa_table_place *place;
	const uint8_t *start, *at, *end;
	uint64_t offset; /* of `start` in the file */
};

static inline bool tpa_is_join(const struct tpa_node_record *record)
{
	return record->frame & TPA_JOIN;
}

/* NULL: it is missing. */
static inline const struct tpa_frame_record *tpa_frame_record(const struct tpa_tables *tables, uint32_t number)
{
	const struct tpa_frame_record *record = number < tables->frame_count ? &tables->frames[number] : NULL;

	return record && (record->pc || record->code || record->flags) ? record : NULL;
}

/* NULL: it is missing, or the number is 0. */
const struct tpa_module *tpa_module_find(const struct tpa_trace *trace, uint64_t id);

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

/* Takes the record of a frame. Returns as tpa_read_body does. */
const char *tpa_tables_frame(struct tpa_tables *tables, uint64_t number, struct tpa_frame_record record);

/* Reads the body [at, end) of a record with a length. Returns why the record is damaged; NULL: it is not. */
typedef const char *tpa_read_body(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end);

/* Of Python: see python.c. */
tpa_read_body tpa_tables_code, tpa_tables_python;

/* Of the run as a whole: see facts.c. */
tpa_read_body tpa_fact_value, tpa_fact_counter, tpa_fact_reach, tpa_fact_jitdump, tpa_fact_file, tpa_fact_hooks;

/* Of a search for holders: see holder_facts.c. */
tpa_read_body tpa_fact_holder, tpa_fact_held, tpa_fact_holders;

/* Communicators: see comm.c. */
tpa_read_body tpa_fact_communicator;
void tpa_facts_groups_free(struct tpa_trace *trace);
void tpa_facts_holders_free(struct tpa_trace *trace);

/* Reads the JOIN record at tables->at and moves tables->at behind it, or behind what is lost. Returns as tpa_read_body does. */
const char *tpa_tables_join(struct tpa_tables *tables);

/* Once all chunks are read: looks up what they refer to. See resolve.c. */
void tpa_tables_resolve(struct tpa_tables *tables);

#endif
