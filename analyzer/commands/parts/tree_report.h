/* SPDX-License-Identifier: Apache-2.0 */
/* The base of flamegraph and export: all stacks of a run as one tree. */
#ifndef TPROF_COMMANDS_PARTS_TREE_REPORT_H
#define TPROF_COMMANDS_PARTS_TREE_REPORT_H

#include "commands/input/session.h"
#include "report/rows/tree.h"

/*
 * The stacks of one process, or of all if `process` is run->process_count; then each of several processes gets a first
 * level. The caller frees the tree.
 */
struct tpa_tree *tpa_session_tree(struct tpa_session *session, size_t process, enum tpa_what what,
				  struct tpa_suppressions *suppressions);

/*
 * Opens, replays, and passes the tree with a title to `write`. Each of several processes gets a first level. Returns
 * the exit status.
 */
int tpa_tree_report(const struct tpa_options *options,
		    void (*write)(const struct tpa_tree *tree, const struct tpa_session *session, const char *title));

#endif
