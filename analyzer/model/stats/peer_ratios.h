/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a ratio of two runs stand out among others of the same two runs?
 *
 * With one run a side nothing shows how much two runs of the same program differ: the machine is faster in one of them,
 * and some ops feel that more than others. The ops show it, because most of them did not change: what all ratios have
 * in common is the machine's speed, and how much they differ beyond what their own calls explain is how unequally the
 * ops feel it. So the logarithms of the ratios are taken as a sample of a normal distribution, and each ratio is
 * compared with the distribution of the others (the prediction interval of one more value, Student's with one degree of
 * freedom less than there are others). If several ops changed, they widen the distribution they are compared with: a
 * change is then found less often, not more.
 */
#ifndef TPROF_MODEL_STATS_PEER_RATIOS_H
#define TPROF_MODEL_STATS_PEER_RATIOS_H

#include <stddef.h>

#define TPA_AMONG_LEAST 4u /* others, for their spread to say anything */

struct tpa_among {
	double log_ratio, error; /* the error of the logarithm, by the variation within the runs */
	double p;		 /* output: the probability of being one of them; NAN: there are too few others */
};

void tpa_among_test(struct tpa_among *list, size_t count);

#endif
