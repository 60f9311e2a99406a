/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line, parsed and checked.
 */
#ifndef TPROF_COMMANDS_OPTIONS_H
#define TPROF_COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/rows/cpu_rows.h"
#include "report/rows/rows.h"
#include "report/text/text.h"

struct tpa_command;

/* Options that only some commands understand. --color, -o, --process, --debug-dir, --help, --version: all do. */
enum tpa_option_bit {
	TPA_OPT_JSON = 1u << 0,
	TPA_OPT_TOP = 1u << 1,
	TPA_OPT_FILTER = 1u << 2,
	TPA_OPT_THREAD = 1u << 3,
	TPA_OPT_TIME = 1u << 4, /* --from, --to */
	TPA_OPT_SUPPRESS = 1u << 5,
	TPA_OPT_WHAT = 1u << 6,
	TPA_OPT_FORMAT = 1u << 7,
	TPA_OPT_EXACT = 1u << 8,
	TPA_OPT_RELATION = 1u << 9, /* --callers, --callees */
	TPA_OPT_SHAPES = 1u << 10,
	TPA_OPT_MACHINE = 1u << 20,  /* --machine, --measure */
	TPA_OPT_NO_TRACE = 1u << 21, /* not an option: it may be run without a trace */
	TPA_OPT_TREE = 1u << 11,
	TPA_OPT_LANGUAGE = 1u << 12, /* --language, --interpreter */
	TPA_OPT_SOURCE = 1u << 13,   /* not an option: before the traces a source file may be named */
	TPA_OPT_LIMIT = 1u << 22,
	TPA_OPT_CHECK = 1u << 23, /* --max-..., --rules, --junit */
	TPA_OPT_BASELINE = 1u << 24,
	TPA_OPT_RUNS = 1u << 25, /* --all-runs */
	TPA_OPT_FULL = 1u << 26,
};

/* By what happened then; see commands/moments.h. */
struct tpa_moment {
	const char *mark; /* its text; NULL: no mark */
	uint64_t step;	  /* its number; 0: no step */
};

struct tpa_said_rule {
	const char *name, *value; /* --name value */
};

struct tpa_options {
	const struct tpa_command *command;
	bool json;
	bool shapes; /* of ops */
	bool tree;   /* of ops */
	bool exact;  /* sizes as plain byte counts */
	bool top_set;
	uint64_t top;	  /* rows; 0: all. Only if top_set; else the command's own default */
	const char *sort; /* one of the command's keys; NULL if it has none */
	bool sort_set;	  /* else it is the command's own default */
	enum tpa_by by;
	bool by_set;
	bool cover; /* --by auto: the rows that explain most, see report/rows/cover.h; `by` is then TPA_BY_STACK */
	bool full;  /* of the summary */
	enum tpa_relation relation;
	const char *function;		  /* of the relation */
	const char *filter;		  /* NULL: none; compiles as an extended regular expression (checked) */
	bool all_runs;			  /* traces of several runs: one report after the other */
	uint32_t thread, process;	  /* 0: all */
	uint64_t from_ns, to_ns;	  /* since the run's start; to_ns 0: the end */
	struct tpa_moment from_at, to_at; /* instead of these, until they are found */
	const char *const *suppressions;
	size_t suppression_count;
	const char *debug_dir; /* NULL: none */
	enum tpa_language language;
	bool interpreter;
	enum tpa_color color;
	const char *output; /* NULL: stdout */
	enum tpa_what what;
	const struct tpa_export_format *format;
	const char *source;  /* of lines: a file, or the end of its path; NULL: none */
	uint64_t limit;	     /* export: ops in the format chrome, 0: all; leaks: bytes of the process, 0: not said */
	const char *machine; /* its file; NULL: this one */
	bool measure;	     /* this machine, anew */
	struct tpa_said_rule *rules; /* of check, in their order; see commands/rules.h */
	size_t rule_count;
	const char *rules_file, *junit; /* NULL: none */
	const char *const *baselines;	/* traces that the others are held against */
	size_t baseline_count;
	const char *const *traces;
	size_t trace_count;	     /* at least 1, but for TPA_OPT_NO_TRACE */
	const char *const *left_out; /* those that were named too, but are of other runs; see commands/run_choice.h */
	size_t left_out_count, left_out_runs;
};

enum tpa_parse { TPA_PARSE_RUN, TPA_PARSE_DONE, TPA_PARSE_WRONG };

#endif
