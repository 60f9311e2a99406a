/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of stack nodes and ops in a saved replay. They are saved as the file has them, since a later reading of a file
 * that has grown may number joined nodes and unnamed ops otherwise.
 */
#ifndef TPROF_TRACE_NUMBER_ARCHIVE_H
#define TPROF_TRACE_NUMBER_ARCHIVE_H

#include "base/archive.h"
#include "trace/trace.h"

/* What archive->user points to while a replay is saved or loaded. */
struct tp_archive_numbers {
	const struct tp_trace *trace;
	const uint32_t *same; /* struct tp_ops: of an op number the one that stands for it */
	uint32_t op_count;    /* struct tp_ops: count */
	bool as_read;	      /* nodes stand as they were read: of a trace whose stacks depend on time (trace/jit.h) */
	uint32_t *file_nodes; /* saving, if not: tp_trace_file_nodes() */
};

/* False: no memory. tp_archive_numbers_end() is due in any case. */
bool tp_archive_numbers_begin(struct tp_archive_numbers *numbers, struct tp_archive *archive,
			      const struct tp_trace *trace, const uint32_t *same, uint32_t op_count);
void tp_archive_numbers_end(struct tp_archive_numbers *numbers);

/* A node without aliases, as tp_trace_node() gives it. */
void tp_archive_node(struct tp_archive *archive, uint32_t *node);

/* An op's number as tp_op_of() gives it; 0: none. */
void tp_archive_op(struct tp_archive *archive, uint32_t *op);

#endif
