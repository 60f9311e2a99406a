/* SPDX-License-Identifier: Apache-2.0 */
/* The base of nearly every command: opens the traces, replays them, loads symbols, and opens a page to print on. */
#ifndef TPROF_COMMANDS_INPUT_SESSION_H
#define TPROF_COMMANDS_INPUT_SESSION_H

#include <regex.h>
#include <stdio.h>

#include "commands/line/command.h"
#include "model/options.h"
#include "model/result/result.h"
#include "report/text/output.h"
#include "report/text/progress.h"
#include "report/rows/site_stacks.h"
#include "report/rows/suppressions.h"
#include "report/text/text.h"
#include "symbols/allocators.h"
#include "symbols/symbols.h"

struct tpa_session {
	const struct tpa_options *options;
	struct tpa_trace **traces; /* options->trace_count traces, in command-line order */
	size_t trace_count;
	struct tpa_run *run;	      /* NULL until tpa_session_replay() */
	struct tpa_symbols **symbols; /* by index in run->processes; NULL until asked for */
	struct tpa_symbols **early;   /* by index in traces: symbols that the replay opened; valid during the replay */
	struct tpa_site_stacks *stacks;	  /* cache of reports by stack; NULL: empty */
	struct tpa_allocators allocators; /* allocators that the hooks do not see */
	struct tpa_page page;		  /* stdout, or the file of -o */
	struct tpa_output output;	  /* that file */
	const regex_t *filter;		  /* of --filter, points to `compiled`; NULL: none */
	regex_t compiled;
	struct tpa_progress *progress;
	const struct tpa_process *late; /* the rank that made the others wait; NULL: nobody did, or it is not known */
	const void *argument;		/* of the current report, see struct tpa_report */
};

/*
 * Opens all traces and the output, and reads the suppressions. Returns TPA_EXIT_OK, or the exit status after one line
 * on stderr; the session is closed then.
 */
int tpa_session_open(struct tpa_session *session, const struct tpa_options *options);

/* Replays with the data that --by needs (`group`). Returns as tpa_session_open() does. Reports damage on stderr. */
int tpa_session_replay(struct tpa_session *session, enum tpa_group group);

/*
 * For a command that replays by itself: the options of the command line, with names of frames from the session's symbols; then
 * what it replayed. tpa_session_drop_run() frees the run, and the symbols that it needed.
 */
struct tpa_replay_options tpa_session_replay_options(struct tpa_session *session, enum tpa_group group);
void tpa_session_take_run(struct tpa_session *session, struct tpa_run *run);
void tpa_session_drop_run(struct tpa_session *session);

/* Opens, then replays, as most commands do. */
int tpa_session_start(struct tpa_session *session, const struct tpa_options *options, enum tpa_group group);

/* Prints a line on stderr for each trace found damaged so far. tpa_session_replay() calls it itself. */
void tpa_session_damage_print(const struct tpa_session *session);

/* Symbols of one process, opened on first use, and of all processes. Owned by the session. */
struct tpa_symbols *tpa_session_symbols(struct tpa_session *session, size_t process);
void tpa_session_open_symbols(struct tpa_session *session);

/* A new set of the built-in suppressions and those of --suppressions. The caller frees it. */
struct tpa_suppressions *tpa_session_suppressions(const struct tpa_session *session);

/* The part of the run that a process's report covers: its life, cut to --from and --to. */
void tpa_session_span(const struct tpa_session *session, const struct tpa_process *process, uint64_t *from_ns,
		      uint64_t *to_ns);

/* Closes only the page. Returns false after a line on stderr if writing failed. */
bool tpa_page_close(struct tpa_session *session);

/* Prints a line on stderr that says how to view a picture or page written to -o FILE. */
void tpa_session_say_browser(const struct tpa_session *session);

/* Whether a page for a browser would go to a terminal. Then a line on stderr says so. */
bool tpa_session_refuses_terminal(const struct tpa_options *options);

/* Closes everything. Returns `status`, or TPA_EXIT_USAGE if writing the output failed. */
int tpa_session_close(struct tpa_session *session, int status);

#endif
