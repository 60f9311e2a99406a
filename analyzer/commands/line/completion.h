/* SPDX-License-Identifier: Apache-2.0 */
/* What may come next on a command line: the completions of bash, zsh and fish ask for it. */
#ifndef TPROF_COMMANDS_LINE_COMPLETION_H
#define TPROF_COMMANDS_LINE_COMPLETION_H

#include <stddef.h>

/*
 * help --complete WORD...: prints a line for each word that may stand in place of the last of `words`, whatever it begins with, with
 * a tab and a description behind it. A line ":files": names of files may stand there.
 */
void tpa_complete(char *const *words, size_t count);

#endif
