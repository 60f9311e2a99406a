/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of tprof-analyze: one file a command, one line of the table in commands.c a command.
 */
#ifndef TPROF_COMMANDS_LINE_COMMAND_H
#define TPROF_COMMANDS_LINE_COMMAND_H

#include "commands/line/options.h"

enum tpa_exit {
	TPA_EXIT_OK = 0,
	TPA_EXIT_FOUND = 1, /* check found a breach */
	TPA_EXIT_USAGE = 2, /* wrong usage, or the output can't be written */
	TPA_EXIT_TRACE = 3, /* a trace can't be read */
};

struct tpa_command {
	const char *name;
	const char *help; /* one line, without a full stop */
	/* Options that this command understands in addition to the common ones: bits of enum tpa_option_bit. */
	unsigned int options;
	/*
	 * Keys that --sort and --by accept here, separated by blanks, the default first. NULL: the option is refused.
	 */
	const char *sort_keys, *by_keys;
	int (*run)(const struct tpa_options *options); /* returns enum tpa_exit */
};

extern const struct tpa_command tpa_commands[]; /* ends with a NULL name */

/* Returns NULL if no command has this name. */
const struct tpa_command *tpa_command_find(const char *name);

int tpa_cmd_summary(const struct tpa_options *options);
int tpa_cmd_peak(const struct tpa_options *options);
int tpa_cmd_leaks(const struct tpa_options *options);
int tpa_cmd_holders(const struct tpa_options *options);
int tpa_cmd_hotspots(const struct tpa_options *options);
int tpa_cmd_ops(const struct tpa_options *options);
int tpa_cmd_steps(const struct tpa_options *options);
int tpa_cmd_timeline(const struct tpa_options *options);
int tpa_cmd_roofline(const struct tpa_options *options);
int tpa_cmd_compare(const struct tpa_options *options);
int tpa_cmd_diff(const struct tpa_options *options);
int tpa_cmd_check(const struct tpa_options *options);
int tpa_cmd_flamegraph(const struct tpa_options *options);
int tpa_cmd_html(const struct tpa_options *options);
int tpa_cmd_export(const struct tpa_options *options);
int tpa_cmd_lines(const struct tpa_options *options);
int tpa_cmd_threads(const struct tpa_options *options);
int tpa_cmd_ranks(const struct tpa_options *options);
int tpa_cmd_info(const struct tpa_options *options);
int tpa_cmd_dump(const struct tpa_options *options);
int tpa_cmd_compact(const struct tpa_options *options);
int tpa_cmd_bundle(const struct tpa_options *options);
int tpa_cmd_import(const struct tpa_options *options);
int tpa_cmd_push(const struct tpa_options *options);
int tpa_cmd_live(const struct tpa_options *options);

#endif
