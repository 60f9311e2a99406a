/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions in LeakSanitizer's syntax: lines "leak:PATTERN". In a pattern, * matches any text, and ^ and $ match the ends; a
 * pattern without ^ and $ matches anywhere. Patterns are matched against the function, file and module of every frame. Besides the
 * user's there are built-in rules for memory that the loader and the C and C++ run-time libraries keep for themselves.
 */
#ifndef TPROF_REPORT_ROWS_SUPPRESSIONS_H
#define TPROF_REPORT_ROWS_SUPPRESSIONS_H

#include "report/rows/stack.h"

struct tpa_suppressions;

struct tpa_suppression {
	const char *pattern;	       /* or a description of a built-in rule */
	const char *source;	       /* file, or "built-in" */
	uint64_t sites, blocks, bytes; /* what the rule matched, summed by tpa_suppressions_match() */
};

/* Creates a list of the built-in rules. Free it with tpa_suppressions_free(). */
struct tpa_suppressions *tpa_suppressions_new(void);
void tpa_suppressions_free(struct tpa_suppressions *suppressions);

/* Adds the rules of a file. On error returns false and sets *error, which the caller frees, to file, line and reason. */
bool tpa_suppressions_read(struct tpa_suppressions *suppressions, const char *file, char **error);

/* Does a rule match this stack? If so, adds one site, `blocks` and `bytes` to the counts of the first rule that does. */
bool tpa_suppressions_match(struct tpa_suppressions *suppressions, const struct tpa_stack *stack, uint64_t blocks,
			    uint64_t bytes);

/* All rules with their counts. They belong to `suppressions`. */
const struct tpa_suppression *tpa_suppressions_list(const struct tpa_suppressions *suppressions, size_t *count);

/* Does the pattern match the text? */
bool tpa_pattern_match(const char *pattern, const char *text);

#endif
