/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks as a reader counts them: one finding per leak, however many stacks it has. Stacks are one finding if
 *   - they come from the same line of the user's own code (generated names count as equal, see
 *     model/growth/same_stacks.h), or
 *   - they get their blocks in the same steps in the same proportion, and one of them runs below the function of the
 *     other's line: a retained graph is one finding, although many lines build it, or
 *   - one is an array that grows as an array of pointers to the other's blocks would.
 * All arenas of Python's small objects are one finding, whichever line needed a new one.
 * A native function that other code calls too, and that does not leak there (xmalloc()), is not the place of a leak:
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
	/* The sum of all stacks. members: their number; node: of the one that grew most. */
	struct tpa_growth_site site;
	bool mapped; /* bytes of mappings; false: of heap blocks */
	bool arenas; /* all of Python's arenas; which lines made the objects in them was not recorded */
	struct tpa_finding_line *lines; /* the place of the finding first, the others by rate */
	size_t line_count;
	size_t series; /* how many series were joined */
	struct tpa_pinned pinned;
	double *curve; /* bytes at each of the stats' looks; NULL: of Python's arenas */
};

/* Leaks come first, then what may leak; within each, the heap before mappings, then by rate. */
struct tpa_findings {
	struct tpa_finding *list;
	size_t count, leaks;
};

/*
 * Finds the leaks of the view's process, in the stacks that the view shows. `exact`: each stack is a finding of its
 * own, except Python's arenas. Strings live as long as the symbols.
 */
void tpa_findings_find(struct tpa_findings *findings, const struct tpa_growth_view *view, bool exact);
void tpa_findings_free(struct tpa_findings *findings);

/*
 * Is there enough data to tell what leaks? Not if nothing was recorded or the run was too short. A run without steps
 * must last at least a tenth of a second, because a program that builds up its data looks like one that leaks.
 */
bool tpa_findings_enough(const struct tpa_growth_view *view);

/* For findings of arenas: the text in place of a line, and how to get the lines. */
#define TPA_ARENAS_NAME "Python's small objects (arenas)"
#define TPA_ARENAS_HINT "record with TPROF_PYTHON=alloc to see the lines that make Python's small objects"

/*
 * Steps or seconds until the process, which has `size` bytes now, reaches `limit` bytes at the finding's rate, or at
 * its recent rate if that is higher. 0: it is reached; negative: never.
 */
double tpa_finding_left(const struct tpa_finding *finding, double size, double limit);

#endif
