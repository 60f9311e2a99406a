/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups traces into runs. A process belongs to its parent's run if it began within its parent's lifetime, to the run
 * of the program that it was before an exec, and to the run of a sibling that lived at the same time.
 */
#ifndef TPROF_COMMANDS_INPUT_RUNS_H
#define TPROF_COMMANDS_INPUT_RUNS_H

#include "commands/input/session.h"

/* Called with the replayed session of each run. */
typedef void tpa_run_taker(struct tpa_session *session, void *context);

/*
 * Replays the runs of the files one after the other, in the order of their first files, so that memory suffices for
 * the largest run. Returns TPA_EXIT_OK, or the exit status after a line on stderr.
 */
int tpa_runs_each(const struct tpa_options *options, const char *const *files, size_t count, tpa_run_taker *take,
		  void *context);

/* Opens a session without a trace, for the page of a report. Returns as tpa_session_open() does. */
int tpa_page_open(struct tpa_session *session, const struct tpa_options *options);

#endif
