/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as runs: those of one run's processes together. A process belongs to the run of its parent if its life began in
 * that of its parent, to that of the program that it was before an exec, and to that of another child of its parent that
 * lived at the same time.
 */
#ifndef TPROF_COMMANDS_RUNS_H
#define TPROF_COMMANDS_RUNS_H

#include "commands/session.h"

/* Called with the replayed session of each run. */
typedef void tpa_run_taker(struct tpa_session *session, void *context);

/*
 * Replays the runs that the files are of, in the order in which their first files are named: one after the other, so that
 * memory is needed for the largest alone. Returns TPA_EXIT_OK, or what to exit with after a line on stderr.
 */
int tpa_runs_each(const struct tpa_options *options, const char *const *files, size_t count, tpa_run_taker *take,
		  void *context);

/* A session without a trace: the page that a report goes to. As tpa_session_open(). */
int tpa_page_open(struct tpa_session *session, const struct tpa_options *options);

#endif
