/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, in the order of --help. */
#include <string.h>

#include "commands/command.h"

#define SITES                                                                                                          \
	(TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_FILTER | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_EXACT |         \
	 TP_OPT_LANGUAGE)
#define BY "stack function line module thread size op step layer"

const struct tp_command tp_commands[] = {
	{ "summary", "one page: process, capture, peak, unfreed memory, hotspots",
	  SITES | TP_OPT_SUPPRESS | TP_OPT_MACHINE, NULL, NULL, tp_cmd_summary },
	{ "peak", "what was live at the peak", SITES, "bytes blocks largest", BY, tp_cmd_peak },
	{ "leaks", "what grows with the steps, and what was unfreed at exit", SITES | TP_OPT_SUPPRESS | TP_OPT_LIMIT,
	  "bytes blocks largest", BY, tp_cmd_leaks },
	{ "hotspots", "where the CPU time goes, and who allocates most: calls, bytes, short lives",
	  SITES | TP_OPT_RELATION, "allocations bytes temporary short-lived largest", BY, tp_cmd_hotspots },
	{ "ops", "per op: calls, times with their spread, memory, work",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_FILTER | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_EXACT |
		  TP_OPT_SHAPES | TP_OPT_TREE,
	  "total self calls mean p99 alloc", "op layer", tp_cmd_ops },
	{ "steps", "per training step: time, memory high-water mark, net growth",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_TIME | TP_OPT_EXACT, "time high growth step", NULL,
	  tp_cmd_steps },
	{ "threads", "per thread: CPU time, ops, allocations, live at the peak and at the end, where its time goes",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_TIME | TP_OPT_EXACT | TP_OPT_LANGUAGE,
	  "cpu ops allocations frees bytes peak unfreed first thread", NULL, tp_cmd_threads },
	{ "lines",
	  "a source file with memory and CPU time a line: lines FILE TRACE; without FILE: which files there are",
	  SITES | TP_OPT_SOURCE, NULL, NULL, tp_cmd_lines },
	{ "timeline", "live bytes, blocks, mapped memory, RSS and VMS over time, as a plot",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_TIME | TP_OPT_THREAD | TP_OPT_EXACT, NULL, NULL,
	  tp_cmd_timeline },
	{ "roofline", "what this machine can do, and how near to it each op came; -o FILE.svg: a picture",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_EXACT | TP_OPT_MACHINE |
		  TP_OPT_NO_TRACE,
	  NULL, NULL, tp_cmd_roofline },
	{ "compare", "programs side by side: parameters, memory, steps, work, ops; repeated runs of one are pooled",
	  TP_OPT_JSON | TP_OPT_TOP | TP_OPT_EXACT | TP_OPT_MACHINE, NULL, NULL, tp_cmd_compare },
	{ "diff",
	  "what changed from one run to another, and whether that is noise: diff OLD NEW; --baseline OLD NEW for "
	  "several runs",
	  TP_OPT_JSON | TP_OPT_TOP | TP_OPT_EXACT | TP_OPT_FILTER | TP_OPT_BASELINE, NULL, "stack function module op",
	  tp_cmd_diff },
	{ "check", "exit status 1 and a line for each limit that the run exceeds: for continuous integration",
	  TP_OPT_CHECK | TP_OPT_BASELINE | TP_OPT_JSON, NULL, NULL, tp_cmd_check },
	{ "flamegraph", "stacks as a stand-alone SVG with search and zoom",
	  TP_OPT_FILTER | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_SUPPRESS | TP_OPT_WHAT | TP_OPT_LANGUAGE, NULL, NULL,
	  tp_cmd_flamegraph },
	{ "html", "the whole report as one HTML file that opens anywhere",
	  TP_OPT_TOP | TP_OPT_FILTER | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_EXACT | TP_OPT_LANGUAGE | TP_OPT_SUPPRESS |
		  TP_OPT_MACHINE,
	  NULL, NULL, tp_cmd_html },
	{ "export", "for other tools: stacks (folded), ops over time (chrome)",
	  TP_OPT_FILTER | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_SUPPRESS | TP_OPT_WHAT | TP_OPT_FORMAT | TP_OPT_LANGUAGE,
	  NULL, NULL, tp_cmd_export },
	{ "info", "facts about the trace: process, capture, losses, coverage, threads, modules",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_EXACT, NULL, NULL, tp_cmd_info },
	{ "dump", "every event, readable",
	  TP_OPT_RUNS | TP_OPT_JSON | TP_OPT_TOP | TP_OPT_THREAD | TP_OPT_TIME | TP_OPT_EXACT, NULL, NULL,
	  tp_cmd_dump },
	{ NULL, NULL, 0, NULL, NULL, NULL },
};

const struct tp_command *tp_command_find(const char *name)
{
	for (const struct tp_command *command = tp_commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}
