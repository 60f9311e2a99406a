/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as runs: those of one run's processes together. A process belongs to the run of its parent if its life began in
 * that of its parent, to that of the program that it was before an exec, and to that of another child of its parent that
 * lived at the same time.
 */
#ifndef TPROF_COMMANDS_RUNS_H
#define TPROF_COMMANDS_RUNS_H

#include "commands/session.h"

struct tp_file_run {
	const char **files; /* names are borrowed */
	size_t count;
};

struct tp_file_runs {
	struct tp_file_run *list; /* in the order in which their first files were named */
	size_t count;
};

/* False: no memory. Files that can't be read are runs of their own: who opens them says so. */
bool tp_runs_find(const char *const *files, size_t count, struct tp_file_runs *runs);
void tp_runs_free(struct tp_file_runs *runs);

/*
 * Replays one run after the other, so that memory is needed for the largest alone, and hands each to `take`, which
 * returns false when memory is out. Returns TP_EXIT_OK, or what to exit with after a line on stderr.
 */
typedef bool tp_run_taker(struct tp_session *session, void *context);
int tp_runs_replay(const struct tp_options *options, const struct tp_file_runs *runs, tp_run_taker *take,
		   void *context);

/* A session without a trace: the page that a report goes to. As tp_session_open(). */
int tp_page_open(struct tp_session *session, const struct tp_options *options);

#endif
