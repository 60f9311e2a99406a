/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops named by a function's address: the body of a parallel region, or a function instrumented by the compiler. Such
 * functions are often local, so that only the object's symbol table has their names; the analyzer reads it.
 */
#ifndef TPROF_HOOKS_OPS_ENTRY_H
#define TPROF_HOOKS_OPS_ENTRY_H

#include "core/base.h"

enum tpc_entry { TPC_ENTRY_OPENMP = 1, TPC_ENTRY_INSTRUMENTED, TPC_ENTRY_OPENMP_PART };

/* The op's number; 0: unknown. Reads one or two cache lines, and touches no vector register. Any thread. */
uint32_t tpc_entry_known(uintptr_t function, enum tpc_entry entry);

/* The same, but numbers the op if it is new. 0: the table is full. The thread is recording (TPC_BUSY_RECORD). */
TPC_SLOW uint32_t tpc_entry_number(uintptr_t function, enum tpc_entry entry);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_entry_forget(void);

#endif
