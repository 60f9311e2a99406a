/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions in LeakSanitizer's syntax: lines "leak:PATTERN"; * stands for anything, ^ and $ for the ends, a pattern
 * without them may match anywhere. It is held against function, file and module of every frame. Beside the user's there
 * are built-in ones, for what the loader and the C and C++ run-time libraries keep for themselves.
 */
#ifndef TPROF_REPORT_ROWS_SUPPRESSIONS_H
#define TPROF_REPORT_ROWS_SUPPRESSIONS_H

#include "report/rows/stack.h"

struct tpa_suppressions;

struct tpa_suppression {
	const char *pattern;	       /* or what a built-in rule is about */
	const char *source;	       /* file, or "built-in" */
	uint64_t sites, blocks, bytes; /* that it matched, by tpa_suppressions_match() */
};

/* With the built-in rules. */
struct tpa_suppressions *tpa_suppressions_new(void);
void tpa_suppressions_free(struct tpa_suppressions *suppressions);

/* Adds a file's rules. false: *error (heap, the caller frees) names file, line and reason. */
bool tpa_suppressions_read(struct tpa_suppressions *suppressions, const char *file, char **error);

/* Does a rule match this stack? Then it is counted with these numbers. */
bool tpa_suppressions_match(struct tpa_suppressions *suppressions, const struct tpa_stack *stack, uint64_t blocks,
			    uint64_t bytes);

/* The rules, for reports. */
const struct tpa_suppression *tpa_suppressions_list(const struct tpa_suppressions *suppressions, size_t *count);

/* A pattern against a text. */
bool tpa_pattern_match(const char *pattern, const char *text);

#endif
