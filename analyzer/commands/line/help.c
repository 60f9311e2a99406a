/* SPDX-License-Identifier: Apache-2.0 */
/* Help and version of tprof-analyze, from the table of commands. */
#include "commands/line/help.h"

#include <string.h>
#include <unistd.h>

#include "commands/line/export_format.h"
#include "commands/line/suggest.h"
#include "export/tables.h"

#define HELP_COLUMN 23 /* where what an option does begins */

static const struct {
	unsigned int bit;
	const char *text;
} option_help[] = {
	{ TPA_OPT_JSON, "  --json               print JSON\n" },
	{ TPA_OPT_REPORT,
	  "  --format FORMAT      of a report: text, json, or markdown for an issue or a CI summary\n" },
	{ TPA_OPT_PAGE, "                       or html, a page: -o FILE says where\n" },
	{ TPA_OPT_TOP, "  --top N              rows to print; 0: all\n" },
	{ TPA_OPT_FILTER, "  --filter REGEX       only stacks with a function, file or module that matches\n" },
	{ TPA_OPT_THREAD, "  --thread N           only this thread (1, 2, ...)\n" },
	{ TPA_OPT_TIME,
	  "  --from T, --to T     only this part of the run, as in 1.5s, 300ms, 2m, mark:TEXT or step:N\n" },
	{ TPA_OPT_SUPPRESS,
	  "  --suppressions FILE  LeakSanitizer syntax (leak:PATTERN); may be given several times\n" },
	{ TPA_OPT_WHAT, "  --what WHAT          peak (default), allocated, unfreed, temporary or cpu\n" },
	{ TPA_OPT_FORMAT, "  --limit N            of ops over time: stop after N of them\n" },
	{ TPA_OPT_RELATION, "  --callers FUNCTION   CPU time of FUNCTION, by its callers\n"
			    "  --callees FUNCTION   CPU time of FUNCTION, by its callees\n" },
	{ TPA_OPT_SHAPES, "  --shapes             each op's calls by shape too\n" },
	{ TPA_OPT_TREE, "  --tree               which op called which\n" },
	{ TPA_OPT_LANGUAGE,
	  "  --language LANGUAGE  frames that stacks show: mixed (default), python (alone, where there are any),\n"
	  "                       native\n"
	  "  --interpreter        show the Python interpreter's own frames too\n" },
	{ TPA_OPT_MACHINE,
	  "  --machine FILE       another machine's file, instead of this machine's in ~/.cache/tprof\n"
	  "  --measure            measure this machine anew\n" },
	{ TPA_OPT_BASELINE, "  --baseline TRACE     the run that the others are compared with; several: more runs, or "
			    "their processes\n" },
	{ TPA_OPT_CHECK,
	  "  --max-peak SIZE      live bytes at the peak, as in 2GiB\n"
	  "  --max-unfreed SIZE   live bytes at the end\n"
	  "  --max-rss SIZE       resident memory of all processes, each page once\n"
	  "  --max-allocations N  calls\n"
	  "  --max-growth RATE    of what leaks, as in 1KiB/step or 64KiB/s\n"
	  "  --max-regress LIST   over the baseline, as in peak=5%,op:aten::addmm=10%; of: peak unfreed rss\n"
	  "                       allocations growth steps op:NAME\n"
	  "  --rules FILE         more of these, a line each, without the dashes\n"
	  "  --junit FILE         also write the results as JUnit XML\n" },
	{ TPA_OPT_LIMIT,
	  "  --limit SIZE         when the process will reach this size at its present rate, as in 8GiB\n" },
	{ TPA_OPT_RUNS,
	  "  --all-runs           a report for each run, if the traces are of several, not only for the newest\n" },
	{ TPA_OPT_FULL, "  --full               the long page: stacks, what was unfreed, who allocates, priorities\n"
			"  --brief              a few lines, as tprof run prints them\n" },
	{ TPA_OPT_LIVE,
	  "  --once               print one report, and end\n"
	  "  --interval TIME      between two reports, as in 500ms or 10 (seconds); 1s\n"
	  "  --openmetrics WHERE  serve OpenMetrics at this port of 127.0.0.1, or write them to a file\n" },
	{ TPA_OPT_EMBED, "  --embed-symbols      put the names of functions, files and lines into the file\n" },
	{ TPA_OPT_PUSH,
	  "  --url URL            of the server: http://localhost:4040 (what Pyroscope takes at /ingest)\n"
	  "  --every TIME         between two profiles, as in 60s or 500ms; 60s\n" },
	{ TPA_OPT_STRIP, "  --strip-names REGEX  replace names that match (POSIX extended), everywhere, by others\n" },
	{ TPA_OPT_EXACT, "  --exact              sizes as plain byte counts\n" },
};

