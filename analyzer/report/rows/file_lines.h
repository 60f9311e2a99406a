/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files with everything known about each: memory at the peak, allocated, unfreed, growth a step, CPU
 * time, and the time of the ops called from it.
 */
#ifndef TPROF_REPORT_ROWS_FILE_LINES_H
#define TPROF_REPORT_ROWS_FILE_LINES_H

#include "report/rows/cpu_rows.h"
#include "report/rows/column.h"
#include "report/rows/rows.h"

struct tpa_file_line {
	const char *file; /* as in the debug information or in Python */
	int line;	  /* 0: unknown, or the entry is the sum of a file */
	const char *function;
	struct tpa_sums self, total; /* total: including what the line called */
	double growth;		     /* bytes a step or second of leaking stacks, self */
	double total_growth;	     /* the same, including what the line called */
	uint64_t self_ns, total_ns;  /* CPU time */
	double op_ns;		     /* ns in ops called from it, directly or not; see tpa_file_lines_add_ops() */
	double op_below, op_above;   /* squared distances from op_ns to the ends of its interval */
};

/*
 * The columns of a line in JSON and tables. The context's `unseen` says whether numbers are estimates, `more` is the
 * label of the row.
 */
extern const struct tpa_column tpa_file_line_columns[];

struct tpa_file_lines {
	struct tpa_file_line *list; /* sorted by tpa_file_lines_sort() */
	size_t count;
	double ops_ns, ops_unseen_ns; /* self time of all ops; that of ops without samples, in no op_ns */
	struct tpa_arena *arena;      /* file names, each once */
	struct tpa_pairs index;	      /* (file, line) to index in the list */
	size_t room;
};

/* Names of functions live as long as the symbols of the processes that were added. */
struct tpa_file_lines *tpa_file_lines_new(void);
void tpa_file_lines_free(struct tpa_file_lines *lines);

/* Add to the lines. Each may be called for several processes. */
void tpa_file_lines_add_rows(struct tpa_file_lines *lines, const struct tpa_rows *rows);
void tpa_file_lines_add_cpu(struct tpa_file_lines *lines, const struct tpa_cpu_rows *rows);
void tpa_file_lines_add_growth(struct tpa_file_lines *lines, const struct tpa_process *process,
			       struct tpa_symbols *symbols);

/*
 * Adds the time of ops to the lines that called them. The trace does not tell where an op was called from, but each
 * CPU sample in an op has its stack. So the self time of each op, which is known, is divided among lines in
 * proportion to its samples. If a single line calls an op, it gets the exact time. If calls from one line wait longer
 * than calls from another, the result is off by that much. A recursive line counts once.
 */
void tpa_file_lines_add_ops(struct tpa_file_lines *lines, const struct tpa_process *process,
			    struct tpa_symbols *symbols);

/* The 95% interval of op_ns, in ns. */
struct tpa_interval tpa_file_line_op_interval(const struct tpa_file_line *line);

/* Returns the entry of a line, and creates it if it is new; valid until the next call. NULL: the line has no file. */
struct tpa_file_line *tpa_file_lines_at(struct tpa_file_lines *lines, const struct tpa_line *line);

/* Sorts by file and line. Call it when everything was added. */
void tpa_file_lines_sort(struct tpa_file_lines *lines);

/* Does `name` mean the file: is it the same path, or its end after a slash? */
bool tpa_file_is(const char *file, const char *name);

/*
 * Returns a new list with each file once and the sums of its lines' self values (total equals self), largest peak
 * first. The caller frees it with tpa_file_lines_free().
 */
struct tpa_file_lines *tpa_file_lines_sums(const struct tpa_file_lines *lines);

#endif
