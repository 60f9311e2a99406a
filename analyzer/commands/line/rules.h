/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of `check`: limits on a run, from the command line and from files. */
#ifndef TPROF_COMMANDS_LINE_RULES_H
#define TPROF_COMMANDS_LINE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tpa_metric {
	TPA_METRIC_PEAK,	/* live bytes at the run's peak, all processes together */
	TPA_METRIC_UNFREED,	/* bytes live at the end, all processes together */
	TPA_METRIC_RSS,		/* bytes, of the process with the largest resident memory */
	TPA_METRIC_ALLOCATIONS, /* calls */
	TPA_METRIC_GROWTH,	/* leaked bytes per step or per second, see model/growth/growth.h */
	TPA_METRIC_STEP,	/* duration */
	TPA_METRIC_OP,		/* duration per call */
};

struct tpa_rule {
	char *text; /* as given, for messages: "max-peak 2GiB" */
	enum tpa_metric metric;
	char *op;     /* TPA_METRIC_OP: the op's name */
	bool regress; /* the limit is an allowed increase over the baseline; else it is absolute */
	double limit; /* 0.05: 5%; or bytes, calls */
	bool seconds; /* TPA_METRIC_GROWTH: the limit is in bytes per second, for runs without steps */
};

struct tpa_rules {
	struct tpa_rule *list;
	size_t count, room;
};

/*
 * Adds the rule of `name` (max-peak, max-unfreed, max-rss, max-allocations, max-growth, max-regress) and `value`; a
 * list of max-regress adds several. Returns false after a line on stderr, begun with `where`, that says what is wrong
 * and what is allowed.
 */
bool tpa_rules_add(struct tpa_rules *rules, const char *where, const char *name, const char *value);

/*
 * Reads one rule per line, "NAME VALUE"; skips empty lines and lines that begin with #. Returns false as above; the
 * message names the line.
 */
bool tpa_rules_read(struct tpa_rules *rules, const char *path);

void tpa_rules_free(struct tpa_rules *rules);

#endif
