/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/option_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands/line/command.h"
#include "commands/line/suggest.h"

const struct option tpa_option_list[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "by", required_argument, NULL, OPT_BY },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "thread", required_argument, NULL, OPT_THREAD },
	{ "process", required_argument, NULL, OPT_PROCESS },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "suppressions", required_argument, NULL, OPT_SUPPRESSIONS },
	{ "debug-dir", required_argument, NULL, OPT_DEBUG_DIR },
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "width", required_argument, NULL, OPT_WIDTH },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "what", required_argument, NULL, OPT_WHAT },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "table", required_argument, NULL, OPT_TABLE },
	{ "exact", no_argument, NULL, OPT_EXACT },
	{ "full", no_argument, NULL, OPT_FULL },
	{ "brief", no_argument, NULL, OPT_BRIEF },
	{ "once", no_argument, NULL, OPT_ONCE },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "openmetrics", required_argument, NULL, OPT_OPENMETRICS },
	{ "callers", required_argument, NULL, OPT_CALLERS },
	{ "callees", required_argument, NULL, OPT_CALLEES },
	{ "shapes", no_argument, NULL, OPT_SHAPES },
	{ "tree", no_argument, NULL, OPT_TREE },
	{ "language", required_argument, NULL, OPT_LANGUAGE },
	{ "interpreter", no_argument, NULL, OPT_INTERPRETER },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "measure", no_argument, NULL, OPT_MEASURE },
	{ "max-peak", required_argument, NULL, OPT_MAX_PEAK },
	{ "max-unfreed", required_argument, NULL, OPT_MAX_UNFREED },
	{ "max-rss", required_argument, NULL, OPT_MAX_RSS },
	{ "max-allocations", required_argument, NULL, OPT_MAX_ALLOCATIONS },
	{ "max-growth", required_argument, NULL, OPT_MAX_GROWTH },
	{ "max-regress", required_argument, NULL, OPT_MAX_REGRESS },
	{ "all-runs", no_argument, NULL, OPT_ALL_RUNS },
	{ "baseline", required_argument, NULL, OPT_BASELINE },
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "junit", required_argument, NULL, OPT_JUNIT },
	{ "embed-symbols", no_argument, NULL, OPT_EMBED_SYMBOLS },
	{ "strip-names", required_argument, NULL, OPT_STRIP_NAMES },
	{ "url", required_argument, NULL, OPT_URL },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Bit that a command needs for an option; 0: every command takes the option. */
static const struct {
	int option;
	unsigned int bit;
} option_bits[] = {
	{ OPT_JSON, TPA_OPT_JSON },
	{ OPT_TOP, TPA_OPT_TOP },
	{ OPT_FILTER, TPA_OPT_FILTER },
	{ OPT_THREAD, TPA_OPT_THREAD },
	{ OPT_FROM, TPA_OPT_TIME },
	{ OPT_TO, TPA_OPT_TIME },
	{ OPT_SUPPRESSIONS, TPA_OPT_SUPPRESS },
	{ OPT_WHAT, TPA_OPT_WHAT },
	{ OPT_FORMAT, TPA_OPT_FORMAT | TPA_OPT_REPORT },
	{ OPT_TABLE, TPA_OPT_FORMAT },
	{ OPT_EXACT, TPA_OPT_EXACT },
	{ OPT_FULL, TPA_OPT_FULL },
	{ OPT_BRIEF, TPA_OPT_FULL },
	{ OPT_ONCE, TPA_OPT_LIVE },
	{ OPT_INTERVAL, TPA_OPT_LIVE },
	{ OPT_OPENMETRICS, TPA_OPT_LIVE },
	{ OPT_CALLERS, TPA_OPT_RELATION },
	{ OPT_CALLEES, TPA_OPT_RELATION },
	{ OPT_SHAPES, TPA_OPT_SHAPES },
	{ OPT_LANGUAGE, TPA_OPT_LANGUAGE },
	{ OPT_INTERPRETER, TPA_OPT_LANGUAGE },
	{ OPT_MACHINE, TPA_OPT_MACHINE },
	{ OPT_MEASURE, TPA_OPT_MACHINE },
	{ OPT_TREE, TPA_OPT_TREE },
	{ OPT_LIMIT, TPA_OPT_FORMAT | TPA_OPT_LIMIT },
	{ OPT_MAX_PEAK, TPA_OPT_CHECK },
	{ OPT_MAX_UNFREED, TPA_OPT_CHECK },
	{ OPT_MAX_RSS, TPA_OPT_CHECK },
	{ OPT_MAX_ALLOCATIONS, TPA_OPT_CHECK },
	{ OPT_MAX_GROWTH, TPA_OPT_CHECK },
	{ OPT_MAX_REGRESS, TPA_OPT_CHECK },
	{ OPT_BASELINE, TPA_OPT_BASELINE },
	{ OPT_ALL_RUNS, TPA_OPT_RUNS },
	{ OPT_RULES, TPA_OPT_CHECK },
	{ OPT_JUNIT, TPA_OPT_CHECK },
	{ OPT_EMBED_SYMBOLS, TPA_OPT_EMBED },
	{ OPT_STRIP_NAMES, TPA_OPT_STRIP },
	{ OPT_URL, TPA_OPT_PUSH },
	{ OPT_EVERY, TPA_OPT_PUSH },
};

