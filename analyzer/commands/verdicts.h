/* SPDX-License-Identifier: Apache-2.0 */
/* Compares runs with the rules of `check`. Pools several runs per side; tests differences as diff does. */
#ifndef TPROF_COMMANDS_VERDICTS_H
#define TPROF_COMMANDS_VERDICTS_H

#include "commands/line/rules.h"
#include "report/rows/diff_rows.h"
#include "report/rows/diff_times.h"
#include "report/text/process_listing.h"

enum tpa_kept { TPA_RULE_KEPT, TPA_RULE_BROKEN, TPA_RULE_UNCHECKED };

struct tpa_verdict_row {
	const struct tpa_rule *rule;
	struct tpa_diff_side side[2]; /* baseline, run; one value per run that has one */
	bool by_step, by_second;      /* growth over the baseline: the units that the runs use */
	bool unseen;		      /* a run's allocations are missing; see `message` */
	double most;		      /* highest value of the runs */
	struct tpa_difference difference;
	double corrected; /* p corrected for the number of tested rules; NAN: not tested */
	enum tpa_kept verdict;
	char message[500]; /* set unless the rule is kept */
};

struct tpa_verdicts {
	struct tpa_verdict_row *list; /* one per rule */
	size_t count;
	struct tpa_diff_times times;
	size_t runs[2];
	char cut[2][400];	/* per side: which trace is incomplete, and why; "": none */
	bool cut_rss[2];	/* and the kernel's final RSS count is missing */
	struct tpa_notes notes; /* what was not recorded in which run, even if the rules are kept */
};

/* The caller keeps the rules, which must outlive the verdicts. */
void tpa_verdicts_init(struct tpa_verdicts *verdicts, const struct tpa_rules *rules);
void tpa_verdicts_free(struct tpa_verdicts *verdicts);

/* Adds a run to side 0 (baseline) or 1, replayed with `batches`. */
void tpa_verdicts_add(struct tpa_verdicts *verdicts, int side, const struct tpa_run *run);

/* Sets the verdicts, after all runs were added. */
void tpa_verdicts_judge(struct tpa_verdicts *verdicts);

#endif
