/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a ratio of two runs stand out among others of the same two runs?
 *
 * Of one run a side nothing says how much two runs of the same program differ: the machine is faster in one of them, and
 * some ops feel that more than others. But its ops show it, as most of them are what they were: what all have in common is
 * the machine's speed, and what they differ by beyond what their own calls explain is how unequally it is felt. So the
 * logarithms of the ratios are taken as a sample of a normal distribution, and one that is to be told from them is held
 * against the distribution that the others give (the prediction interval of one more value, Student's with one degree of
 * freedom less than there are others). If several ops changed they widen what they are held against: it is found less
 * often then, not more.
 */
#ifndef TPROF_MODEL_STATS_PEER_RATIOS_H
#define TPROF_MODEL_STATS_PEER_RATIOS_H

#include <stddef.h>

#define TP_AMONG_LEAST 4u /* others, for their spread to say anything */

struct tp_among {
	double log_ratio, error; /* the error of the logarithm, by what is seen within the runs */
	double p;		 /* set: of being one of them; NAN: there are too few others */
};

void tp_among_test(struct tp_among *list, size_t count);

#endif
