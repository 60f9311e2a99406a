/* SPDX-License-Identifier: Apache-2.0 */
/* What tprof-analyze says about itself: all from the table of commands. */
#include "commands/help.h"

#include <string.h>
#include <unistd.h>

#include "commands/suggest.h"

static const struct {
	unsigned int bit;
	const char *text;
} option_help[] = {
	{ TP_OPT_JSON, "  --json               print JSON\n" },
	{ TP_OPT_TOP, "  --top N              rows to print; 0: all\n" },
	{ TP_OPT_FILTER, "  --filter REGEX       only stacks with a function, file or module that matches\n" },
	{ TP_OPT_THREAD, "  --thread N           only this thread (1, 2, ...)\n" },
	{ TP_OPT_TIME,
	  "  --from T, --to T     only this part of the run, as in 1.5s, 300ms, 2m, mark:TEXT or step:N\n" },
	{ TP_OPT_SUPPRESS, "  --suppressions FILE  LeakSanitizer syntax (leak:PATTERN); may be given several times\n" },
	{ TP_OPT_WHAT, "  --what WHAT          peak (default), allocated, unfreed, temporary or cpu\n" },
	{ TP_OPT_FORMAT, "  --format FORMAT      folded (default): semicolon-separated stacks and bytes (cpu: ns);\n"
			 "                       chrome: ops, steps and memory for Perfetto and chrome://tracing\n"
			 "  --limit N            chrome: stop after N ops\n" },
	{ TP_OPT_RELATION, "  --callers FUNCTION   CPU time of FUNCTION, by its callers\n"
			   "  --callees FUNCTION   CPU time of FUNCTION, by its callees\n" },
	{ TP_OPT_SHAPES, "  --shapes             each op's calls by shape too\n" },
	{ TP_OPT_TREE, "  --tree               which op called which\n" },
	{ TP_OPT_LANGUAGE,
	  "  --language LANGUAGE  frames that stacks show: mixed (default), python (alone, where there are any),\n"
	  "                       native\n"
	  "  --interpreter        show the Python interpreter's own frames too\n" },
	{ TP_OPT_MACHINE, "  --machine FILE       another machine's file, instead of this machine's in ~/.cache/tprof\n"
			  "  --measure            measure this machine anew\n" },
	{ TP_OPT_BASELINE, "  --baseline TRACE     the run that the others are compared with; several: more runs, or "
			   "their processes\n" },
	{ TP_OPT_CHECK,
	  "  --max-peak SIZE      live bytes at the peak, as in 2GiB\n"
	  "  --max-unfreed SIZE   live bytes at the end\n"
	  "  --max-rss SIZE       resident memory of the largest process\n"
	  "  --max-allocations N  calls\n"
	  "  --max-growth RATE    of what leaks, as in 1KiB/step or 64KiB/s\n"
	  "  --max-regress LIST   over the baseline, as in peak=5%,op:aten::addmm=10%; of: peak unfreed rss\n"
	  "                       allocations growth steps op:NAME\n"
	  "  --rules FILE         more of these, a line each, without the dashes\n"
	  "  --junit FILE         also write the results as JUnit XML\n" },
	{ TP_OPT_LIMIT,
	  "  --limit SIZE         when the process will reach this size at its present rate, as in 8GiB\n" },
	{ TP_OPT_RUNS,
	  "  --all-runs           a report for each run, if the traces are of several, not only for the newest\n" },
	{ TP_OPT_EXACT, "  --exact              sizes as plain byte counts\n" },
};

static const char common_help[] = "  --process PID        only this process\n"
				  "  --debug-dir DIR      look here first for debug files, perf maps and jitdumps\n"
				  "  --color WHEN         auto (default), always or never\n"
				  "  -o, --output FILE    write there instead of to standard output\n"
				  "  -h, --help           this text; after a command, that command's\n"
				  "  --version            version\n";

void tp_help_usage(FILE *out)
{
	fputs("usage: tprof-analyze [COMMAND] [options] TRACE...\n"
	      "       tprof-analyze help [COMMAND]\n",
	      out);
}

static void print_options(unsigned int bits)
{
	for (size_t i = 0; i < sizeof(option_help) / sizeof(option_help[0]); i++)
		if (bits & option_help[i].bit)
			fputs(option_help[i].text, stdout);
}

enum tp_parse tp_help_print(const struct tp_command *command)
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
		tp_help_usage(stdout);
		fputs("\ncommands (without one: summary):\n", stdout);
		for (const struct tp_command *c = tp_commands; c->name; c++) {
			printf("  %-12s %s\n", c->name, c->help);
			bits |= c->options;
		}
		fputs("\n"
		      "options (COMMAND --help lists those that COMMAND takes):\n"
		      "  --by KEY             group by stack, function, line, module, thread, size, op, step or layer\n"
		      "  --sort KEY           order of the rows\n",
		      stdout);
	}
	print_options(bits);
	fputs(common_help, stdout);
	if (!command)
		fputs("\nexit status: 0; 1 a check found a breach; 2 wrong usage; 3 a trace can't be read\n", stdout);
	return TP_PARSE_DONE;
}

enum tp_parse tp_help_version(void)
{
	puts("tprof-analyze " TPROF_VERSION_STRING TPROF_COMMIT);
	return TP_PARSE_DONE;
}

bool tp_looks_like_command(const char *word)
{
	return !strpbrk(word, "./") && access(word, F_OK) != 0;
}

enum tp_parse tp_help_unknown_command(const char *word)
{
	struct tp_suggestion suggestion = tp_suggest(word);

	for (const struct tp_command *command = tp_commands; command->name; command++)
		tp_suggest_offer(&suggestion, command->name);
	fprintf(stderr, "tprof-analyze: %s is neither a command nor a file; %scommands:", word,
		tp_suggest_text(&suggestion, ""));
	for (const struct tp_command *command = tp_commands; command->name; command++)
		fprintf(stderr, " %s", command->name);
	fputc('\n', stderr);
	return TP_PARSE_WRONG;
}
