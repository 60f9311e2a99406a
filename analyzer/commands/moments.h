/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --from and --to by what happened in the run: a mark, as tprof_mark(), `tprof ctl mark` and `tprof ctl snapshot` set them,
 * by its text, or a training step by its number.
 */
#ifndef TPROF_COMMANDS_MOMENTS_H
#define TPROF_COMMANDS_MOMENTS_H

#include "commands/command.h"

/* Is the option's value "mark:TEXT"? Sets *text, which lies in `value`. */
bool tpa_mark_named(const char *value, const char **text);

/* Is it "step:", whatever number follows? Sets *number, which lies in `value`. */
bool tpa_step_named(const char *value, const char **number);

/*
 * Looks for what options->from_at and to_at name, and sets from_ns and to_ns: the first mark of that text; the end of the
 * step, or of the one before it for --from, where steps are those that the command steps tells of. Of several processes the
 * first to get there counts.
 * TPA_EXIT_OK, also where nothing is named; after a line on stderr TPA_EXIT_USAGE: it is not in the trace, or the wrong way
 * round. A trace that can't be read is left for the command to complain of.
 */
int tpa_moments_find(struct tpa_options *options);

#endif
