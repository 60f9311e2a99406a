/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks as a reader counts them: one finding a leak, however many stacks it has. Stacks are one finding if
 *   - they come from the same line of the user's own code (generated names count as equal, see model/growth/same_stacks.h), or
 *   - they get their blocks in the same steps in the same proportion, and one of them runs below the function of the other's line;
 *     so a retained graph is one finding, although many lines build it, or
 *   - one is an array that grows as pointers to the other's blocks would make it grow.
 * Python's arenas of small objects are one, whichever line needed a new one.
 * A function of native code that other code calls as well, and that does not leak there (xmalloc()), is not the place of a leak:
 * its caller is.
 */
#ifndef TPROF_REPORT_ROWS_FINDINGS_H
#define TPROF_REPORT_ROWS_FINDINGS_H

#include "report/rows/pinned.h"
#include "report/rows/view.h"

/* A line that contributes to a finding. */
struct tpa_finding_line {
	struct tpa_line line; /* location NULL: the stack was not recorded */
	double rate;	      /* bytes a step or second */
	size_t stacks;
};

struct tpa_finding {
	struct tpa_growth_site site; /* all stacks together; members: their number; node: of the one that grew most */
	bool mapped;		     /* bytes of mappings; else of the heap's blocks */
	bool arenas;		     /* all of Python's arenas: which lines made the objects in them is not recorded */
	struct tpa_finding_line *lines; /* the place of the finding first, then by rate */
	size_t line_count;
	size_t series; /* that were put together */
	struct tpa_pinned pinned;
};

/* Leaks first, the heap's before mappings, by rate; then what may leak. */
struct tpa_findings {
	struct tpa_finding *list;
	size_t count, leaks;
};

/* Of the process and its stacks that the view lets through. `exact`: each stack by itself. Strings live as long as the symbols. */
void tpa_findings_find(struct tpa_findings *findings, const struct tpa_growth_view *view, bool exact);
void tpa_findings_free(struct tpa_findings *findings);

/*
 * Can it be said what leaks? Not if nothing was recorded, or if the run was too short; where there are no steps, a program that
 * builds up its data looks like one that leaks, so that a tenth of a second is the least.
 */
bool tpa_findings_enough(const struct tpa_growth_view *view);

/* Of findings of arenas: what stands where others have a line; and how to have one. */
#define TPA_ARENAS_NAME "Python's small objects (arenas)"
#define TPA_ARENAS_HINT "record with TPROF_PYTHON=alloc to see the lines that make Python's small objects"

/*
 * Units (steps or seconds) until the process, at that size now, has `limit` bytes at the finding's rate: at its recent one if it
 * accelerates. 0: the limit is reached; below 0: never.
 */
double tpa_finding_left(const struct tpa_finding *finding, double size, double limit);

#endif
