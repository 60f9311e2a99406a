/* SPDX-License-Identifier: Apache-2.0 */
/* The timed loops. */
#ifndef TPROF_MACHINE_KERNELS_H
#define TPROF_MACHINE_KERNELS_H

#include "machine/machine.h"

/* Does `rounds` rounds; returns the floating-point operations done. */
typedef double tpa_flop_kernel(uint64_t rounds);
/* Reads [at, at + bytes), a multiple of 4096, `rounds` times. */
typedef void tpa_load_kernel(const void *at, size_t bytes, uint64_t rounds);

/* NULL: this processor does not have that width. */
tpa_flop_kernel *tpa_flop_kernel_of(enum tpa_width width, enum tpa_precision precision);

/* The same for precisions below single. */
tpa_flop_kernel *tpa_narrow_kernel_of(enum tpa_width width, enum tpa_precision precision);

/* The widest loads of this processor, in each way of reading; NULL ends the list. */
tpa_load_kernel *const *tpa_load_kernels_widest(void);

#endif
