/* SPDX-License-Identifier: Apache-2.0 */
/* What a column of a comparison is called. */
#ifndef TPROF_REPORT_TEXT_COMPARE_LABEL_H
#define TPROF_REPORT_TEXT_COMPARE_LABEL_H

#include "model/result/variants.h"

#define TP_LABEL_MAX 25u /* bytes, with the end */

/*
 * The trace's file, without folder, suffix and the pid that the collector put into it. Where another variant's is called
 * the same: the program, and those of its arguments that one of these others lacks.
 */
void tp_compare_label(const struct tp_variants *variants, size_t number, char *label);

#endif
