/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nearly every command needs: the traces opened, replayed, with symbols, and a page to print on.
 */
#ifndef TPROF_COMMANDS_SESSION_H
#define TPROF_COMMANDS_SESSION_H

#include <regex.h>
#include <stdio.h>

#include "commands/command.h"
#include "model/options.h"
#include "model/result/result.h"
#include "report/text/progress.h"
#include "report/rows/site_stacks.h"
#include "report/rows/suppressions.h"
#include "report/text/text.h"
#include "symbols/allocators.h"
#include "symbols/symbols.h"

struct tpa_session {
	const struct tpa_options *options;
	struct tpa_trace **traces; /* as many as options->trace_count, in the order of the command line */
	size_t trace_count;
	struct tpa_run *run;		  /* NULL until tpa_session_replay() */
	struct tpa_symbols **symbols;	  /* of run->processes[i]; each NULL until asked for */
	struct tpa_symbols **early;	  /* of traces[i], those that the replay asked for; until it is over */
	struct tpa_site_stacks *stacks;	  /* what reports by stack found so far; NULL: there was none */
	struct tpa_allocators allocators; /* that the hooks do not see */
	struct tpa_page page;		  /* stdout, or the file of -o */
	const regex_t *filter;		  /* of --filter, within `compiled`; NULL: none */
	regex_t compiled;
	struct tpa_progress *progress;
	const void *argument; /* of the report that is being written, see struct tpa_report */
};

/*
 * Opens all traces and the output, and reads the suppressions. Returns TPA_EXIT_OK, or what to exit with after one line on stderr; the session is
 * then closed already.
 */
int tpa_session_open(struct tpa_session *session, const struct tpa_options *options);

/* Replays; `group` as --by wants it. The same results as tpa_session_open(). Damage gets its line on stderr. */
int tpa_session_replay(struct tpa_session *session, enum tpa_group group);

/* Opens, then replays: what most commands begin with. */
int tpa_session_start(struct tpa_session *session, const struct tpa_options *options, enum tpa_group group);

/* A line on stderr for each trace that was found damaged so far. tpa_session_replay() does that itself. */
void tpa_session_damage_print(const struct tpa_session *session);

/* Symbols of a process, opened on first use; and those of all processes. Owned by the session. */
struct tpa_symbols *tpa_session_symbols(struct tpa_session *session, size_t process);
void tpa_session_open_symbols(struct tpa_session *session);

/* A new set: the built-in suppressions and those of --suppressions. The caller frees it. */
struct tpa_suppressions *tpa_session_suppressions(const struct tpa_session *session);

/* The part of the run that a process's report is about: its life, cut to --from and --to. */
void tpa_session_span(const struct tpa_session *session, const struct tpa_process *process, uint64_t *from_ns,
		      uint64_t *to_ns);

/* Closes the page alone. False: it could not be written to its end, which is said on stderr. */
bool tpa_page_close(struct tpa_session *session);

/* What to do with a picture or page that has been written to -o FILE: a line on stderr. */
void tpa_session_say_browser(const struct tpa_session *session);

/* Closes everything. Returns `status`, or TPA_EXIT_USAGE if the output could not be written to its end. */
int tpa_session_close(struct tpa_session *session, int status);

#endif
