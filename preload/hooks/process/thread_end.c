/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/thread_end.h"

#include <pthread.h>

#include "core/fold.h"
#include "core/scope.h"
#include "hooks/gate/enter.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/ops/told/instrument.h"
#include "hooks/ops/unwound.h"
#include "hooks/ops/select.h"

#define KEYS_WITH_ROOM 32u /* glibc keeps this many values in the thread's own structure; it allocates for more */

static pthread_key_t key;
static bool has_key;

static bool any_open(const struct tpc_thread *thread)
{
	return tpc_ops_any_open(thread) || tpc_annotate_any() || tpc_instrument_any();
}

/*
 * All functions of the thread are over. Destructors of the program may follow, and call ops, which will have ended by
 * then. How its open ops nest does not matter: all of them end.
 */
static void end_all(void *unused)
{
	struct tpc_thread *thread = tpc_self;

	(void)unused;
	if (!thread || !any_open(thread))
		return;
	thread = tpc_enter_end(__builtin_frame_address(0));
	if (!thread)
		return;
	thread->busy = TPC_BUSY_RECORD;
	tpc_fold_settle(thread);
	while (thread->op_depth > 0)
		tpc_ops_end_innermost(thread, tpc_clock_before(), true);
	tpc_annotate_leave(thread);
	tpc_instrument_leave(thread);
	tpc_leave(thread);
}

void tpc_ops_watch_ends(void)
{
	if (has_key || !tpc_ops_wanted() || pthread_key_create(&key, end_all) != 0)
		return;
	has_key = key < KEYS_WITH_ROOM;
	if (!has_key)
		pthread_key_delete(key);
	else if (tpc_self)
		tpc_ops_watch_end(tpc_self);
}

void tpc_ops_watch_end(struct tpc_thread *thread)
{
	if (has_key)
		pthread_setspecific(key, thread);
}
