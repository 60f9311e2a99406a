/* SPDX-License-Identifier: Apache-2.0 */
/* What forked processes copied of their parents' pages: report/rows/copied.h. */
#ifndef TPROF_COMMANDS_PARTS_COPIED_REPORT_H
#define TPROF_COMMANDS_PARTS_COPIED_REPORT_H

#include "commands/input/session.h"

/* Prints a sentence for each process whose forks copied much; nothing if there is none. */
void tpa_copied_print(struct tpa_session *session, const struct tpa_page *page);

#endif