enum tpa_parse tpa_option_wrong(const char *format, ...)
{
	va_list args;

	fputs("tprof-analyze: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return TPA_PARSE_WRONG;
}

const char *tpa_option_name(int option)
{
	for (const struct option *o = tpa_option_list; o->name; o++)
		if (o->val == option)
			return o->name;
	return "?";
}

bool tpa_option_is_taken(const struct tpa_command *command, int option)
{
	if (option == OPT_SORT || option == OPT_BY)
		return option == OPT_SORT ? command->sort_keys : command->by_keys;
	for (size_t i = 0; i < sizeof(option_bits) / sizeof(option_bits[0]); i++)
		if (option_bits[i].option == option && !(command->options & option_bits[i].bit))
			return false;
	return true;
}

enum tpa_parse tpa_option_allowed(const struct tpa_command *command, int option)
{
	if (tpa_option_is_taken(command, option))
		return TPA_PARSE_RUN;
	fprintf(stderr, "tprof-analyze: %s takes no --%s; these do:", command->name, tpa_option_name(option));
	for (const struct tpa_command *other = tpa_commands; other->name; other++)
		if (tpa_option_is_taken(other, option))
			fprintf(stderr, " %s", other->name);
	fputc('\n', stderr);
	return TPA_PARSE_WRONG;
}

/* Reports an option name that is unknown or ambiguous. Missing and extra values are reported elsewhere. */
static enum tpa_parse unknown_name(const struct tpa_command *command, const char *typed)
{
	char name[64];
	struct tpa_suggestion suggestion;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
	suggestion = tpa_suggest(name);
	for (const struct option *o = tpa_option_list; o->name; o++)
		if (tpa_option_is_taken(command, o->val))
			tpa_suggest_offer(&suggestion, o->name);
	fprintf(stderr, "tprof-analyze: unknown option %s; %s%s allows:", typed, tpa_suggest_text(&suggestion, "--"),
		command->name);
	for (const struct option *o = tpa_option_list; o->name; o++)
		if (tpa_option_is_taken(command, o->val))
			fprintf(stderr, " --%s", o->name);
	fputc('\n', stderr);
	return TPA_PARSE_WRONG;
}

enum tpa_parse tpa_option_unknown(const struct tpa_command *command, int option, char **argv)
{
	if (optopt && optopt < 256)
		return tpa_option_wrong(option == ':' ? "-%c wants a value; see tprof-analyze --help"
						      : "unknown option -%c; see tprof-analyze --help",
					optopt);
	if (optopt)
		return tpa_option_wrong(option == ':' ? "--%s wants a value; see tprof-analyze --help"
						      : "--%s takes no value; see tprof-analyze --help",
					tpa_option_name(optopt));
	return unknown_name(command, argv[optind - 1]);
}
