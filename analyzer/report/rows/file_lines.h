/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files with all that is known of each: memory at the peak, allocated, unfreed, growth a step, CPU time, the
 * time of the ops that were called from it.
 */
#ifndef TPROF_REPORT_ROWS_FILE_LINES_H
#define TPROF_REPORT_ROWS_FILE_LINES_H

#include "report/rows/cpu_rows.h"
#include "report/rows/column.h"
#include "report/rows/rows.h"

struct tpa_file_line {
	const char *file; /* as the debug information or Python has it */
	int line;	  /* 0: not known, or, of a file's sum, the file's */
	const char *function;
	struct tpa_sums self, total; /* total: with what the line called */
	double growth;		     /* bytes a step (or second), of the stacks that leak; of self */
	double total_growth;	     /* with what the line called */
	uint64_t self_ns, total_ns;  /* of CPU time */
	double op_ns;		   /* of the ops called from it, or from what it called; see tpa_file_lines_add_ops() */
	double op_below, op_above; /* squares of how far its interval reaches */
};

/* What JSON has of each, and tables. With a context: whether these are estimates. */
extern const struct tpa_column tpa_file_line_columns[];

struct tpa_file_lines {
	struct tpa_file_line *list; /* by file and line */
	size_t count;
	double ops_ns,
		ops_unseen_ns;	 /* all ops' own time; that of ops in which no sample fell: it is in no line's op_ns */
	struct tpa_arena *arena; /* files, each text once */
	struct tpa_pairs index;	 /* (file, line) to its place in the list */
	size_t room;
};

/* Texts live as long as the symbols of the processes that were added. */
struct tpa_file_lines *tpa_file_lines_new(void);
void tpa_file_lines_free(struct tpa_file_lines *lines);

/* Each of these may be called for several processes. */
void tpa_file_lines_add_rows(struct tpa_file_lines *lines, const struct tpa_rows *rows);
void tpa_file_lines_add_cpu(struct tpa_file_lines *lines, const struct tpa_cpu_rows *rows);
void tpa_file_lines_add_growth(struct tpa_file_lines *lines, const struct tpa_process *process,
			       struct tpa_symbols *symbols);

/*
 * The time of ops, by the lines that called them. When an op begins nobody looks where from; but each CPU sample that falls
 * into an op has its stack. So each op's own time, which is known, is shared out to lines as its samples are: the time of an op
 * that one line alone calls is that line's to the nanosecond. Were the calls of one line to wait more than those of another, that
 * would be wrong by as much. Recursion counts once.
 */
void tpa_file_lines_add_ops(struct tpa_file_lines *lines, const struct tpa_process *process,
			    struct tpa_symbols *symbols);

/* Of op_ns, 95%. */
struct tpa_interval tpa_file_line_op_interval(const struct tpa_file_line *line);

/* The entry of a line, made when it is first asked for; valid until the next call. NULL: the line has no file. */
struct tpa_file_line *tpa_file_lines_at(struct tpa_file_lines *lines, const struct tpa_line *line);

/* To be called when all is added: the order. */
void tpa_file_lines_sort(struct tpa_file_lines *lines);

/*
 * Does a file's name mean this one? The same path, or the end of it behind a slash.
 */
bool tpa_file_is(const char *file, const char *name);

/* Each file once, with the sums of its lines' own (total is self), those that hold most at the peak first. */
struct tpa_file_lines *tpa_file_lines_sums(const struct tpa_file_lines *lines);

#endif
