/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_PRESETS_ONEDNN_H
#define TPROF_OPS_PRESETS_ONEDNN_H

#include "core/text.h"
#include "hooks/ops/typed.h"

/*
 * dnnl_primitive_execute: an op that is named by the primitive's kind and implementation, with its dimensions.
 * dnnl_primitive_create: one of its own, as that is where code is generated; the primitive is looked at there, once.
 */
bool tp_onednn_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature);

/* In a forked child: nothing is numbered in its trace yet. */
void tp_onednn_forget(void);

#endif
