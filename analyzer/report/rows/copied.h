/* SPDX-License-Identifier: Apache-2.0 */
/* What forked processes copied of their parents' pages by writing to them (copy-on-write), by the process that forked them. */
#ifndef TPROF_REPORT_ROWS_COPIED_H
#define TPROF_REPORT_ROWS_COPIED_H

#include "model/result/result.h"
#include "symbols/symbols.h"

#define TPA_COPIED_LEAST (UINT64_C(1) << 20) /* bytes of a process; less is what a fork costs anyway */

/* The forked processes of one parent that copied that much; of each by its last reading. */
struct tpa_copied_row {
	uint32_t parent; /* pid */
	size_t processes;
	uint64_t bytes, low, high; /* median and extremes of the processes */
	uint64_t python;	   /* median of what lies in Python's arenas of small objects; not more than `bytes` */
};

/* `symbols`: of each process of the run. The caller frees the list. */
struct tpa_copied_row *tpa_copied_rows(const struct tpa_run *run, struct tpa_symbols *const *symbols, size_t *count);

#endif
