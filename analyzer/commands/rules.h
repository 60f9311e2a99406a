/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of `check`: what a run must not exceed, from the command line and from files. */
#ifndef TPROF_COMMANDS_RULES_H
#define TPROF_COMMANDS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_metric {
	TP_METRIC_PEAK,	       /* live bytes at the run's peak, all processes together */
	TP_METRIC_UNFREED,     /* bytes that live at the end, all processes together */
	TP_METRIC_RSS,	       /* of the process whose resident memory was largest, bytes */
	TP_METRIC_ALLOCATIONS, /* calls */
	TP_METRIC_GROWTH,      /* bytes a step, or a second, of what leaks, see model/growth/growth.h */
	TP_METRIC_STEP,	       /* duration */
	TP_METRIC_OP,	       /* duration of a call */
};

struct tp_rule {
	char *text; /* as it was said, for messages: "max-peak 2GiB" */
	enum tp_metric metric;
	char *op;     /* of TP_METRIC_OP: its name */
	bool regress; /* the limit is a share more than the baseline's; else it is absolute */
	double limit; /* 0.05: 5%; or bytes, calls */
	bool seconds; /* of a limit of TP_METRIC_GROWTH: bytes a second, for runs without steps */
};

struct tp_rules {
	struct tp_rule *list;
	size_t count;
};

/*
 * Adds what `name` (max-peak, max-unfreed, max-rss, max-allocations, max-growth, max-regress) and `value` say; a list of
 * max-regress is several rules. False: one line on stderr, begun with `where`, says what is wrong and what is allowed.
 */
bool tp_rules_add(struct tp_rules *rules, const char *where, const char *name, const char *value);

/* A rule a line, "NAME VALUE"; empty lines and those that begin with # say nothing. False: as above, with the line. */
bool tp_rules_read(struct tp_rules *rules, const char *path);

void tp_rules_free(struct tp_rules *rules);

#endif
