/* SPDX-License-Identifier: Apache-2.0 */
/* A pager between a report and the terminal, as git has one. */
#ifndef TPROF_REPORT_TEXT_PAGER_H
#define TPROF_REPORT_TEXT_PAGER_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Starts the pager that TPROF_PAGER names, else PAGER, else `less -FRX`, and makes stdout its input. Does nothing if stdout is no
 * terminal, if the name is "" or cat, or if less is not there. Whoever leaves the pager early ends the process with status 0.
 */
void tpa_pager_start(void);

/* Closes stdout and waits until the user leaves the pager. False: the pager could not be run. True without a pager. */
bool tpa_pager_end(void);

/* The descriptor of the terminal on which `out` is shown: its own, or the one behind the pager. -1: it is shown on none. */
int tpa_terminal_of(FILE *out);

#endif
