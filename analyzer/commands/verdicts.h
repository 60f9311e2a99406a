/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of `check` held against runs: several runs a side are pooled, and what is tested is tested as diff does. */
#ifndef TPROF_COMMANDS_VERDICTS_H
#define TPROF_COMMANDS_VERDICTS_H

#include "commands/rules.h"
#include "report/rows/diff_rows.h"
#include "report/rows/diff_times.h"
#include "report/text/process_listing.h"

enum tpa_kept { TPA_RULE_KEPT, TPA_RULE_BROKEN, TPA_RULE_UNCHECKED };

struct tpa_verdict_row {
	const struct tpa_rule *rule;
	struct tpa_diff_side side[2]; /* baseline, run; a value a run, of those that have one */
	bool by_step, by_second;      /* of growth over the baseline: what the runs grow by */
	bool unseen;		      /* a run's memory, as the message says */
	double most;		      /* of the runs */
	struct tpa_difference difference;
	double corrected; /* its p, for the number of rules that are tested; NAN: not tested */
	enum tpa_kept verdict;
	char message[500]; /* unless it is kept */
};

struct tpa_verdicts {
	struct tpa_verdict_row *list; /* one a rule */
	size_t count;
	struct tpa_diff_times times;
	size_t runs[2];
	char cut[2][400];	/* of a side: which of its traces is not that of the whole run, and why; "": none */
	bool cut_rss[2];	/* and the kernel's count to the process's end is not there */
	struct tpa_notes notes; /* what was not recorded of which run, though a rule may be kept */
};

/* The rules remain the caller's and must outlive the verdicts. */
void tpa_verdicts_init(struct tpa_verdicts *verdicts, const struct tpa_rules *rules);
void tpa_verdicts_free(struct tpa_verdicts *verdicts);

/* Adds a run of side 0 (baseline) or 1 that was replayed with `batches`. */
void tpa_verdicts_add(struct tpa_verdicts *verdicts, int side, const struct tpa_run *run);

/* Sets the verdicts, after the last run was added. */
void tpa_verdicts_judge(struct tpa_verdicts *verdicts);

#endif
