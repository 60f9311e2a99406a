/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_BLAS_H
#define TPROF_OPS_PRESETS_BLAS_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * Is the symbol a routine of BLAS or LAPACK, under any of the names that libraries give them (sgemm_, cblas_sgemm,
 * scipy_cblas_sgemm64_, dgesdd_64_)? Then its usual name goes to *to, and *signature is filled in.
 */
bool tp_blas_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

#endif
