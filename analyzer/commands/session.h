/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nearly every command needs: the traces opened, replayed, with symbols, and a page to print on.
 */
#ifndef TPROF_COMMANDS_SESSION_H
#define TPROF_COMMANDS_SESSION_H

#include <stdio.h>

#include "commands/command.h"
#include "model/options.h"
#include "model/result/result.h"
#include "report/text/progress.h"
#include "report/rows/site_stacks.h"
#include "report/text/text.h"
#include "symbols/allocators.h"
#include "symbols/symbols.h"

struct tp_session {
	const struct tp_options *options;
	struct tp_trace **traces; /* as many as options->trace_count, in the order of the command line */
	size_t trace_count;
	struct tp_run *run;		 /* NULL until tp_session_replay() */
	struct tp_symbols **symbols;	 /* of run->processes[i]; each NULL until asked for */
	struct tp_symbols **early;	 /* of traces[i], those that the replay asked for; until it is over */
	struct tp_site_stacks *stacks;	 /* what reports by stack found so far; NULL: there was none */
	struct tp_allocators allocators; /* that the hooks do not see */
	struct tp_page page;		 /* stdout, or the file of -o */
	struct tp_progress *progress;
};

/*
 * Opens all traces and the output. Returns TP_EXIT_OK, or what to exit with after one line on stderr; the session is
 * then closed already.
 */
int tp_session_open(struct tp_session *session, const struct tp_options *options);

/* Replays; `group` as --by wants it. The same results as tp_session_open(). Damage gets its line on stderr. */
int tp_session_replay(struct tp_session *session, enum tp_group group);

/* Both, by stack: what most commands begin with. */
int tp_session_start(struct tp_session *session, const struct tp_options *options);

/* Says so on stderr. Returns TP_EXIT_TRACE. */
int tp_out_of_memory(void);

/* The same, and closes. */
int tp_session_out_of_memory(struct tp_session *session);

/* A line on stderr for each trace that was found damaged so far. tp_session_replay() does that itself. */
void tp_session_damage_print(const struct tp_session *session);

/* Symbols of a process, opened on first use. NULL: memory is out. */
struct tp_symbols *tp_session_symbols(struct tp_session *session, size_t process);

/* The part of the run that a process's report is about: its life, cut to --from and --to. */
void tp_session_span(const struct tp_session *session, const struct tp_process *process, uint64_t *from_ns,
		     uint64_t *to_ns);

/* Closes the page alone. False: it could not be written to its end, which is said on stderr. */
bool tp_page_close(struct tp_session *session);

/* What to do with a picture or page that has been written to -o FILE: a line on stderr. */
void tp_session_say_browser(const struct tp_session *session);

/* Closes everything. Returns `status`, or TP_EXIT_USAGE if the output could not be written to its end. */
int tp_session_close(struct tp_session *session, int status);

#endif
