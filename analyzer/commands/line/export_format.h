/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of export, in the order of --help. The functions that write them are those of export/formats.h. */
#ifndef TPROF_COMMANDS_LINE_EXPORT_FORMAT_H
#define TPROF_COMMANDS_LINE_EXPORT_FORMAT_H

#include "commands/line/command.h"

struct tpa_export;

enum tpa_export_needs {
	TPA_EXPORT_TRACES, /* the format reads the traces itself: export/walk.h */
	TPA_EXPORT_RUN,	   /* all traces replayed: export/sites.h */
	TPA_EXPORT_TABLE,  /* what its table needs: export/tables.h */
};

struct tpa_export_format {
	const char *name;
	const char *help; /* what it has, and what reads it: a line of --help, without a full stop */
	bool (*write)(struct tpa_export *export);
	enum tpa_export_needs needs;
	bool binary;	/* not to be shown on a terminal */
	bool ranks;	/* shows what ranks of a parallel job did to one another */
	bool own_times; /* of ranks on several hosts: as their own hosts' clocks have them */
	int (*run)(const struct tpa_options *options); /* instead of `write`: returns the exit status */
};

/* The first is the default; a NULL name ends the list. */
extern const struct tpa_export_format tpa_export_formats[];
#define TPA_EXPORT_FORMATS_MOST 32

#endif
