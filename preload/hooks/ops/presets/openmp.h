/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_OPENMP_H
#define TPROF_OPS_PRESETS_OPENMP_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * Is the symbol one of those by which compilers have a parallel region run (libgomp's GOMP_parallel and GOMP_parallel_*,
 * LLVM's and Intel's __kmpc_fork_call)? The op is named by the region's function, which is its argument. Of libgomp's each
 * thread's part is an op, too.
 */
bool tp_openmp_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

#endif
