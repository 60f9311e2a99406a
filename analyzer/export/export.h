/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every export format is given: the traces, what part of them was asked for, and where to write. A format is a function that
 * takes it; commands/export.c has the table. README.md says what there is to build one from.
 */
#ifndef TPROF_EXPORT_EXPORT_H
#define TPROF_EXPORT_EXPORT_H

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/pairs.h"
#include "model/options.h"
#include "model/result/result.h"
#include "report/rows/rows.h"
#include "symbols/symbols.h"

struct tpa_ranks;
struct tpa_suppressions;
struct tpa_table;

struct tpa_export {
	FILE *out;
	const char *path; /* the file of `out`, for a library that writes it itself; NULL: it is no regular file */
	struct tpa_trace *const *traces;
	size_t trace_count;
	const struct tpa_run *run;		 /* all traces replayed; NULL: the format did not ask for it */
	const struct tpa_replay_options *replay; /* how `run` was replayed: thread, from_ns, to_ns and pid are there */
	const struct tpa_ranks
		*ranks; /* of a parallel job; NULL: there are none. Their processes are indexes in `run` */
	const int64_t *
		moved_ns; /* by index in `traces`: added to the process's times, so that hosts' clocks agree; NULL: none */
	enum tpa_what what;
	uint64_t limit;			       /* ops; 0: all */
	const struct tpa_table *table;	       /* of csv and ndjson: export/tables.h */
	const regex_t *filter;		       /* NULL: all stacks */
	struct tpa_suppressions *suppressions; /* the user's; NULL: none */
	struct tpa_symbols_options names;
	struct tpa_symbols **symbols; /* by index in `traces`; NULL: not opened yet. See tpa_export_symbols() */
	struct tpa_pairs indexes;     /* of traces + 1; empty: not asked for yet. See tpa_export_index() */
	char *error; /* set by a format that returns false for another reason than `out`: a heap string, freed by the caller */
};

/* The symbols of traces[which], opened on first use. */
struct tpa_symbols *tpa_export_symbols(struct tpa_export *export, size_t which);

/* Closes the symbols, and frees what functions here keep in `export`. */
void tpa_export_close(struct tpa_export *export);

/* For formats that have one process: false and export->error, if the run has another number of them. */
bool tpa_export_one_process(struct tpa_export *export);

/* The index in export->traces of a process of the run. */
size_t tpa_export_index(struct tpa_export *export, const struct tpa_process *process);

/* "python3 (pid 4711)". Returns `text`. */
const char *tpa_export_process_name(const struct tpa_trace *trace, char *text, size_t size);

/*
 * A copy of text from a trace that is valid UTF-8 without control characters: what is neither becomes '?', newlines and tabs too.
 * For formats whose readers refuse anything else. `length` bytes, or up to a NUL. The caller frees it.
 */
char *tpa_export_text(const char *text, size_t length);

/* A text from a trace as a quoted string of JSON, which keeps control characters. `length` as above. The caller frees it. */
char *tpa_export_quote(const char *text, size_t length);

/* Writes tpa_export_quote() of a whole text; null if it is NULL. */
void tpa_export_put(FILE *out, const char *text);

/* "main (tid 4711)"; `name` NULL: "thread (tid 4711)". Returns `text`. */
const char *tpa_export_thread_name(const char *name, uint32_t tid, char *text, size_t size);

#endif
