/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history as a page has it: stacks as a tree of lines, small branches cut off, and what changed in each interval by the
 * rows that remain. Nothing is dropped: what a branch had counts where it was cut.
 */
#ifndef TPROF_REPORT_HTML_PAGE_ROWS_H
#define TPROF_REPORT_HTML_PAGE_ROWS_H

#include "model/replay/history.h"
#include "report/html/page_tree.h"

/* Memory of a line of the tree, in an op. */
struct tpa_page_row {
	uint32_t node; /* as shown */
	uint32_t op;   /* 0: none */
	struct tpa_history_site sums;
};

/* CPU time of a line of the tree, on a thread, in an op. */
struct tpa_page_cpu {
	uint32_t node, thread, op; /* thread: its number */
	uint64_t periods;
};

struct tpa_page_rows {
	const struct tpa_process *process;
	const struct tpa_history *history;
	struct tpa_page_tree tree;
	struct tpa_page_row *rows;
	size_t row_count;
	TPA_HISTORY_LIST(struct tpa_history_change) changes; /* `site`: index in `rows` */
	struct tpa_page_cpu *cpu;
	size_t cpu_count;
	TPA_HISTORY_LIST(struct tpa_history_sample) samples; /* `where`: index in `cpu` */
	size_t stacks, lines; /* distinct stacks that were recorded, and lines of their tree */
};

/* What of a tree is shown. */
struct tpa_page_limits {
	const regex_t *filter; /* NULL: all stacks; those that do not match are one line */
	size_t stacks;	       /* most nodes of the trace's stacks that are named: about */
	size_t nodes;	       /* most lines of the tree, at least 1 */
	size_t changes;	       /* most changes and samples of all intervals; if there are more, fewer nodes are shown */
};

/* The history must outlive the rows, and so must the symbols. Free them with tpa_page_rows_free(). */
struct tpa_page_rows *tpa_page_rows_make(const struct tpa_process *process, const struct tpa_history *history,
					 struct tpa_symbols *symbols, const struct tpa_page_limits *limits);
void tpa_page_rows_free(struct tpa_page_rows *rows);

#endif