static const char common_help[] = "  --process PID        only this process\n"
				  "  --debug-dir DIR      look here first for debug files, perf maps and jitdumps\n"
				  "  --color WHEN         auto (default), always or never\n"
				  "  --width N            columns of text; those of the terminal\n"
				  "  --no-pager           print long text on the terminal as it is\n"
				  "  --jobs N             read so many traces at a time; one a processor\n"
				  "  -o, --output FILE    write there instead of to standard output\n"
				  "  -h, --help           this text; after a command, that command's\n"
				  "  --version            version\n";

void tpa_help_usage(FILE *out)
{
	fputs("usage: tprof-analyze [COMMAND] [options] TRACE...\n"
	      "       tprof-analyze help [COMMAND]\n",
	      out);
}

/* The rest of a line of help, behind the option that it begins with; NULL: the line is of other ones. */
static const char *said_of(const char *line, const char *name)
{
	size_t length = strlen(name), head = strcspn(line, "\n");

	head = head < HELP_COLUMN ? head : HELP_COLUMN;
	for (size_t i = 0; i + 2 + length <= head; i++)
		if (strncmp(line + i, "--", 2) == 0 && strncmp(line + i + 2, name, length) == 0 &&
		    strchr(" ,\n", line[i + 2 + length]))
			return line + head;
	return NULL;
}

void tpa_help_of_option(const char *name, char *text, size_t size)
{
	size_t count = sizeof(option_help) / sizeof(option_help[0]);

	text[0] = '\0';
	for (size_t i = 0; i <= count; i++)
		for (const char *line = i < count ? option_help[i].text : common_help; *line;
		     line += strcspn(line, "\n") + 1) {
			const char *said = said_of(line, name);

			if (!said)
				continue;
			snprintf(text, size, "%.*s", (int)strcspn(said, "\n"), said);
			return;
		}
}

static void print_formats(void)
{
	const struct tpa_export_format *format;

	fputs("  --format FORMAT      one of:", stdout);
	for (format = tpa_export_formats; format->name; format++)
		printf(" %s", format->name);
	fputc('\n', stdout);
	for (format = tpa_export_formats; format->name; format++)
		printf("                       %s: %s\n", format->name, format->help);
}

static void print_tables(void)
{
	fputs("  --table TABLE        csv, ndjson; one of:", stdout);
	for (const struct tpa_table *table = tpa_tables; table->name; table++)
		printf(" %s", table->name);
	fputc('\n', stdout);
	for (const struct tpa_table *table = tpa_tables; table->name; table++)
		printf("                       %s: a row is %s\n", table->name, table->help);
}

static void print_options(unsigned int bits)
{
	if (bits & TPA_OPT_FORMAT) {
		print_formats();
		print_tables();
	}
	for (size_t i = 0; i < sizeof(option_help) / sizeof(option_help[0]); i++)
		if (bits & option_help[i].bit)
			fputs(option_help[i].text, stdout);
}

enum tpa_parse tpa_help_print(const struct tpa_command *command)
{
	unsigned int bits = 0;

	if (command) {
		printf("usage: tprof-analyze %s [options] TRACE...\n\n%s.\n\noptions:\n", command->name, command->help);
		if (command->by_keys)
			printf("  --by KEY             one of: %s\n", command->by_keys);
		if (command->sort_keys)
			printf("  --sort KEY           one of: %s\n", command->sort_keys);
		bits = command->options;
	} else {
		tpa_help_usage(stdout);
		fputs("\ncommands (without one: summary):\n", stdout);
		for (const struct tpa_command *c = tpa_commands; c->name; c++) {
			printf("  %-12s %s\n", c->name, c->help);
			bits |= c->options;
		}
		fputs("\n"
		      "options (COMMAND --help lists those that COMMAND takes):\n"
		      "  --by KEY             group by auto, stack, function, line, module, thread, size, op, step or "
		      "layer\n"
		      "  --sort KEY           order of the rows\n",
		      stdout);
	}
	print_options(bits);
	fputs(common_help, stdout);
	if (!command)
		fputs("\nexit status: 0; 1 a check found a breach; 2 wrong usage; 3 a trace can't be read\n", stdout);
	return TPA_PARSE_DONE;
}

enum tpa_parse tpa_help_version(void)
{
	puts("tprof-analyze " TPROF_VERSION_STRING TPROF_COMMIT);
	return TPA_PARSE_DONE;
}

bool tpa_looks_like_command(const char *word)
{
	return !strpbrk(word, "./") && access(word, F_OK) != 0;
}

enum tpa_parse tpa_help_unknown_command(const char *word)
{
	struct tpa_suggestion suggestion = tpa_suggest(word);

	for (const struct tpa_command *command = tpa_commands; command->name; command++)
		tpa_suggest_offer(&suggestion, command->name);
	fprintf(stderr, "tprof-analyze: %s is neither a command nor a file; %scommands:", word,
		tpa_suggest_text(&suggestion, ""));
	for (const struct tpa_command *command = tpa_commands; command->name; command++)
		fprintf(stderr, " %s", command->name);
	fputc('\n', stderr);
	return TPA_PARSE_WRONG;
}
