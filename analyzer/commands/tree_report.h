/* SPDX-License-Identifier: Apache-2.0 */
/* What flamegraph and export have in common: all stacks of a run as one tree. */
#ifndef TPROF_COMMANDS_TREE_REPORT_H
#define TPROF_COMMANDS_TREE_REPORT_H

#include "commands/session.h"
#include "report/rows/tree.h"

/*
 * The stacks of a process, or of all (`process` is the run's process_count then), which get a first level each where they are
 * several. NULL: memory is out.
 */
struct tp_tree *tp_session_tree(struct tp_session *session, size_t process, enum tp_what what,
				struct tp_suppressions *suppressions);

/*
 * Opens, replays, and hands the tree to `write` with a title for it. Several processes get a first level each. Returns
 * the exit status.
 */
int tp_tree_report(const struct tp_options *options,
		   void (*write)(const struct tp_tree *tree, const struct tp_session *session, const char *title));

#endif
