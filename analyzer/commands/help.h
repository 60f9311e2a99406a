/* SPDX-License-Identifier: Apache-2.0 */
/* Help and version of tprof-analyze. */
#ifndef TPROF_COMMANDS_HELP_H
#define TPROF_COMMANDS_HELP_H

#include <stdio.h>

#include "commands/command.h"

/* A few lines of usage. */
void tpa_help_usage(FILE *out);
/* The whole help; of one command unless `command` is NULL. */
enum tpa_parse tpa_help_print(const struct tpa_command *command);
enum tpa_parse tpa_help_version(void);

/* A bare word that is no file: somebody mistyped a command. */
bool tpa_looks_like_command(const char *word);
/* One line that names the commands there are. */
enum tpa_parse tpa_help_unknown_command(const char *word);

#endif
