/* SPDX-License-Identifier: Apache-2.0 */
/* Fragmentation, as a section of other commands' reports: model/heap/holes.h. */
#ifndef TPROF_COMMANDS_PARTS_HOLE_REPORT_H
#define TPROF_COMMANDS_PARTS_HOLE_REPORT_H

#include "commands/input/session.h"

/*
 * Prints which blocks keep free memory from being returned at the largest RSS, and what helps. Prints nothing if they
 * cause a small part of RSS or if --filter or --thread selects blocks.
 */
void tpa_session_print_holes(struct tpa_session *session, size_t index);

#endif
