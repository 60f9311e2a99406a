/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a parallel job in a session: analysed once, for all reports that tell of them. */
#ifndef TPROF_COMMANDS_PARTS_RANK_REPORT_H
#define TPROF_COMMANDS_PARTS_RANK_REPORT_H

#include "commands/input/session.h"
#include "report/json/json_writer.h"
#include "report/rows/rank_view.h"

struct tpa_rank_report {
	struct tpa_rank_view view;
	struct tpa_ranks *ranks;
	struct tpa_doings *doings;
	struct tpa_rank_reasons *reasons;
};

/* The ranks of a replayed run, whose processes are indexes in it. NULL: it has no two. The caller frees them before the run. */
struct tpa_ranks *tpa_run_ranks(struct tpa_run *run);

/*
 * Analyses the replayed session's ranks, and reads the traces again for what late ones did; opens all symbols. NULL: the run has no ranks,
 * or a single one. The caller frees the result before it closes the session.
 */
struct tpa_rank_report *tpa_rank_report_new(struct tpa_session *session);
void tpa_rank_report_free(struct tpa_rank_report *report);

/* For the first page, of a run with ranks: who made the others wait, in text, or as "ranks" in JSON. The first one sets session->late. */
void tpa_rank_answer_print(struct tpa_session *session);
/* The same as one line of the short findings. */
void tpa_rank_brief_print(struct tpa_session *session);
void tpa_rank_answer_json(struct tpa_session *session, struct tpa_json_writer *writer);

#endif
