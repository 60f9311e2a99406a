/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_LIBRARIES_H
#define TPROF_OPS_PRESETS_LIBRARIES_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/* Libraries whose functions are ops by their names alone. Each: is the symbol one of them? It keeps its name. */
bool tp_fftw_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);
bool tp_ggml_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);
bool tp_xnnpack_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);
bool tp_cuda_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

#endif
