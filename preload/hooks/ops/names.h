/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the names of ops. Any thread, no lock; the record of a number is in the trace before the number is returned. */
#ifndef TPROF_HOOKS_OPS_NAMES_H
#define TPROF_HOOKS_OPS_NAMES_H

#include <tprof/format.h>

#include "core/base.h"

/* The number of an op. 0: the table is full. Texts longer than 255 bytes are cut. */
uint32_t tpc_op_number(const char *name, const char *category, enum tprof_op_origin origin);

/* A number for an op whose record the caller writes. 0: none are left. */
uint32_t tpc_op_new_number(void);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_ops_forget(void);

#endif
