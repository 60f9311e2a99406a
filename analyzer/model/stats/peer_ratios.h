/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether one ratio between two runs stands out among the other ratios between the same runs.
 *
 * With one run per side, nothing shows directly how much two runs of the same program differ: the machine is faster in
 * one of them, and some ops gain more from that than others. But the ops show it together, because most of them did not
 * change. What all ratios have in common is the machine's speed. How much they differ, beyond the variation of their
 * own calls, shows how unequally it affects the ops. So the logarithms of the ratios are treated as a sample of a
 * normal distribution, and each ratio is compared with the distribution of the others (the prediction interval of one
 * more value, Student's with one degree of freedom less than there are others). If several ops changed, they widen the
 * distribution that they are compared with, so a change is found less often, not more.
 */
#ifndef TPROF_MODEL_STATS_PEER_RATIOS_H
#define TPROF_MODEL_STATS_PEER_RATIOS_H

#include <stddef.h>

#define TPA_AMONG_LEAST 4u /* others needed to estimate their spread */

struct tpa_among {
	double log_ratio, error; /* error: standard error of log_ratio, from the variation within the runs */
	double p;		 /* output: p-value of belonging to the others; NAN: there are too few others */
};

/* Sets p of all entries. Costs the square of `count`. */
void tpa_among_test(struct tpa_among *list, size_t count);

#endif
