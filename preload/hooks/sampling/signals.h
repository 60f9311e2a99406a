/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's signal, kept out of the program's sight; and given up when the program wants it. */
#ifndef TPROF_HOOKS_SAMPLING_SIGNALS_H
#define TPROF_HOOKS_SAMPLING_SIGNALS_H

#include "core/base.h"

/* The number of the signal in use; 0: none. */
uint32_t tp_cpu_signal(void);

/* Ends sampling for good: deletes every timer. Before the program's own handler is installed. */
void tp_cpu_step_aside(void);

#endif
