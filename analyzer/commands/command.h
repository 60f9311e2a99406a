/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of tprof-analyze: one file a command, one line of the table in commands.c a command.
 */
#ifndef TPROF_COMMANDS_COMMAND_H
#define TPROF_COMMANDS_COMMAND_H

#include "commands/options.h"

enum tp_exit {
	TP_EXIT_OK = 0,
	TP_EXIT_FOUND = 1, /* a check found what it forbids */
	TP_EXIT_USAGE = 2, /* wrong usage, or the output can't be written */
	TP_EXIT_TRACE = 3, /* a trace can't be read */
};

struct tp_command {
	const char *name;
	const char *help; /* one line, without a full stop */
	/* Options that this command understands beside the ones that all do: bits of enum tp_option_bit. */
	unsigned int options;
	/* What --sort and --by accept here, separated by blanks, the default first; NULL: the option is refused. */
	const char *sort_keys, *by_keys;
	int (*run)(const struct tp_options *options); /* returns enum tp_exit */
};

extern const struct tp_command tp_commands[]; /* ends with a NULL name */

/* NULL: there is no such command. */
const struct tp_command *tp_command_find(const char *name);

int tp_cmd_summary(const struct tp_options *options);
int tp_cmd_peak(const struct tp_options *options);
int tp_cmd_leaks(const struct tp_options *options);
int tp_cmd_hotspots(const struct tp_options *options);
int tp_cmd_ops(const struct tp_options *options);
int tp_cmd_steps(const struct tp_options *options);
int tp_cmd_timeline(const struct tp_options *options);
int tp_cmd_roofline(const struct tp_options *options);
int tp_cmd_compare(const struct tp_options *options);
int tp_cmd_diff(const struct tp_options *options);
int tp_cmd_check(const struct tp_options *options);
int tp_cmd_flamegraph(const struct tp_options *options);
int tp_cmd_html(const struct tp_options *options);
int tp_cmd_export(const struct tp_options *options);
int tp_cmd_lines(const struct tp_options *options);
int tp_cmd_threads(const struct tp_options *options);
int tp_cmd_info(const struct tp_options *options);
int tp_cmd_dump(const struct tp_options *options);

#endif
