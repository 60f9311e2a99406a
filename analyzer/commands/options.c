/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what is allowed stands in tables, so that a refusal can name it. */
#include "commands/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands/command.h"
#include "commands/help.h"
#include "trace/trace.h"
#include "commands/marks.h"

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
	OPT_WHAT,
	OPT_FORMAT,
	OPT_EXACT,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_SHAPES,
	OPT_TREE,
	OPT_LANGUAGE,
	OPT_INTERPRETER,
	OPT_LIMIT,
	OPT_MACHINE,
	OPT_MEASURE,
	OPT_MAX_PEAK,
	OPT_MAX_UNFREED,
	OPT_MAX_RSS,
	OPT_MAX_ALLOCATIONS,
	OPT_MAX_GROWTH,
	OPT_MAX_REGRESS,
	OPT_BASELINE,
	OPT_RULES,
	OPT_JUNIT,
	OPT_VERSION,
};

static const struct option long_options[] = {
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
	{ "what", required_argument, NULL, OPT_WHAT },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "exact", no_argument, NULL, OPT_EXACT },
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
	{ "baseline", required_argument, NULL, OPT_BASELINE },
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "junit", required_argument, NULL, OPT_JUNIT },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Which bit a command must have for an option; 0: every command takes it. */
static const struct {
	int option;
	unsigned int bit;
} option_bits[] = {
	{ OPT_JSON, TP_OPT_JSON },
	{ OPT_TOP, TP_OPT_TOP },
	{ OPT_FILTER, TP_OPT_FILTER },
	{ OPT_THREAD, TP_OPT_THREAD },
	{ OPT_FROM, TP_OPT_TIME },
	{ OPT_TO, TP_OPT_TIME },
	{ OPT_SUPPRESSIONS, TP_OPT_SUPPRESS },
	{ OPT_WHAT, TP_OPT_WHAT },
	{ OPT_FORMAT, TP_OPT_FORMAT },
	{ OPT_EXACT, TP_OPT_EXACT },
	{ OPT_CALLERS, TP_OPT_RELATION },
	{ OPT_CALLEES, TP_OPT_RELATION },
	{ OPT_SHAPES, TP_OPT_SHAPES },
	{ OPT_LANGUAGE, TP_OPT_LANGUAGE },
	{ OPT_INTERPRETER, TP_OPT_LANGUAGE },
	{ OPT_MACHINE, TP_OPT_MACHINE },
	{ OPT_MEASURE, TP_OPT_MACHINE },
	{ OPT_TREE, TP_OPT_TREE },
	{ OPT_LIMIT, TP_OPT_FORMAT | TP_OPT_LIMIT },
	{ OPT_MAX_PEAK, TP_OPT_CHECK },
	{ OPT_MAX_UNFREED, TP_OPT_CHECK },
	{ OPT_MAX_RSS, TP_OPT_CHECK },
	{ OPT_MAX_ALLOCATIONS, TP_OPT_CHECK },
	{ OPT_MAX_GROWTH, TP_OPT_CHECK },
	{ OPT_MAX_REGRESS, TP_OPT_CHECK },
	{ OPT_BASELINE, TP_OPT_BASELINE },
	{ OPT_RULES, TP_OPT_CHECK },
	{ OPT_JUNIT, TP_OPT_CHECK },
};

static const char *const color_names[] = { "auto", "always", "never", NULL };
static const char *const language_names[] = { "mixed", "python", "native", NULL };
static const char *const format_names[] = { "folded", "chrome", NULL };
static const char *const what_names[] = { "peak", "allocated", "unfreed", "temporary", "cpu", NULL };

__attribute__((format(printf, 1, 2))) static enum tp_parse wrong(const char *format, ...)
{
	va_list args;

	fputs("tprof-analyze: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return TP_PARSE_WRONG;
}

static int name_index(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* Is `word` one of the words of `list`, which blanks separate? */
static bool word_in(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *p = list; length && (p = strstr(p, word)); p++)
		if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
			return true;
	return false;
}

bool tp_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgtp";
	const char *unit;
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]))
		return false;
	value = strtod(text, &end);
	while (*end == ' ')
		end++;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		value = ldexp(value, 10 * (int)(unit - units + 1));
		end += strncasecmp(end + 1, "ib", 2) == 0 ? 3 : 1;
	} else if (*end == 'B' || *end == 'b') {
		end++;
	}
	if (*end || !(value < 0x1p63))
		return false;
	*bytes = (uint64_t)value;
	return true;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

