/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of several runs in one command line, as trace*.bin is where a program ran twice: only one run's numbers may be added
 * up. By itself the newest run is reported, with --all-runs each by itself.
 */
#ifndef TPROF_COMMANDS_RUN_CHOICE_H
#define TPROF_COMMANDS_RUN_CHOICE_H

#include <jansson.h>

#include "commands/command.h"

/* Runs the command on the traces of the chosen run, or once for each run. Returns enum tp_exit. */
int tp_run_choice(const struct tp_options *options);

/* The traces that are left out, in words: "" if there are none. In `text`. */
const char *tp_left_out(const struct tp_options *options, char *text, size_t size);
json_t *tp_left_out_json(const struct tp_options *options);

#endif
