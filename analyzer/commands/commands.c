/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, in the order of --help. */
#include <string.h>

#include "commands/line/command.h"

#define REPORT (TPA_OPT_JSON | TPA_OPT_REPORT)
#define SITES                                                                                                          \
	(TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_FILTER | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_EXACT |        \
	 TPA_OPT_LANGUAGE)
#define BY "stack function line module thread size op step layer"

const struct tpa_command tpa_commands[] = {
	{ "summary", "one page of answers: what holds the memory, what leaks, what takes the time",
	  SITES | TPA_OPT_SUPPRESS | TPA_OPT_MACHINE | TPA_OPT_FULL, NULL, NULL, tpa_cmd_summary },
	{ "peak", "what was live at the peak", SITES, "bytes blocks largest", "auto " BY, tpa_cmd_peak },
	{ "leaks", "what grows with the steps, and what was unfreed at exit", SITES | TPA_OPT_SUPPRESS | TPA_OPT_LIMIT,
	  "bytes blocks largest", BY, tpa_cmd_leaks },
	{ "holders", "who keeps blocks alive: paths from variables to them, and what would be freed",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_FILTER | TPA_OPT_EXACT | TPA_OPT_LANGUAGE | TPA_OPT_SUPPRESS,
	  NULL, NULL, tpa_cmd_holders },
	{ "hotspots", "where the CPU time goes, and who allocates most: calls, bytes, short lives",
	  SITES | TPA_OPT_RELATION, "allocations bytes temporary short-lived largest", BY, tpa_cmd_hotspots },
	{ "ops", "per op: calls, times with their spread, memory, work",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_FILTER | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_EXACT |
		  TPA_OPT_SHAPES | TPA_OPT_TREE,
	  "total self calls mean p99 alloc", "op layer", tpa_cmd_ops },
	{ "steps", "per training step: time, memory high-water mark, net growth",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_TIME | TPA_OPT_EXACT, "time high growth step", NULL,
	  tpa_cmd_steps },
	{ "threads", "per thread: CPU time, ops, allocations, live at the peak and at the end, where its time goes",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_TIME | TPA_OPT_EXACT | TPA_OPT_LANGUAGE,
	  "cpu ops allocations frees bytes peak unfreed first thread", NULL, tpa_cmd_threads },
	{ "ranks", "of a parallel job: who made the others wait, and why; transfer, critical path, bytes",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_EXACT, NULL, NULL, tpa_cmd_ranks },
	{ "lines",
	  "a source file with memory and CPU time a line: lines FILE TRACE; without FILE: which files there are",
	  SITES | TPA_OPT_SOURCE, NULL, NULL, tpa_cmd_lines },
	{ "timeline", "live bytes, blocks, mapped memory, RSS and VMS over time, as a plot",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_TIME | TPA_OPT_THREAD | TPA_OPT_EXACT, NULL, NULL,
	  tpa_cmd_timeline },
	{ "roofline", "what this machine can do, and how near to it each op came; -o FILE.svg: a picture",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_EXACT | TPA_OPT_MACHINE |
		  TPA_OPT_NO_TRACE,
	  NULL, NULL, tpa_cmd_roofline },
	{ "compare", "programs side by side: parameters, memory, steps, work, ops; repeated runs of one are pooled",
	  REPORT | TPA_OPT_PAGE | TPA_OPT_TOP | TPA_OPT_EXACT | TPA_OPT_MACHINE, NULL, NULL, tpa_cmd_compare },
	{ "diff",
	  "what changed from one run to another, and whether that is noise: diff OLD NEW; --baseline OLD NEW for "
	  "several runs",
	  REPORT | TPA_OPT_PAGE | TPA_OPT_TOP | TPA_OPT_EXACT | TPA_OPT_FILTER | TPA_OPT_BASELINE, NULL,
	  "stack function module op", tpa_cmd_diff },
	{ "check", "exit status 1 and a line for each limit that the run exceeds: for continuous integration",
	  TPA_OPT_CHECK | TPA_OPT_BASELINE | REPORT, NULL, NULL, tpa_cmd_check },
	{ "flamegraph", "stacks as a stand-alone SVG with search and zoom",
	  TPA_OPT_FILTER | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_SUPPRESS | TPA_OPT_WHAT | TPA_OPT_LANGUAGE, NULL,
	  NULL, tpa_cmd_flamegraph },
	{ "html", "a page to explore: answers, memory over time, flame graphs, tables; one file that opens anywhere",
	  TPA_OPT_TOP | TPA_OPT_FILTER | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_EXACT | TPA_OPT_LANGUAGE |
		  TPA_OPT_SUPPRESS | TPA_OPT_MACHINE | TPA_OPT_BASELINE,
	  NULL, NULL, tpa_cmd_html },
	{ "export", "for other tools, in their formats: stacks, ops over time",
	  TPA_OPT_FILTER | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_SUPPRESS | TPA_OPT_WHAT | TPA_OPT_FORMAT |
		  TPA_OPT_LANGUAGE,
	  NULL, NULL, tpa_cmd_export },
	{ "compact", "a smaller file that all commands read: compact TRACE -o FILE; --embed-symbols: names too",
	  TPA_OPT_EMBED, NULL, NULL, tpa_cmd_compact },
	{ "bundle", "one file of all traces of a run, with names: bundle DIR|TRACE... -o FILE; all commands read it",
	  TPA_OPT_STRIP, NULL, NULL, tpa_cmd_bundle },
	{ "import", "makes a trace of what heaptrack, massif or gperftools wrote: import FILE -o TRACE", 0, NULL, NULL,
	  tpa_cmd_import },
	{ "live", "follows a program that runs: live PID, or live TRACE",
	  TPA_OPT_JSON | TPA_OPT_EXACT | TPA_OPT_LANGUAGE | TPA_OPT_FILTER | TPA_OPT_SUPPRESS | TPA_OPT_LIVE,
	  "self total calls mean p99 alloc", NULL, tpa_cmd_live },
	{ "push", "sends profiles of a program that runs to a server, at intervals: push --url URL PID|TRACE",
	  TPA_OPT_PUSH | TPA_OPT_LANGUAGE, NULL, NULL, tpa_cmd_push },
	{ "info", "facts about the trace: process, capture, losses, coverage, threads, modules",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_EXACT, NULL, NULL, tpa_cmd_info },
	{ "dump", "every event, readable",
	  TPA_OPT_RUNS | REPORT | TPA_OPT_TOP | TPA_OPT_THREAD | TPA_OPT_TIME | TPA_OPT_EXACT, NULL, NULL,
	  tpa_cmd_dump },
	{ NULL, NULL, 0, NULL, NULL, NULL },
};

const struct tpa_command *tpa_command_find(const char *name)
{
	for (const struct tpa_command *command = tpa_commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}
