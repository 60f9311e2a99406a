/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution (1908). `degrees` need not be whole. */
#ifndef TPROF_MODEL_STATS_STUDENT_H
#define TPROF_MODEL_STATS_STUDENT_H

/* The probability of a value beyond t or -t. NAN: t is NAN, or there is no degree of freedom. */
double tpa_student_p(double t, double degrees);

/* The t beyond which, on both sides together, the probability is p. */
double tpa_student_t(double p, double degrees);

#endif
