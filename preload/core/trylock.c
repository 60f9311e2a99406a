/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trylock.h"

#include "core/sys.h"

bool tpc_trylock_take(tpc_shared_u32 *turn)
{
	uint32_t me = tpc_sys_gettid(), holder;

	if (tpc_swap_if(turn, 0u, me)) /* acquire: pairs with tpc_trylock_end() */
		return true;
	holder = tpc_load_acquire(turn);
	if (holder != me && (!holder || tpc_sys_thread_lives(tpc_sys_getpid(), holder)))
		return false;
	return tpc_swap_if(turn, holder, me);
}
