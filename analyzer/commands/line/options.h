/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line, parsed and checked.
 */
#ifndef TPROF_COMMANDS_LINE_OPTIONS_H
#define TPROF_COMMANDS_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/rows/cpu_rows.h"
#include "report/rows/rows.h"
#include "report/text/text.h"

struct tpa_command;
struct tpa_table;

/* Options that only some commands take. All take --color, --width, --no-pager, --jobs, -o, --process,
 * --debug-dir, --help and --version. */
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
	TPA_OPT_NO_TRACE = 1u << 21, /* not an option: the command runs without a trace */
	TPA_OPT_TREE = 1u << 11,
	TPA_OPT_LANGUAGE = 1u << 12, /* --language, --interpreter */
	TPA_OPT_STRIP = 1u << 14,    /* --strip-names */
	TPA_OPT_PUSH = 1u << 15,     /* --url, --every */
	TPA_OPT_SOURCE = 1u << 13,   /* not an option: a source file may be named before the traces */
	TPA_OPT_LIMIT = 1u << 22,
	TPA_OPT_CHECK = 1u << 23, /* --max-..., --rules, --junit */
	TPA_OPT_BASELINE = 1u << 24,
	TPA_OPT_RUNS = 1u << 25, /* --all-runs */
	TPA_OPT_FULL = 1u << 26,
	TPA_OPT_LIVE = 1u << 27,
	TPA_OPT_EMBED = 1u << 28,  /* --embed-symbols */
	TPA_OPT_REPORT = 1u << 29, /* --format of a report */
	TPA_OPT_PAGE = 1u << 30,   /* not an option: --format html */
};

/* A moment named by an event; see commands/line/moments.h. */
struct tpa_moment {
	const char *mark; /* its text, or NULL */
	uint64_t step;	  /* its number, or 0 */
};

struct tpa_said_rule {
	const char *name, *value; /* name and value of the option */
};

struct tpa_options {
	const struct tpa_command *command;
	bool json;
	bool markdown, html;
	bool shapes; /* of ops */
	bool tree;   /* of ops */
	bool exact;  /* sizes as plain byte counts */
	bool top_set;
	uint64_t top;	  /* rows; 0: all. Valid if top_set, else the command's default applies */
	const char *sort; /* one of the command's keys, or NULL if it has none */
	bool sort_set;	  /* false: `sort` is the command's default */
	enum tpa_by by;
	bool by_set;
	bool cover; /* --by auto: the rows that explain most, see report/rows/cover.h; `by` is then TPA_BY_STACK */
	bool full;  /* of summary: the long page */
	bool brief; /* of summary: three lines */
	bool embed_symbols;	 /* of compact */
	const char *url;	 /* of push; NULL: not given */
	uint64_t every_ns;	 /* of push; 0: the default */
	const char *strip_names; /* of bundle: NULL or a valid extended regular expression */
	bool once;		 /* of live: one report, then the end */
	uint64_t interval_ns;	 /* of live, between two reports; 0: the default */
	const char *openmetrics; /* of live: a port or a file; NULL: neither */
	enum tpa_relation relation;
	const char *function;		  /* the function of `relation` */
	const char *filter;		  /* NULL or a valid extended regular expression */
	bool all_runs;			  /* traces of several runs: print one report per run */
	uint32_t thread, process;	  /* 0: all */
	uint64_t from_ns, to_ns;	  /* ns since the run's start; to_ns 0: the end */
	struct tpa_moment from_at, to_at; /* replace from_ns and to_ns until they are resolved */
	const char *const *suppressions;
	size_t suppression_count;
	const char *debug_dir; /* or NULL */
	enum tpa_language language;
	bool interpreter;
	enum tpa_color color;
	int width; /* columns; 0: those of the terminal */
	bool no_pager;
	uint64_t jobs;	    /* threads that read traces; 0: one a processor */
	const char *output; /* NULL: stdout */
	enum tpa_what what;
	const struct tpa_export_format *format;
	const struct tpa_table *table; /* of export, see export/tables.h; NULL: the first */
	const char *source;	       /* of lines: a file or the end of its path; NULL: none */
	uint64_t limit;	     /* export: ops in the chrome format, 0: all; leaks: bytes of the process, 0: not given */
	const char *machine; /* its file; NULL: this machine */
	bool measure;	     /* measure this machine again */
	struct tpa_said_rule *rules; /* of check, in command-line order; see commands/line/rules.h */
	size_t rule_count;
	const char *rules_file, *junit; /* or NULL */
	const char *const *baselines;	/* traces to compare with */
	size_t baseline_count;
	char **owned; /* names of traces that the command line does not have itself: see commands/line/inputs.h */
	size_t owned_count;
	const char *const *traces;
	size_t trace_count;		  /* at least 1, unless TPA_OPT_NO_TRACE */
	const char *const *named;	  /* as the command line names them: folders and bundles are not expanded */
	size_t named_count, named_traces; /* of these names; of the traces that they stand for */
	bool in_place;			  /* of the folder: tpa_trace_open_in_place() */
	const char *const *left_out; /* traces of other runs that were named too; see commands/input/run_choice.h */
	size_t left_out_count, left_out_runs;
};

enum tpa_parse { TPA_PARSE_RUN, TPA_PARSE_DONE, TPA_PARSE_WRONG };

#endif
