/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of recording in words, for the notes. */
#ifndef TPROF_REPORT_ROWS_LEVEL_WORDS_H
#define TPROF_REPORT_ROWS_LEVEL_WORDS_H

#include "model/result/result.h"

/*
 * What was recorded for how long, where TPROF_MAX_OVERHEAD limited it, and which numbers are estimates. NULL: recording was not
 * limited. The caller frees the text.
 */
char *tpa_level_words(const struct tpa_process *process);

/* How many times as much as was recorded ops did in the whole run. NAN in both: unknown; `half`: of the 95% interval. */
struct tpa_whole tpa_level_factor(const struct tpa_process *process);

/*
 * The 95% interval of an amount in the whole run. It begins no lower than at what was recorded. NAN: unknown.
 */
struct tpa_interval tpa_whole_interval(const struct tpa_whole *whole, double recorded);

#endif
