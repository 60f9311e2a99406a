/* SPDX-License-Identifier: Apache-2.0 */
/* summary --brief: the first page in at most three lines, which `tprof run` prints when the program has ended. */
#ifndef TPROF_COMMANDS_PARTS_BRIEF_H
#define TPROF_COMMANDS_PARTS_BRIEF_H

#include "commands/input/session.h"

/*
 * Prints the peak of the largest process, the fastest leak and where the time went, each on a line of its own. Omits what is not
 * known.
 */
void tpa_brief_print(struct tpa_session *session);

#endif
