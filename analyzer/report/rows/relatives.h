/* SPDX-License-Identifier: Apache-2.0 */
/* How a process is related to the other processes of its run, and which programs it started that have no trace. */
#ifndef TPROF_REPORT_ROWS_RELATIVES_H
#define TPROF_REPORT_ROWS_RELATIVES_H

#include "trace/related.h"
#include "trace/trace.h"

enum tpa_relative { TPA_RELATIVE_REPLACED, TPA_RELATIVE_STARTED, TPA_RELATIVE_FORKED, TPA_RELATIVE_ELSE };

/* What `other` is to `own`: a program that replaced it, a program it started, a forked child, or none of these. */
enum tpa_relative tpa_relation_of(const struct tprof_header *own, const struct tprof_header *other);

/* The program that replaced this one in the same process (exec); NULL: none. Later programs replaced that one. */
const struct tpa_other *tpa_next_program(const struct tpa_trace *trace, const struct tpa_others *others);

/*
 * Iterates over the header's notes on programs without a trace; *at is 0 for the first call. NULL: no more. Copies the program's
 * name into `name`, with blanks for control characters, and terminates it, because other processes can write to the header.
 */
const struct tprof_untraced *tpa_next_untraced(const struct tprof_header *header, size_t *at, char name[48]);

/* Why the program has no trace, in words. */
const char *tpa_untraced_reason(const struct tprof_untraced *note);

/* What to do to record it, as an order: "link it dynamically"; NULL: nothing is known. `name`: of tpa_next_untraced(). */
const char *tpa_untraced_advice(const struct tprof_untraced *note, const char *name);

/*
 * The note of a fork of `own` that is over because exec replaced it by a program without a trace: for `own`, that is a
 * program that it started. NULL: it is none. `name`: as for tpa_next_untraced().
 */
const struct tprof_untraced *tpa_forks_untraced(const struct tprof_header *own, const struct tprof_header *fork,
						char name[48]);

/* Was this program replaced by one that has no trace, and is not in the notes either? */
bool tpa_replaced_by_unknown(const struct tpa_trace *trace, const struct tpa_others *others);

/* Did the program replace the process itself (exec)? */
bool tpa_untraced_replaced(const struct tprof_header *header, const struct tprof_untraced *note);

#endif
