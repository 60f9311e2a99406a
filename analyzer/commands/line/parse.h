/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#ifndef TPROF_COMMANDS_LINE_PARSE_H
#define TPROF_COMMANDS_LINE_PARSE_H

#include "commands/line/options.h"

/*
 * Parses the command line (argv of main). TPA_PARSE_DONE: help or version was printed. TPA_PARSE_WRONG: a line on
 * stderr reported the error and what is allowed. Free *options with tpa_options_free().
 */
enum tpa_parse tpa_options_parse(int argc, char **argv, struct tpa_options *options);
void tpa_options_free(struct tpa_options *options);

#endif
