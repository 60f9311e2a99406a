/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line: the command, its options, the traces. */
#include "commands/line/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tprof/size.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/line/command.h"
#include "commands/line/completion.h"
#include "commands/line/export_format.h"
#include "commands/line/help.h"
#include "commands/line/inputs.h"
#include "commands/line/moments.h"
#include "commands/line/option_list.h"
#include "commands/line/suggest.h"
#include "commands/line/values.h"
#include "export/tables.h"
#include "trace/trace.h"

#define INTERVAL_LEAST UINT64_C(100000000)
#define JOBS_MOST 1024

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

/* Reports an unknown key, the command's keys, and the nearest of them. */
static enum tpa_parse wrong_key(const struct tpa_options *options, const char *option, const char *value,
				const char *keys)
{
	struct tpa_suggestion suggestion = tpa_suggest(value);

	tpa_suggest_offer_list(&suggestion, keys);
	return tpa_option_wrong("--%s %s: %s%s allows one of: %s", option, value, tpa_suggest_text(&suggestion, ""),
				options->command->name, keys);
}

/* A limit of memory or of a list; each command has only one. */
static enum tpa_parse parse_limit(struct tpa_options *options, const char *value)
{
	if (!(options->command->options & TPA_OPT_LIMIT))
		return tpa_parse_number(value, UINT64_MAX, &options->limit)
			       ? TPA_PARSE_RUN
			       : tpa_option_wrong("--limit %s: a number of ops is wanted; 0 is all", value);
	if (!tprof_parse_size(value, &options->limit) || !options->limit)
		return tpa_option_wrong("--limit %s: a size is wanted, as in 512MiB, 8GiB or 1000000", value);
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_sort(struct tpa_options *options, const char *value)
{
	const char *keys = options->command->sort_keys;

	if (!word_in(keys, value))
		return wrong_key(options, "sort", value, keys);
	options->sort = value;
	options->sort_set = true;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_by(struct tpa_options *options, const char *value)
{
	const char *keys = options->command->by_keys;

	if (!word_in(keys, value))
		return wrong_key(options, "by", value, keys);
	for (enum tpa_by by = TPA_BY_STACK; tpa_by_name(by); by++)
		if (strcmp(tpa_by_name(by), value) == 0)
			options->by = by;
	options->cover = strcmp(value, "auto") == 0;
	options->by_set = true;
	return TPA_PARSE_RUN;
}

/* An extended regular expression, which is kept as it is. */
static enum tpa_parse parse_regex(int option, const char *value, const char **kept)
{
	char reason[200];
	regex_t regex;
	int error = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);

	if (error) {
		regerror(error, &regex, reason, sizeof(reason));
		return tpa_option_wrong("--%s %s: not an extended regular expression: %s", tpa_option_name(option),
					value, reason);
	}
	regfree(&regex);
	*kept = value;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_id(int option, const char *value, uint32_t *id)
{
	uint64_t number;

	if (!tpa_parse_number(value, UINT32_MAX, &number) || number == 0)
		return tpa_option_wrong("--%s %s: a number is wanted, 1 or more", tpa_option_name(option), value);
	*id = (uint32_t)number;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_moment(int option, const char *value, uint64_t *ns, struct tpa_moment *moment)
{
	const char *number;

	*ns = 0;
	*moment = (struct tpa_moment){ .mark = NULL };
	if (tpa_mark_named(value, &moment->mark))
		return TPA_PARSE_RUN;
	if (tpa_step_named(value, &number))
		return tpa_parse_number(number, UINT64_MAX, &moment->step) && moment->step
			       ? TPA_PARSE_RUN
			       : tpa_option_wrong("--%s %s: the number of a step is wanted, 1 or more",
						  tpa_option_name(option), value);
	if (!tpa_parse_time(value, ns))
		return tpa_option_wrong(
			"--%s %s: a time since the start is wanted, as in 1.5s, 300ms, 20us, 7ns, 2m, 1h (plain "
			"numbers are seconds), or mark:TEXT, or step:N",
			tpa_option_name(option), value);
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_choice(const struct tpa_command *command, int option, const char *value, int *choice)
{
	const char *const *names = tpa_option_words(command, option);
	struct tpa_suggestion suggestion = tpa_suggest(value);

	*choice = name_index(names, value);
	if (*choice >= 0)
		return TPA_PARSE_RUN;
	for (int i = 0; names[i]; i++)
		tpa_suggest_offer(&suggestion, names[i]);
	fprintf(stderr, "tprof-analyze: --%s %s: %sone of these is wanted:", tpa_option_name(option), value,
		tpa_suggest_text(&suggestion, ""));
	for (int i = 0; names[i]; i++)
		fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	return TPA_PARSE_WRONG;
}

static enum tpa_parse add_file(const char *const **list, size_t *count, const char *file)
{
	const char **files = tpa_resize((void *)*list, *count + 1, sizeof(*files));

	files[(*count)++] = file;
	*list = files;
	return TPA_PARSE_RUN;
}

static enum tpa_parse add_rule(struct tpa_options *options, const char *name, const char *value)
{
	options->rules = tpa_resize(options->rules, options->rule_count + 1, sizeof(*options->rules));
	options->rules[options->rule_count++] = (struct tpa_said_rule){ name, value };
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_relation(struct tpa_options *options, enum tpa_relation relation, const char *function)
{
	if (options->relation)
		return tpa_option_wrong("--callers and --callees are of one function: one of them, once");
	if (!function[0])
		return tpa_option_wrong("--%s wants the name of a function",
					relation == TPA_RELATION_CALLERS ? "callers" : "callees");
	options->relation = relation;
	options->function = function;
	return TPA_PARSE_RUN;
}

/* The flag that an option without a value sets, or NULL if the option is none of these. */
static bool *switch_of(struct tpa_options *options, int option)
{
	switch (option) {
	case OPT_JSON:
		return &options->json;
	case OPT_EXACT:
		return &options->exact;
	case OPT_FULL:
		return &options->full;
	case OPT_BRIEF:
		return &options->brief;
	case OPT_ONCE:
		return &options->once;
	case OPT_NO_PAGER:
		return &options->no_pager;
	case OPT_ALL_RUNS:
		return &options->all_runs;
	case OPT_SHAPES:
		return &options->shapes;
	case OPT_TREE:
		return &options->tree;
	case OPT_MEASURE:
		return &options->measure;
	case OPT_INTERPRETER:
		return &options->interpreter;
	case OPT_EMBED_SYMBOLS:
		return &options->embed_symbols;
	default:
		return NULL;
	}
}

/* Where to store a value that needs no parsing, or NULL if the option's value must be parsed. */
static const char **text_of(struct tpa_options *options, int option)
{
	switch (option) {
	case OPT_MACHINE:
		return &options->machine;
	case OPT_RULES:
		return &options->rules_file;
	case OPT_JUNIT:
		return &options->junit;
	case OPT_OPENMETRICS:
		return &options->openmetrics;
	case 'o':
		return &options->output;
	default:
		return NULL;
	}
}

static void set_report(struct tpa_options *options, const char *format)
{
	options->markdown = strcmp(format, "markdown") == 0;
	options->json = strcmp(format, "json") == 0;
	options->html = strcmp(format, "html") == 0;
}

static enum tpa_parse parse_one_of(struct tpa_options *options, int option, const char *value)
{
	bool report = options->command->options & TPA_OPT_REPORT;
	enum tpa_parse result;
	int choice;

	result = parse_choice(options->command, option, value, &choice);
	if (result != TPA_PARSE_RUN)
		return result;
	if (option == OPT_COLOR)
		options->color = (enum tpa_color)choice;
	else if (option == OPT_WHAT)
		options->what = (enum tpa_what)choice;
	else if (option == OPT_LANGUAGE)
		options->language = (enum tpa_language)choice;
	else if (option == OPT_TABLE)
		options->table = &tpa_tables[choice];
	else if (report)
		set_report(options, value);
	else
		options->format = &tpa_export_formats[choice];
	return result;
}

static enum tpa_parse parse_top(struct tpa_options *options, const char *value)
{
	if (!tpa_parse_number(value, UINT32_MAX, &options->top))
		return tpa_option_wrong("--top %s: a number of rows is wanted; 0 is all", value);
	options->top_set = true;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_width(struct tpa_options *options, const char *value)
{
	uint64_t columns;

	if (!tpa_parse_number(value, TPA_WIDTH_MOST, &columns) || columns < TPA_WIDTH_LEAST)
		return tpa_option_wrong("--width %s: a number of columns is wanted, from %d to %d", value,
					TPA_WIDTH_LEAST, TPA_WIDTH_MOST);
	options->width = (int)columns;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_jobs(struct tpa_options *options, const char *value)
{
	if (!tpa_parse_number(value, JOBS_MOST, &options->jobs) || !options->jobs)
		return tpa_option_wrong("--jobs %s: a number of traces to read at a time is wanted, from 1 to %d",
					value, JOBS_MOST);
	return TPA_PARSE_RUN;
}

/* A wrong directory would silently leave out names. It needs no read permission: files in it are opened by name. */
static enum tpa_parse parse_debug_dir(struct tpa_options *options, const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return tpa_option_wrong("--debug-dir %s: can't be read: %s", path, strerror(errno));
	close(folder);
	options->debug_dir = path;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_interval(int option, const char *value, uint64_t *ns)
{
	if (!tpa_parse_time(value, ns) || *ns < INTERVAL_LEAST)
		return tpa_option_wrong("--%s %s: a time of 100ms or more is wanted, as in 2 (seconds), 500ms, 1m",
					tpa_option_name(option), value);
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_url(struct tpa_options *options, const char *value)
{
	if ((strncmp(value, "http://", 7) != 0 || !value[7]) && (strncmp(value, "https://", 8) != 0 || !value[8]))
		return tpa_option_wrong("--url %s: an address is wanted, as in http://localhost:4040", value);
	options->url = value;
	return TPA_PARSE_RUN;
}

static enum tpa_parse parse_value(struct tpa_options *options, int option, const char *value)
{
	switch (option) {
	case OPT_LIMIT:
		return parse_limit(options, value);
	case OPT_DEBUG_DIR:
		return parse_debug_dir(options, value);
	case OPT_TOP:
		return parse_top(options, value);
	case OPT_WIDTH:
		return parse_width(options, value);
	case OPT_JOBS:
		return parse_jobs(options, value);
	case OPT_SORT:
		return parse_sort(options, value);
	case OPT_BY:
		return parse_by(options, value);
	case OPT_FILTER:
		return parse_regex(option, value, &options->filter);
	case OPT_STRIP_NAMES:
		return parse_regex(option, value, &options->strip_names);
	case OPT_THREAD:
		return parse_id(option, value, &options->thread);
	case OPT_PROCESS:
		return parse_id(option, value, &options->process);
	case OPT_FROM:
		return parse_moment(option, value, &options->from_ns, &options->from_at);
	case OPT_TO:
		return parse_moment(option, value, &options->to_ns, &options->to_at);
	case OPT_INTERVAL:
		return parse_interval(option, value, &options->interval_ns);
	case OPT_EVERY:
		return parse_interval(option, value, &options->every_ns);
	case OPT_URL:
		return parse_url(options, value);
	case OPT_CALLERS:
		return parse_relation(options, TPA_RELATION_CALLERS, value);
	case OPT_CALLEES:
		return parse_relation(options, TPA_RELATION_CALLEES, value);
	case OPT_SUPPRESSIONS:
		return add_file(&options->suppressions, &options->suppression_count, value);
	case OPT_BASELINE:
		return add_file(&options->baselines, &options->baseline_count, value);
	case OPT_COLOR:
	case OPT_WHAT:
	case OPT_LANGUAGE:
	case OPT_FORMAT:
	case OPT_TABLE:
		return parse_one_of(options, option, value);
	default:
		return add_rule(options, tpa_option_name(option), value);
	}
}

static enum tpa_parse parse_option(struct tpa_options *options, int option, const char *value)
{
	bool *switched = switch_of(options, option);
	const char **text = text_of(options, option);

	if (switched)
		*switched = true;
	else if (text)
		*text = value;
	else
		return parse_value(options, option, value);
	return TPA_PARSE_RUN;
}

/*
 * The command is the first word that is not an option, wherever it stands. A word that names no command is a trace,
 * and the command is summary; a word that names no file either is reported as a mistyped command.
 */
static enum tpa_parse find_command(int argc, char **argv, struct tpa_options *options, int *index)
{
	int option;

	options->command = tpa_command_find("summary");
	*index = 0;
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, "-:o:h", tpa_option_list, NULL)) != -1)
		if (option == 1)
			break;
	if (option == 1) {
		const struct tpa_command *command = tpa_command_find(optarg);

		if (command) {
			options->command = command;
			*index = optind - 1;
		} else if (tpa_looks_like_command(optarg)) {
			return tpa_help_unknown_command(optarg);
		}
	}
	return TPA_PARSE_RUN;
}

/* help --nearest WORD ALLOWED...: tprof's shell script uses it to suggest a word. Prints nothing if none is near. */
static enum tpa_parse print_nearest(char **words)
{
	struct tpa_suggestion suggestion = tpa_suggest(words[0] ? words[0] : "");

	for (size_t i = 1; words[0] && words[i]; i++)
		tpa_suggest_offer(&suggestion, words[i]);
	if (!suggestion.nearest[0])
		return TPA_PARSE_WRONG;
	puts(suggestion.nearest);
	return TPA_PARSE_DONE;
}

/* tprof-analyze help [COMMAND] */
static enum tpa_parse help_of(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "help";
	const struct tpa_command *command = tpa_command_find(name);

	if (strcmp(name, "--nearest") == 0)
		return print_nearest(argv + 3);
	if (strcmp(name, "--complete") == 0)
		return tpa_complete(argv + 3, (size_t)argc - 3), TPA_PARSE_DONE;
	if (!command && strcmp(name, "help") != 0)
		return tpa_help_unknown_command(name);
	return tpa_help_print(command);
}

static enum tpa_parse collect_traces(int argc, char **argv, int first, struct tpa_options *options)
{
	size_t count = 0;
	const char **traces = tpa_zalloc((size_t)argc + 1, sizeof(*traces));

	for (int i = first; i < argc; i++)
		traces[count++] = argv[i];
	if (options->command->options & TPA_OPT_SOURCE && count && !tpa_is_folder(traces[0]) &&
	    !tpa_trace_is(traces[0])) {
		options->source = traces[0];
		memmove(traces, traces + 1, --count * sizeof(*traces));
	}
	options->traces = traces;
	options->trace_count = count;
	tpa_inputs_expand(options);
	if (!count && !(options->command->options & TPA_OPT_NO_TRACE))
		return tpa_option_wrong("no trace is named; usage: tprof-analyze [COMMAND] [options] TRACE...");
	if (options->measure && options->machine)
		return tpa_option_wrong("--machine names a file, --measure is of this machine: one of them");
	if (options->to_ns && options->to_ns <= options->from_ns)
		return tpa_option_wrong("--to must be later than --from");
	return TPA_PARSE_RUN;
}

static void set_defaults(struct tpa_options *options)
{
	static char first[32];
	const char *keys = options->command->sort_keys;

	if (keys && !options->sort) {
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(keys, " "), keys);
		options->sort = first;
	}
	if (!options->by_set && !options->sort_set && options->command->by_keys)
		options->cover = word_in(options->command->by_keys, "auto");
	if (!options->format)
		options->format = tpa_export_formats;
}

enum tpa_parse tpa_options_parse(int argc, char **argv, struct tpa_options *options)
{
	enum tpa_parse result;
	int option, command_index;

	memset(options, 0, sizeof(*options));
	if (argc <= 1)
		return tpa_help_usage(stderr), TPA_PARSE_WRONG;
	if (strcmp(argv[1], "help") == 0)
		return help_of(argc, argv);
	result = find_command(argc, argv, options, &command_index);
	if (result != TPA_PARSE_RUN)
		return result;
	if (command_index) { /* options and traces remain */
		memmove(argv + command_index, argv + command_index + 1, (size_t)(argc - command_index) * sizeof(*argv));
		argc--;
	}
	optind = 0;
	while ((option = getopt_long(argc, argv, ":o:h", tpa_option_list, NULL)) != -1) {
		if (option == 'h')
			return tpa_help_print(command_index ? options->command : NULL);
		if (option == OPT_VERSION)
			return tpa_help_version();
		if (option == '?' || option == ':')
			return tpa_option_unknown(options->command, option, argv);
		result = tpa_option_allowed(options->command, option);
		if (result == TPA_PARSE_RUN)
			result = parse_option(options, option, optarg);
		if (result != TPA_PARSE_RUN)
			return result;
	}
	set_defaults(options);
	return collect_traces(argc, argv, optind, options);
}

void tpa_options_free(struct tpa_options *options)
{
	tpa_inputs_free(options);
	free((void *)options->suppressions);
	free((void *)options->traces);
	free((void *)options->baselines);
	free(options->rules);
	options->suppressions = NULL;
	options->traces = NULL;
	options->baselines = NULL;
}
