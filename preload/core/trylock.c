/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trylock.h"

#include "core/sys.h"

bool tp_trylock_take(uint32_t *turn)
{
	uint32_t me = tp_sys_gettid(), holder;

	if (tp_swap_if(turn, 0u, me)) /* acquire: pairs with tp_trylock_end() */
		return true;
	holder = tp_load_acquire(turn);
	if (holder != me && (!holder || tp_sys_thread_lives(tp_sys_getpid(), holder)))
		return false;
	return tp_swap_if(turn, holder, me);
}