bool tp_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },  { "us", 1e3 },
		      { "ns", 1 }, { "m", 60e9 }, { "h", 3600e9 } };
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	value = strtod(text, &end);
	if (end == text)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0) {
			value *= units[i].ns;
			if (!isfinite(value) || value < 0 || value >= 9e18)
				return false;
			*ns = (uint64_t)llround(value);
			return true;
		}
	return false;
}

static const char *option_name(int option)
{
	for (const struct option *o = long_options; o->name; o++)
		if (o->val == option)
			return o->name;
	return "?";
}

/* Of memory, or of a list: each command has but one. */
static enum tp_parse parse_limit(struct tp_options *options, const char *value)
{
	if (!(options->command->options & TP_OPT_LIMIT))
		return parse_number(value, UINT64_MAX, &options->limit)
			       ? TP_PARSE_RUN
			       : wrong("--limit %s: a number of ops is wanted; 0 is all", value);
	if (!tp_parse_size(value, &options->limit) || !options->limit)
		return wrong("--limit %s: a size is wanted, as in 512MiB, 8GiB or 1000000", value);
	return TP_PARSE_RUN;
}

static enum tp_parse parse_sort(struct tp_options *options, const char *value)
{
	const char *keys = options->command->sort_keys;

	if (!keys)
		return wrong("%s takes no --sort", options->command->name);
	if (!word_in(keys, value))
		return wrong("--sort %s: %s allows one of: %s", value, options->command->name, keys);
	options->sort = value;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_by(struct tp_options *options, const char *value)
{
	const char *keys = options->command->by_keys;

	if (!keys)
		return wrong("%s takes no --by", options->command->name);
	if (!word_in(keys, value))
		return wrong("--by %s: %s allows one of: %s", value, options->command->name, keys);
	for (enum tp_by by = TP_BY_STACK; tp_by_name(by); by++)
		if (strcmp(tp_by_name(by), value) == 0)
			options->by = by;
	options->by_set = true;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_filter(struct tp_options *options, const char *value)
{
	char reason[200];
	regex_t regex;
	int error = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);

	if (error) {
		regerror(error, &regex, reason, sizeof(reason));
		return wrong("--filter %s: not an extended regular expression: %s", value, reason);
	}
	regfree(&regex);
	options->filter = value;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_id(int option, const char *value, uint32_t *id)
{
	uint64_t number;

	if (!parse_number(value, UINT32_MAX, &number) || number == 0)
		return wrong("--%s %s: a number is wanted, 1 or more", option_name(option), value);
	*id = (uint32_t)number;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_moment(int option, const char *value, uint64_t *ns)
{
	if (!tp_parse_time(value, ns))
		return wrong("--%s %s: a time since the start is wanted, as in 1.5s, 300ms, 20us, 7ns, 2m, 1h (plain "
			     "numbers are seconds)",
			     option_name(option), value);
	return TP_PARSE_RUN;
}

static enum tp_parse parse_choice(int option, const char *value, const char *const *names, int *choice)
{
	*choice = name_index(names, value);
	if (*choice >= 0)
		return TP_PARSE_RUN;
	fprintf(stderr, "tprof-analyze: --%s %s: one of these is wanted:", option_name(option), value);
	for (int i = 0; names[i]; i++)
		fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	return TP_PARSE_WRONG;
}

static enum tp_parse add_file(const char *const **list, size_t *count, const char *file)
{
	const char **files = realloc((void *)*list, (*count + 1) * sizeof(*files));

	if (!files)
		return wrong("out of memory");
	files[(*count)++] = file;
	*list = files;
	return TP_PARSE_RUN;
}

static enum tp_parse add_rule(struct tp_options *options, const char *name, const char *value)
{
	struct tp_said_rule *rules = realloc(options->rules, (options->rule_count + 1) * sizeof(*rules));

	if (!rules)
		return wrong("out of memory");
	rules[options->rule_count++] = (struct tp_said_rule){ name, value };
	options->rules = rules;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_relation(struct tp_options *options, enum tp_relation relation, const char *function)
{
	if (options->relation)
		return wrong("--callers and --callees are of one function: one of them, once");
	if (!function[0])
		return wrong("--%s wants the name of a function",
			     relation == TP_RELATION_CALLERS ? "callers" : "callees");
	options->relation = relation;
	options->function = function;
	return TP_PARSE_RUN;
}

static enum tp_parse parse_check_option(struct tp_options *options, int option, const char *value)
{
	switch (option) {
	case OPT_BASELINE:
		return add_file(&options->baselines, &options->baseline_count, value);
	case OPT_RULES:
		options->rules_file = value;
		return TP_PARSE_RUN;
	case OPT_JUNIT:
		options->junit = value;
		return TP_PARSE_RUN;
	default:
		return add_rule(options, option_name(option), value);
	}
}

static enum tp_parse parse_option(struct tp_options *options, int option, const char *value)
{
	enum tp_parse result = TP_PARSE_RUN;
	int choice = 0;

	switch (option) {
	case OPT_JSON:
		options->json = true;
		return result;
	case OPT_EXACT:
		options->exact = true;
		return result;
	case OPT_SHAPES:
		options->shapes = true;
		return result;
	case OPT_TREE:
		options->tree = true;
		return result;
	case OPT_LIMIT:
		return parse_limit(options, value);
	case OPT_TOP:
		if (!parse_number(value, UINT32_MAX, &options->top))
			return wrong("--top %s: a number of rows is wanted; 0 is all", value);
		options->top_set = true;
		return result;
	case OPT_SORT:
		return parse_sort(options, value);
	case OPT_BY:
		return parse_by(options, value);
	case OPT_FILTER:
		return parse_filter(options, value);
	case OPT_THREAD:
		return parse_id(option, value, &options->thread);
	case OPT_PROCESS:
		return parse_id(option, value, &options->process);
	case OPT_FROM:
		return tp_mark_named(value, &options->from_mark) ? result
								 : parse_moment(option, value, &options->from_ns);
	case OPT_TO:
		return tp_mark_named(value, &options->to_mark) ? result : parse_moment(option, value, &options->to_ns);
	case OPT_CALLERS:
		return parse_relation(options, TP_RELATION_CALLERS, value);
	case OPT_CALLEES:
		return parse_relation(options, TP_RELATION_CALLEES, value);
	case OPT_SUPPRESSIONS:
		return add_file(&options->suppressions, &options->suppression_count, value);
	case OPT_MACHINE:
		options->machine = value;
		return result;
	case OPT_MEASURE:
		options->measure = true;
		return result;
	case OPT_DEBUG_DIR:
		options->debug_dir = value;
		return result;
	case OPT_COLOR:
		result = parse_choice(option, value, color_names, &choice);
		options->color = (enum tp_color)choice;
		return result;
	case OPT_WHAT:
		result = parse_choice(option, value, what_names, &choice);
		options->what = (enum tp_what)choice;
		return result;
	case OPT_LANGUAGE:
		result = parse_choice(option, value, language_names, &choice);
		options->language = (enum tp_language)choice;
		return result;
	case OPT_INTERPRETER:
		options->interpreter = true;
		return result;
	case OPT_FORMAT:
		result = parse_choice(option, value, format_names, &choice);
		options->format = value;
		return result;
	case 'o':
		options->output = value;
		return result;
	default:
		return parse_check_option(options, option, value);
	}
}

/* Says no to an option that the command has no use for: silence would let a reader believe in it. */
static enum tp_parse check_allowed(const struct tp_command *command, int option)
{
	for (size_t i = 0; i < sizeof(option_bits) / sizeof(option_bits[0]); i++)
		if (option_bits[i].option == option && !(command->options & option_bits[i].bit))
			return wrong("%s takes no --%s; see tprof-analyze %s --help", command->name,
				     option_name(option), command->name);
	return TP_PARSE_RUN;
}

static enum tp_parse unknown_option(const struct tp_command *command, int option, char **argv)
{
	const char *what = argv[optind - 1];

	if (optopt && optopt < 256)
		return wrong(option == ':' ? "-%c wants a value; see tprof-analyze --help"
					   : "unknown option -%c; see tprof-analyze --help",
			     optopt);
	if (optopt)
		return wrong(option == ':' ? "--%s wants a value; see tprof-analyze --help"
					   : "--%s takes no value; see tprof-analyze --help",
			     option_name(optopt));
	fprintf(stderr, "tprof-analyze: unknown option %s; %s allows:", what, command->name);
	for (const struct option *o = long_options; o->name; o++) {
		bool allowed = true;

		for (size_t i = 0; i < sizeof(option_bits) / sizeof(option_bits[0]); i++)
			if (option_bits[i].option == o->val && !(command->options & option_bits[i].bit))
				allowed = false;
		if ((o->val == OPT_SORT && !command->sort_keys) || (o->val == OPT_BY && !command->by_keys))
			allowed = false;
		if (allowed)
			fprintf(stderr, " --%s", o->name);
	}
	fputc('\n', stderr);
	return TP_PARSE_WRONG;
}

/*
 * The command is the first word that is not an option, wherever it stands; a word that names no command is a trace, and
 * the command is summary. A word that looks like neither (no such file) is a mistyped command: it is named as such.
 */
static enum tp_parse find_command(int argc, char **argv, struct tp_options *options, int *index)
{
	static const struct option *const table = long_options;
	int option;

	options->command = tp_command_find("summary");
	*index = 0;
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, "-:o:h", table, NULL)) != -1)
		if (option == 1)
			break;
	if (option == 1) {
		const struct tp_command *command = tp_command_find(optarg);

		if (command) {
			options->command = command;
			*index = optind - 1;
		} else if (tp_looks_like_command(optarg)) {
			return tp_help_unknown_command(optarg);
		}
	}
	return TP_PARSE_RUN;
}

/* What begins as a trace is one, whatever its name. */
static bool is_trace(const char *path)
{
	char magic[8] = "";
	FILE *file = fopen(path, "re");
	bool whole = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic);

