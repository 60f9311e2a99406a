/* SPDX-License-Identifier: Apache-2.0 */
/* --from and --to by the text of a mark, as tprof_mark(), `tprof ctl mark` and `tprof ctl snapshot` set them. */
#ifndef TPROF_COMMANDS_MARKS_H
#define TPROF_COMMANDS_MARKS_H

#include "commands/command.h"

/* Is the option's value "mark:TEXT"? Sets *text, which lies in `value`. */
bool tp_mark_named(const char *value, const char **text);

/*
 * Looks for the marks that options->from_mark and to_mark name, the first of that text, and sets from_ns and to_ns.
 * TP_EXIT_OK, also where none is named; TP_EXIT_USAGE after a line on stderr: there is no such mark, or the wrong way round.
 * A trace that can't be read is left for the command to complain of.
 */
int tp_marks_find(struct tp_options *options);

#endif
