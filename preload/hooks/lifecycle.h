/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's beginning and end in this process. */
#ifndef TPROF_HOOKS_LIFECYCLE_H
#define TPROF_HOOKS_LIFECYCLE_H

#include "core/base.h"

/*
 * Starts recording if mode is NEW: at the process's first hooked call, wherever that is, and again in a forked child.
 * Leaves errno alone. Any thread; only one does it.
 */
TP_SLOW void tp_start(void);

/* What the process's memory is made of as it ends: before tp_mark_end(). `frame`: the exported hook's, as for tp_enter(). */
TP_SLOW void tp_last_sample(const void *frame);

/* Writes down how the process ends, as far as it is known: enum tprof_end and the status. Recording goes on. */
TP_SLOW void tp_mark_end(uint32_t end, int status);

/* By what call: enum tprof_end_way. The first that says so is the one. */
void tp_mark_way(uint32_t way);

#endif