	if (file)
		fclose(file);
	return whole && memcmp(magic, TPROF_MAGIC, sizeof(magic)) == 0;
}

static enum tp_parse collect_traces(int argc, char **argv, int first, struct tp_options *options)
{
	size_t count = 0;
	const char **traces = calloc((size_t)argc + 1, sizeof(*traces));

	if (!traces)
		return wrong("out of memory");
	for (int i = first; i < argc; i++)
		traces[count++] = argv[i];
	if (options->command->options & TP_OPT_SOURCE && count && !is_trace(traces[0])) {
		options->source = traces[0];
		memmove(traces, traces + 1, --count * sizeof(*traces));
	}
	options->traces = traces;
	options->trace_count = count;
	if (!count && !(options->command->options & TP_OPT_NO_TRACE))
		return wrong("no trace is named; usage: tprof-analyze [COMMAND] [options] TRACE...");
	if (options->measure && options->machine)
		return wrong("--machine names a file, --measure is of this machine: one of them");
	if (options->to_ns && options->to_ns <= options->from_ns)
		return wrong("--to must be later than --from");
	return TP_PARSE_RUN;
}

static void set_defaults(struct tp_options *options)
{
	static char first[32];
	const char *keys = options->command->sort_keys;

	if (keys && !options->sort) {
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(keys, " "), keys);
		options->sort = first;
	}
	if (!options->format)
		options->format = "folded";
}

