/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/paused_frees.h"

uint64_t tp_ended[1u << TP_ENDED_BITS];

void tp_ended_clear(void)
{
	for (size_t i = 0; i < TP_LENGTH(tp_ended); i++)
		tp_store(&tp_ended[i], UINT64_C(0));
}
