/* SPDX-License-Identifier: Apache-2.0 */
/* torch.distributed's gloo: calls by which its groups of processes communicate. */
#ifndef TPROF_HOOKS_OPS_PRESETS_C10D_H
#define TPROF_HOOKS_OPS_PRESETS_C10D_H

#include "core/text.h"
#include "hooks/ops/typed.h"

#define TPC_TORCH_DISTRIBUTED "_ZN4c10d1" /* how the symbols begin that tpc_c10d_choose() is asked about */

#define TPC_TORCH_REDUCER "_ZN4c10d7Reducer"

/*
 * The functions through which a program makes a group. Once they are found, the pointers in libtorch that lead to the
 * group's methods are hooked as well: libtorch calls them as virtual functions.
 */
bool tpc_c10d_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);

/* In a forked child, which is no member of any group. */
void tpc_c10d_forget(void);

#endif
