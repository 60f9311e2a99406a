/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of export. A file of report/export/ writes each of them. */
#ifndef TPROF_COMMANDS_EXPORT_H
#define TPROF_COMMANDS_EXPORT_H

#include "commands/command.h"

struct tpa_export_format {
	const char *name;
	int (*run)(const struct tpa_options *options); /* returns the exit status */
};

/* The first is the default. */
#define TPA_EXPORT_FORMATS 2
extern const struct tpa_export_format tpa_export_formats[TPA_EXPORT_FORMATS];

#endif