enum tp_parse tp_options_parse(int argc, char **argv, struct tp_options *options)
{
	enum tp_parse result;
	int option, command_index;

	memset(options, 0, sizeof(*options));
	if (argc <= 1)
		return tp_help_usage(stderr), TP_PARSE_WRONG;
	result = find_command(argc, argv, options, &command_index);
	if (result != TP_PARSE_RUN)
		return result;
	if (command_index) { /* what remains are options and traces */
		memmove(argv + command_index, argv + command_index + 1, (size_t)(argc - command_index) * sizeof(*argv));
		argc--;
	}
	optind = 0;
	while ((option = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
		if (option == 'h')
			return tp_help_print(command_index ? options->command : NULL);
		if (option == OPT_VERSION)
			return tp_help_version();
		if (option == '?' || option == ':')
			return unknown_option(options->command, option, argv);
		result = check_allowed(options->command, option);
		if (result == TP_PARSE_RUN)
			result = parse_option(options, option, optarg);
		if (result != TP_PARSE_RUN)
			return result;
	}
	set_defaults(options);
	return collect_traces(argc, argv, optind, options);
}

void tp_options_free(struct tp_options *options)
{
	free((void *)options->suppressions);
	free((void *)options->traces);
	free((void *)options->baselines);
	free(options->rules);
	options->suppressions = NULL;
	options->traces = NULL;
	options->baselines = NULL;
}
