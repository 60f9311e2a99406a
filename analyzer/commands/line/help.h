/* SPDX-License-Identifier: Apache-2.0 */
/* Help and version of tprof-analyze. */
#ifndef TPROF_COMMANDS_LINE_HELP_H
#define TPROF_COMMANDS_LINE_HELP_H

#include <stdio.h>

#include "commands/line/command.h"

/* Prints a few lines of usage. */
void tpa_help_usage(FILE *out);
/* Prints the whole help, or that of one command if `command` is not NULL. */
enum tpa_parse tpa_help_print(const struct tpa_command *command);
enum tpa_parse tpa_help_version(void);

/* What the option (without dashes) does, in the first line that help has on it; "" if it has none. */
void tpa_help_of_option(const char *name, char *text, size_t size);

/* Is it a bare word that names no file, so probably a mistyped command? */
bool tpa_looks_like_command(const char *word);
/* Prints one line that lists the commands. */
enum tpa_parse tpa_help_unknown_command(const char *word);

#endif
