/* SPDX-License-Identifier: Apache-2.0 */
/* What flamegraph and export have in common: all stacks of a run as one tree. */
#ifndef TPROF_COMMANDS_TREE_REPORT_H
#define TPROF_COMMANDS_TREE_REPORT_H

#include "commands/session.h"
#include "report/rows/tree.h"

/*
 * The stacks of a process, or of all (`process` is the run's process_count then), which get a first level each where they are
 * several. The caller frees the tree.
 */
struct tpa_tree *tpa_session_tree(struct tpa_session *session, size_t process, enum tpa_what what,
				  struct tpa_suppressions *suppressions);

/*
 * Opens, replays, and hands the tree to `write` with a title for it. Several processes get a first level each. Returns
 * the exit status.
 */
int tpa_tree_report(const struct tpa_options *options,
		    void (*write)(const struct tpa_tree *tree, const struct tpa_session *session, const char *title));

#endif
