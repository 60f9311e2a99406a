/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --from and --to by events of the run: the text of a mark, set by tprof_mark(), `tprof ctl mark` or `tprof ctl
 * snapshot`, or the number of a training step.
 */
#ifndef TPROF_COMMANDS_LINE_MOMENTS_H
#define TPROF_COMMANDS_LINE_MOMENTS_H

#include "commands/line/command.h"

/* Is the option's value "mark:TEXT"? Sets *text, which points into `value`. */
bool tpa_mark_named(const char *value, const char **text);

/* Does the value begin with "step:"? Sets *number, which points into `value`, without checking it. */
bool tpa_step_named(const char *value, const char **number);

/*
 * Looks up options->from_at and to_at, and sets from_ns and to_ns: the first mark with that text; the end of the step,
 * or of the step before it for --from, with steps as the command steps counts them. With several processes, the first
 * to get there counts.
 *
 * Returns TPA_EXIT_OK, also if nothing is named, or TPA_EXIT_USAGE after a line on stderr if a moment is not in the
 * trace or the two are in the wrong order. Leaves the error of an unreadable trace to the command.
 */
int tpa_moments_find(struct tpa_options *options);

#endif
