/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has to do with the others of its run, and what it started that has no trace. */
#ifndef TPROF_REPORT_ROWS_RELATIVES_H
#define TPROF_REPORT_ROWS_RELATIVES_H

#include "trace/related.h"
#include "trace/trace.h"

enum tpa_relative { TPA_RELATIVE_REPLACED, TPA_RELATIVE_STARTED, TPA_RELATIVE_FORKED, TPA_RELATIVE_ELSE };

enum tpa_relative tpa_relation_of(const struct tprof_header *own, const struct tprof_header *other);

/* The next program of the same process; the ones behind it replaced that one. */
const struct tpa_other *tpa_next_program(const struct tpa_trace *trace, const struct tpa_others *others);

/* The notes of a header, one after the other; others can write there. */
const struct tprof_untraced *tpa_next_untraced(const struct tpa_trace *trace, size_t *at, char name[48]);

const char *tpa_untraced_reason(const struct tprof_untraced *note);

/* Whether it took the place of the process itself. */
bool tpa_untraced_replaced(const struct tpa_trace *trace, const struct tprof_untraced *note);

#endif
