/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_MPI_H
#define TPROF_OPS_PRESETS_MPI_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * The functions of MPI that communicate, wait, or read and write files, of the C and the Fortran bindings. Each keeps its
 * symbol's name. A Fortran entry point may be a wrapper that calls the C function: that call is a part of it, and no op.
 */
bool tp_mpi_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

#endif
