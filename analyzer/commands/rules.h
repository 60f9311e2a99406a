/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of `check`: what a run must not exceed, from the command line and from files. */
#ifndef TPROF_COMMANDS_RULES_H
#define TPROF_COMMANDS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tpa_metric {
	TPA_METRIC_PEAK,	/* live bytes at the run's peak, all processes together */
	TPA_METRIC_UNFREED,	/* bytes that live at the end, all processes together */
	TPA_METRIC_RSS,		/* of the process whose resident memory was largest, bytes */
	TPA_METRIC_ALLOCATIONS, /* calls */
	TPA_METRIC_GROWTH,	/* bytes a step, or a second, of what leaks, see model/growth/growth.h */
	TPA_METRIC_STEP,	/* duration */
	TPA_METRIC_OP,		/* duration of a call */
};

struct tpa_rule {
	char *text; /* as it was said, for messages: "max-peak 2GiB" */
	enum tpa_metric metric;
	char *op;     /* of TPA_METRIC_OP: its name */
	bool regress; /* the limit is a share more than the baseline's; else it is absolute */
	double limit; /* 0.05: 5%; or bytes, calls */
	bool seconds; /* of a limit of TPA_METRIC_GROWTH: bytes a second, for runs without steps */
};

struct tpa_rules {
	struct tpa_rule *list;
	size_t count, room;
};

/*
 * Adds what `name` (max-peak, max-unfreed, max-rss, max-allocations, max-growth, max-regress) and `value` say; a list of
 * max-regress is several rules. False: one line on stderr, begun with `where`, says what is wrong and what is allowed.
 */
bool tpa_rules_add(struct tpa_rules *rules, const char *where, const char *name, const char *value);

/* A rule a line, "NAME VALUE"; empty lines and those that begin with # say nothing. False: as above, with the line. */
bool tpa_rules_read(struct tpa_rules *rules, const char *path);

void tpa_rules_free(struct tpa_rules *rules);

#endif
