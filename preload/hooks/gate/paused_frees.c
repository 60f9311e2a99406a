/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/paused_frees.h"

uint64_t tp_paused_frees[1u << TP_PAUSED_FREES_BITS];

void tp_paused_free_clear(void)
{
	for (size_t i = 0; i < TP_LENGTH(tp_paused_frees); i++)
		tp_store(&tp_paused_frees[i], UINT64_C(0));
}
