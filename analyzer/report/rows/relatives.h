/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has to do with the others of its run, and what it started that has no trace. */
#ifndef TPROF_REPORT_ROWS_RELATIVES_H
#define TPROF_REPORT_ROWS_RELATIVES_H

#include "trace/related.h"
#include "trace/trace.h"

enum tp_relative { TP_RELATIVE_REPLACED, TP_RELATIVE_STARTED, TP_RELATIVE_FORKED, TP_RELATIVE_ELSE };

enum tp_relative tp_relation_of(const struct tprof_header *own, const struct tprof_header *other);

/* The next program of the same process; the ones behind it replaced that one. */
const struct tp_other *tp_next_program(const struct tp_trace *trace, const struct tp_others *others);

/* The notes of a header, one after the other; others can write there. */
const struct tprof_untraced *tp_next_untraced(const struct tp_trace *trace, size_t *at, char name[48]);

const char *tp_untraced_reason(const struct tprof_untraced *note);

/* Whether it took the place of the process itself. */
bool tp_untraced_replaced(const struct tp_trace *trace, const struct tprof_untraced *note);

#endif
