/* SPDX-License-Identifier: Apache-2.0 */
/* What flamegraph and export have in common: all stacks of a run as one tree. */
#ifndef TPROF_COMMANDS_TREE_REPORT_H
#define TPROF_COMMANDS_TREE_REPORT_H

#include "commands/session.h"
#include "report/tree.h"

/*
 * Opens, replays, and hands the tree to `write` with a title for it. Several processes get a first level each. Returns
 * the exit status.
 */
int tp_tree_report(const struct tp_options *options,
		   void (*write)(const struct tp_tree *tree, const struct tp_session *session, const char *title));

#endif
