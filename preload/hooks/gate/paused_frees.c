/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/paused_frees.h"

tpc_shared_u64 tpc_paused_frees[1u << TPC_PAUSED_FREES_BITS];

void tpc_paused_free_clear(void)
{
	for (size_t i = 0; i < TPC_LENGTH(tpc_paused_frees); i++)
		tpc_store(&tpc_paused_frees[i], UINT64_C(0));
}
