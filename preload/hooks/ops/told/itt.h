/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_TOLD_ITT_H
#define TPROF_OPS_TOLD_ITT_H

/* oneDNN's calls are hooked: its ITT tasks would report the same again. */
void tpc_itt_mute_onednn(void);

#endif
