/* SPDX-License-Identifier: Apache-2.0 */
/* export --format chrome. */
#ifndef TPROF_COMMANDS_EXPORT_CHROME_H
#define TPROF_COMMANDS_EXPORT_CHROME_H

#include "commands/command.h"

/* Writes ops by thread, steps, marks, live bytes and RSS while it reads the trace. Returns the exit status. */
int tpa_export_chrome(const struct tpa_options *options);

#endif
