/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up CPU samples as the rows of a report: by function, line, module, thread, op or stack; or by the callers or
 * callees of a function.
 */
#ifndef TPROF_REPORT_ROWS_CPU_ROWS_H
#define TPROF_REPORT_ROWS_CPU_ROWS_H

#include "model/stats/stats.h"
#include "report/rows/rows.h"

enum tpa_relation { TPA_RELATION_NONE, TPA_RELATION_CALLERS, TPA_RELATION_CALLEES };

/*
 * A row. `self`: the samples that fell into it. `total`: also those in what it called; a stack counts once, even if
 * it recurses. By callers or callees of a function, `total` counts the stacks in which one calls the other directly,
 * and `self` is 0.
 */
struct tpa_cpu_row {
	/*
	 * A line to show for the row. location NULL: not recorded, or no line (by thread, op); by callers: nobody
	 * called it; by callees: the function itself.
	 */
	struct tpa_line line;
	uint32_t node;	 /* by stack: a stack node to show for the row */
	uint32_t thread; /* by thread */
	const char *op;	 /* by op: the innermost open op; NULL: none */
	size_t process;	 /* index in the run */
	struct tpa_cpu self, total;
	uint64_t self_ns, total_ns;
};

struct tpa_cpu_rows {
	struct tpa_cpu_row *rows;
	size_t count;
	/* What shares are fractions of: all samples; by callers and callees, those whose stacks have the function. */
	struct tpa_cpu all;
	uint64_t all_ns;
};

struct tpa_cpu_options {
	enum tpa_by by; /* TPA_BY_SIZE: as TPA_BY_FUNCTION */
	enum tpa_relation relation;
	const char *function;  /* whose callers or callees are wanted: its full name, or the name without parameters */
	const regex_t *filter; /* NULL: all. Only stacks that match are in rows; shares remain those of all samples */
	bool by_total;	       /* sort by total, then self; else by self, then total */
};

/*
 * Begin, add one process at a time, end: tpa_cpu_rows_end() frees the builder and returns the sorted rows. As in
 * rows.h, strings live as long as the rows and the symbols. `index`: the process's index in the run.
 */
struct tpa_cpu_builder;
struct tpa_cpu_builder *tpa_cpu_rows_begin(const struct tpa_cpu_options *options);
void tpa_cpu_rows_add(struct tpa_cpu_builder *builder, const struct tpa_process *process, size_t index,
		      struct tpa_symbols *symbols);
struct tpa_cpu_rows *tpa_cpu_rows_end(struct tpa_cpu_builder *builder);
void tpa_cpu_rows_free(struct tpa_cpu_rows *rows);

/* The share of the rows' samples that `part` is (0 to 1), and its 95% interval. */
double tpa_cpu_share(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part);
struct tpa_interval tpa_cpu_interval(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part);

#endif
