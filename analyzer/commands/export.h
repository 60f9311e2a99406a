/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of export. Each is written by a file of report/export/. */
#ifndef TPROF_COMMANDS_EXPORT_H
#define TPROF_COMMANDS_EXPORT_H

#include "commands/command.h"

struct tp_export_format {
	const char *name;
	int (*run)(const struct tp_options *options); /* returns the exit status */
};

/* The first is the default. */
#define TP_EXPORT_FORMATS 2
extern const struct tp_export_format tp_export_formats[TP_EXPORT_FORMATS];

#endif
