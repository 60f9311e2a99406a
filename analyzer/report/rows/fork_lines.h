/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the program at which processes were forked. */
#ifndef TPROF_REPORT_ROWS_FORK_LINES_H
#define TPROF_REPORT_ROWS_FORK_LINES_H

#include "model/result/result.h"
#include "report/rows/stack.h"

struct tpa_fork_lines {
	struct tpa_line *lines; /* by process; location NULL: it was not forked, or it is not known where */
	/* By process: what the line calls, if the line is a helper's caller without a name; location NULL: otherwise */
	struct tpa_line *called;
	const char **keys; /* by process: a text that tells lines apart; NULL: there is no line */
	struct tpa_arena *texts;
};

/*
 * Of several lines of a stack the innermost of the user's own code (report/rows/own_code.h) is taken, preferably with a source file: so
 * it is the line that starts a pool, not the library's that forks. If functions of different names forked through one line, it is a
 * helper's, and the lines of its callers are taken; of callers without names, each call is one. Without a line of the user's, it is the
 * innermost of Python or, without Python, of the program itself. Lines live as long as the symbols. Free the result with
 * tpa_fork_lines_free().
 */
struct tpa_fork_lines tpa_fork_lines_find(const struct tpa_run *run, struct tpa_symbols *const *symbols);
void tpa_fork_lines_free(struct tpa_fork_lines *lines);

/*
 * "start_loaders (train.py:41)", "train.py:41" outside of functions, "spawn_process, called at server+0x51398" without names: in `text`.
 * The process must have a line.
 */
const char *tpa_fork_line_text(const struct tpa_fork_lines *lines, const struct tpa_run *run, size_t process,
			       char *text, size_t size);

#endif
