/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples put together into the rows of a report: by function, line, module, thread, op or stack; or by what called a
 * function, or what it called.
 */
#ifndef TPROF_REPORT_ROWS_CPU_ROWS_H
#define TPROF_REPORT_ROWS_CPU_ROWS_H

#include "model/stats/stats.h"
#include "report/rows/rows.h"

enum tp_relation { TP_RELATION_NONE, TP_RELATION_CALLERS, TP_RELATION_CALLEES };

/*
 * A row. `self` is of the samples that fell into it, `total` also of those into what it called; a stack counts once,
 * however often it recurses. By caller or callee of a function, `total` is of the stacks in which the one calls the
 * other directly, and `self` the same.
 */
struct tp_cpu_row {
	struct tp_line line; /* one that shows it. location NULL: not recorded, or of a thread; by callers: called by
				nobody; by callees: the function itself */
	uint32_t node;	     /* by stack: a stack node that shows it */
	uint32_t thread;     /* by thread */
	const char *op;	     /* by op: the innermost that was open; NULL: none */
	size_t process;	     /* index in the run */
	struct tp_cpu self, total;
	uint64_t self_ns, total_ns;
};

struct tp_cpu_rows {
	struct tp_cpu_row *rows;
	size_t count;
	struct tp_cpu all; /* what shares are of: all samples; by callers and callees those that met the function */
	uint64_t all_ns;
};

struct tp_cpu_options {
	enum tp_by by; /* TP_BY_SIZE: as TP_BY_FUNCTION */
	enum tp_relation relation;
	const char *function;  /* of the relation: its whole name, or that without its parameters */
	const regex_t *filter; /* NULL: all. Rows that match; shares are of everything still */
	bool by_total;	       /* order: total first */
};

/* One process at a time is added. As rows.h: strings live as long as the rows and the symbols. false: memory is out. */
struct tp_cpu_builder;
struct tp_cpu_builder *tp_cpu_rows_begin(const struct tp_cpu_options *options);
bool tp_cpu_rows_add(struct tp_cpu_builder *builder, const struct tp_process *process, size_t index,
		     struct tp_symbols *symbols);
struct tp_cpu_rows *tp_cpu_rows_end(struct tp_cpu_builder *builder);
void tp_cpu_rows_free(struct tp_cpu_rows *rows);

/* The share that `part` is of the rows' samples, and its interval. */
double tp_cpu_share(const struct tp_cpu_rows *rows, const struct tp_cpu *part);
struct tp_interval tp_cpu_interval(const struct tp_cpu_rows *rows, const struct tp_cpu *part);

#endif
