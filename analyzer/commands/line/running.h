/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is named by the process that writes it. */
#ifndef TPROF_COMMANDS_LINE_RUNNING_H
#define TPROF_COMMANDS_LINE_RUNNING_H

/*
 * The trace that process `name` writes, or `name` itself, if it is no number, or there is a file of that name: a heap string.
 * NULL after a line on stderr.
 */
char *tpa_running_trace(const char *name);

#endif
