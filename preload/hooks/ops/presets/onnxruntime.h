/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_ONNXRUNTIME_H
#define TPROF_OPS_PRESETS_ONNXRUNTIME_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * OrtGetApiBase: the way to ONNX Runtime's functions, which stand in a table. Sessions that are made, and runs of them, are
 * ops: their pointers in the table are changed.
 */
bool tp_onnxruntime_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

#endif
