/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution (1908). `degrees` need not be whole. */
#ifndef TPROF_MODEL_STATS_STUDENT_H
#define TPROF_MODEL_STATS_STUDENT_H

/* The two-sided p-value: the probability of a value beyond t or -t. NAN: t is NAN, or there is no degree of freedom. */
double tpa_student_p(double t, double degrees);

/* The inverse: the t for which tpa_student_p() is p. NAN: p or `degrees` is not positive. */
double tpa_student_t(double p, double degrees);

#endif
