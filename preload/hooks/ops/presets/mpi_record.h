/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_HOOKS_OPS_PRESETS_MPI_RECORD_H
#define TPROF_HOOKS_OPS_PRESETS_MPI_RECORD_H

#include "hooks/ops/typed.h"

/* tpc_signature.begun and .ended of MPI's functions: `about` is the function's row, `way` as in mpi_arguments.h. */
void tpc_mpi_begun(const struct tpc_signature *signature, uintptr_t *frame);
void tpc_mpi_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks);

/* tpc_signature.idle of those that ask whether a request is complete, or a message is there. */
bool tpc_mpi_idle(const struct tpc_signature *signature, const uintptr_t *frame);

#endif
