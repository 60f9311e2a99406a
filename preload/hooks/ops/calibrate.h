/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_HOOKS_OPS_CALIBRATE_H
#define TPROF_HOOKS_OPS_CALIBRATE_H

#include "core/thread.h"

/*
 * Measures once what recording a hooked call costs, and writes it to the header. Makes some 2,000 calls of a function
 * that does nothing, in a tenth of a millisecond; their events are discarded. The calling thread is busy. Returns how
 * many functions it added to the table.
 */
uint32_t tpc_ops_calibrate(struct tpc_thread *thread);

/* Writes the known costs to the header of this process's trace. */
void tpc_ops_tell_costs(void);

#endif
