/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of several runs in one command line, such as trace*.bin after a program ran twice: only one run's numbers may
 * be added up. Reports the newest run by default, each run separately with --all-runs.
 */
#ifndef TPROF_COMMANDS_INPUT_RUN_CHOICE_H
#define TPROF_COMMANDS_INPUT_RUN_CHOICE_H

#include <jansson.h>

#include "commands/line/command.h"

/* Runs the command on the traces of the chosen run, or once for each run. Returns enum tpa_exit. */
int tpa_run_choice(const struct tpa_options *options);

/* Describes the left-out traces; "" if there are none. Returns `text`. */
const char *tpa_left_out(const struct tpa_options *options, char *text, size_t size);
json_t *tpa_left_out_json(const struct tpa_options *options);

#endif
