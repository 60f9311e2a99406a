/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/thread_end.h"

#include <pthread.h>

#include "core/scope.h"
#include "hooks/gate/enter.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/ops/told/instrument.h"
#include "hooks/ops/unwound.h"
#include "hooks/ops/select.h"

#define KEYS_WITH_ROOM 32u /* glibc keeps the values of so many in the thread's own structure; for more it allocates */

static pthread_key_t key;
static bool has_key;

static bool any_open(const struct tp_thread *thread)
{
	return tp_ops_any_open(thread) || tp_annotate_any() || tp_instrument_any();
}

/*
 * All of the thread's functions have been left; destructors of the program's may come, and call ops that are ended by then. Which
 * of its open ops is within which does not matter: all end.
 */
static void end_all(void *unused)
{
	struct tp_thread *thread = tp_self;

	(void)unused;
	if (!thread || !any_open(thread))
		return;
	thread = tp_enter_end(__builtin_frame_address(0));
	if (!thread)
		return;
	thread->busy = TP_BUSY_RECORD;
	tp_fold_settle(thread);
	while (thread->op_depth > 0)
		tp_ops_end_innermost(thread, tp_clock_before(), true);
	tp_annotate_leave(thread);
	tp_instrument_leave(thread);
	tp_leave(thread);
}

void tp_ops_watch_ends(void)
{
	if (has_key || !tp_ops_wanted() || pthread_key_create(&key, end_all) != 0)
		return;
	has_key = key < KEYS_WITH_ROOM;
	if (!has_key)
		pthread_key_delete(key);
	else if (tp_self)
		tp_ops_watch_end(tp_self);
}

void tp_ops_watch_end(struct tp_thread *thread)
{
	if (has_key)
		pthread_setspecific(key, thread);
}
