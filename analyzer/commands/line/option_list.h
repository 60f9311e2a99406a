/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the commands that take them: a table, so that an error can list what is allowed. */
#ifndef TPROF_COMMANDS_LINE_OPTION_LIST_H
#define TPROF_COMMANDS_LINE_OPTION_LIST_H

#include <getopt.h>

#include "commands/line/options.h"

enum {
	OPT_JSON = 256,
	OPT_TOP,
	OPT_SORT,
	OPT_BY,
	OPT_FILTER,
	OPT_THREAD,
	OPT_PROCESS,
	OPT_FROM,
	OPT_TO,
	OPT_SUPPRESSIONS,
	OPT_DEBUG_DIR,
	OPT_COLOR,
	OPT_WIDTH,
	OPT_NO_PAGER,
	OPT_JOBS,
	OPT_WHAT,
	OPT_FORMAT,
	OPT_EXACT,
	OPT_FULL,
	OPT_BRIEF,
	OPT_ONCE,
	OPT_INTERVAL,
	OPT_OPENMETRICS,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_SHAPES,
	OPT_TREE,
	OPT_LANGUAGE,
	OPT_INTERPRETER,
	OPT_LIMIT,
	OPT_TABLE,
	OPT_MACHINE,
	OPT_MEASURE,
	OPT_MAX_PEAK,
	OPT_MAX_UNFREED,
	OPT_MAX_RSS,
	OPT_MAX_ALLOCATIONS,
	OPT_MAX_GROWTH,
	OPT_MAX_REGRESS,
	OPT_BASELINE,
	OPT_ALL_RUNS,
	OPT_RULES,
	OPT_JUNIT,
	OPT_EMBED_SYMBOLS,
	OPT_STRIP_NAMES,
	OPT_URL,
	OPT_EVERY,
	OPT_VERSION,
};

/* For getopt_long(). */
extern const struct option tpa_option_list[];

/* The option's name without dashes. */
const char *tpa_option_name(int option);

/* Does the command take the option? */
bool tpa_option_is_taken(const struct tpa_command *command, int option);

/* The words that are the values of an option of the command, ending with NULL; NULL: it takes others. */
const char *const *tpa_option_words(const struct tpa_command *command, int option);

/* Prints a line on stderr. Returns TPA_PARSE_WRONG. */
__attribute__((format(printf, 1, 2))) enum tpa_parse tpa_option_wrong(const char *format, ...);

/* Rejects an option that the command doesn't use: ignoring it silently would mislead the user. */
enum tpa_parse tpa_option_allowed(const struct tpa_command *command, int option);

/* Reports an option that getopt_long() rejected ('?' or ':'), and what the command takes. */
enum tpa_parse tpa_option_unknown(const struct tpa_command *command, int option, char **argv);

#endif
