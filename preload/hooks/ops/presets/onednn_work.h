/* SPDX-License-Identifier: Apache-2.0 */
/* The work of oneDNN's primitives: their kinds and dimensions, as include/tprof/format.h has them. */
#ifndef TPROF_OPS_PRESETS_ONEDNN_WORK_H
#define TPROF_OPS_PRESETS_ONEDNN_WORK_H

#include "hooks/ops/presets/onednn_library.h"
#include "hooks/ops/typed.h"

/* Fills *work as far as it is known. False: not enough. */
bool tpc_onednn_describe(struct tpc_work *work, const void *descriptor, enum tpc_onednn_kind kind);

#endif
