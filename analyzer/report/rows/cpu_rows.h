/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples put together into the rows of a report: by function, line, module, thread, op or stack; or by what called a
 * function, or what it called.
 */
#ifndef TPROF_REPORT_ROWS_CPU_ROWS_H
#define TPROF_REPORT_ROWS_CPU_ROWS_H

#include "model/stats/stats.h"
#include "report/rows/rows.h"

enum tpa_relation { TPA_RELATION_NONE, TPA_RELATION_CALLERS, TPA_RELATION_CALLEES };

/*
 * A row. `self` is of the samples that fell into it, `total` also of those into what it called; a stack counts once,
 * however often it recurses. By caller or callee of a function, `total` is of the stacks in which the one calls the
 * other directly, and `self` the same.
 */
struct tpa_cpu_row {
	struct tpa_line line; /* one that shows it. location NULL: not recorded, or of a thread; by callers: called by
				nobody; by callees: the function itself */
	uint32_t node;	      /* by stack: a stack node that shows it */
	uint32_t thread;      /* by thread */
	const char *op;	      /* by op: the innermost that was open; NULL: none */
	size_t process;	      /* index in the run */
	struct tpa_cpu self, total;
	uint64_t self_ns, total_ns;
};

struct tpa_cpu_rows {
	struct tpa_cpu_row *rows;
	size_t count;
	struct tpa_cpu all; /* what shares are of: all samples; by callers and callees those that met the function */
	uint64_t all_ns;
};

struct tpa_cpu_options {
	enum tpa_by by; /* TPA_BY_SIZE: as TPA_BY_FUNCTION */
	enum tpa_relation relation;
	const char *function;  /* of the relation: its whole name, or that without its parameters */
	const regex_t *filter; /* NULL: all. Rows that match; shares are of everything still */
	bool by_total;	       /* order: total first */
};

/* One process at a time is added. As rows.h: strings live as long as the rows and the symbols. */
struct tpa_cpu_builder;
struct tpa_cpu_builder *tpa_cpu_rows_begin(const struct tpa_cpu_options *options);
void tpa_cpu_rows_add(struct tpa_cpu_builder *builder, const struct tpa_process *process, size_t index,
		      struct tpa_symbols *symbols);
struct tpa_cpu_rows *tpa_cpu_rows_end(struct tpa_cpu_builder *builder);
void tpa_cpu_rows_free(struct tpa_cpu_rows *rows);

/* The share that `part` is of the rows' samples, and its interval. */
double tpa_cpu_share(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part);
struct tpa_interval tpa_cpu_interval(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part);

#endif
