/* SPDX-License-Identifier: Apache-2.0 */
/* The loops that are timed. */
#ifndef TPROF_MACHINE_KERNELS_H
#define TPROF_MACHINE_KERNELS_H

#include "machine/machine.h"

/* Does `rounds` rounds; returns the floating-point operations done. */
typedef double tpa_flop_kernel(uint64_t rounds);
/* Reads [at, at + bytes), a multiple of 4096, `rounds` times. */
typedef void tpa_load_kernel(const void *at, size_t bytes, uint64_t rounds);

/* NULL: the processor lacks that width */
tpa_flop_kernel *tpa_flop_kernel_of(enum tpa_width width, enum tpa_precision precision);

/* The same for precisions below single. */
tpa_flop_kernel *tpa_narrow_kernel_of(enum tpa_width width, enum tpa_precision precision);

/* The processor's widest loads, one kernel for each way of reading. Ends with NULL. */
tpa_load_kernel *const *tpa_load_kernels_widest(void);

#endif
