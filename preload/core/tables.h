/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what events refer to: modules, frames, stack nodes. Any thread may write. Each borrows a chunk of tables for
 * one record, so no two write to the same chunk, and no thread waits. A record is committed when the function returns;
 * only then may its number be shown to other threads.
 */
#ifndef TPROF_CORE_TABLES_H
#define TPROF_CORE_TABLES_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_TABLE_TEXT_MAX 4096u

struct tpc_module_record {
	uint32_t module;
	uint64_t bias, start, end;
	const uint8_t *build_id;
	size_t build_id_length; /* at most 64 */
	const char *path;	/* cut at TPC_TABLE_TEXT_MAX bytes */
};

struct tpc_op_record {
	uint32_t op;
	uint8_t origin;			     /* enum tprof_op_origin */
	const char *category, *name;	     /* not terminated */
	size_t category_length, name_length; /* at most 255 each */
};

struct tpc_code_record {
	uint32_t code, first_line;
	const char *name, *file;	 /* UTF-8, not terminated */
	size_t name_length, file_length; /* name_length: at most 512 */
};

void tpc_table_code(const struct tpc_code_record *code);
void tpc_table_python(uint32_t frame, uint32_t code, uint32_t line, uint8_t flags);
void tpc_table_join(uint32_t node, uint32_t native, uint32_t python);

void tpc_table_op(const struct tpc_op_record *op);

/* The same for an op that is named after the function at `frame`; name and its length are ignored. */
void tpc_table_op_code(const struct tpc_op_record *op, uint32_t frame);

/* Follows the op's own record: the tensors that calls with that number work on, already encoded. */
void tpc_table_shape(uint32_t op, const uint8_t *tensors, size_t length);

struct tpc_communicator_record {
	uint32_t number, size, rank, parent;
	uint8_t kind; /* enum tprof_group */
	uint64_t parent_sequence;
	int32_t leader;
	int64_t color;
	const char *name; /* cut at 255 bytes */
	/* Its topology, if `has_topology`: ranks that it receives from and sends to; negative: nobody. */
	bool has_topology;
	uint32_t in_count, out_count; /* at most TPC_NEIGHBOURS each; more are left out */
	const int *in, *out;
};
#define TPC_NEIGHBOURS 64u
void tpc_table_communicator(const struct tpc_communicator_record *communicator);

void tpc_table_hooks(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object);
void tpc_table_counter(uint32_t number, uint32_t error, uint8_t flags, const char *name);
void tpc_table_value(uint64_t value, const char *name, size_t length); /* length: at most TPC_TABLE_TEXT_MAX */
void tpc_table_jitdump(const char *path, size_t length);	       /* the same */
void tpc_table_file(uint32_t file, const char *path, size_t length);   /* the same */
void tpc_table_module(const struct tpc_module_record *module);
void tpc_table_unload(uint32_t module);
void tpc_table_frame(uint32_t frame, uint32_t module, uint64_t offset, uint8_t flags);

/* `count` new nodes numbered from `first` on, for `frames`, outermost first; the parent of the first one is `parent`. */
void tpc_table_nodes(uint32_t first, uint32_t parent, const uint32_t *frames, size_t count);

/* In a forked child: the chunks are the parent's. */
void tpc_tables_forget(void);

#endif
