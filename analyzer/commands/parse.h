/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#ifndef TPROF_COMMANDS_PARSE_H
#define TPROF_COMMANDS_PARSE_H

#include "commands/options.h"

/*
 * Parses the command line (argv of main). TP_PARSE_DONE: help or version was printed. TP_PARSE_WRONG: one line on
 * stderr said what is wrong and what is allowed. The lists inside belong to *options: tp_options_free().
 */
enum tp_parse tp_options_parse(int argc, char **argv, struct tp_options *options);
void tp_options_free(struct tp_options *options);

#endif
