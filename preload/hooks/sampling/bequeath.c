/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/sampling/bequeath.h"

#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"
#include "hooks/link/real.h"
#include "hooks/sampling/signals.h"

#include <signal.h>

/* ---- blocked ---- */

bool tp_cpu_blocked(struct tp_thread *thread)
{
	uint32_t pid;

	if (!thread->vfork_child)
		return thread->signal_blocked;
	pid = tp_sys_getpid();
	if (pid == thread->vfork_child)
		return thread->vfork_child_blocked;
	if (pid == tp_state.pid)
		thread->vfork_child = 0; /* the parent goes on: the child is gone */
	return thread->signal_blocked;
}

void tp_cpu_note_blocked(struct tp_thread *thread, bool blocked)
{
	uint32_t pid;

	if (tp_cpu_blocked(thread) == blocked)
		return;
	pid = tp_sys_getpid();
	if (pid == tp_state.pid) {
		thread->signal_blocked = blocked;
	} else {
		thread->vfork_child_blocked = blocked;
		thread->vfork_child = pid;
	}
}

/* Was it blocked? */
static bool mask_signal(int how, uint32_t number)
{
	uint64_t set = UINT64_C(1) << (number - 1), before = 0;

	tp_syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof(set));
	return before & set;
}

void tp_cpu_unblock(struct tp_thread *thread)
{
	if (mask_signal(SIG_UNBLOCK, tp_cpu_signal()))
		thread->signal_blocked = true;
}

void tp_cpu_settle_mask(struct tp_thread *thread)
{
	uint32_t number = tp_cpu_handled();

	if (!number || !tp_cpu_blocked(thread))
		return;
	mask_signal(SIG_BLOCK, number);
	tp_cpu_note_blocked(thread, false);
}

bool tp_cpu_bequeath(void)
{
	uint32_t number = tp_cpu_handled();

	return number && tp_self && tp_cpu_blocked(tp_self) && !mask_signal(SIG_BLOCK, number);
}

void tp_cpu_bequeathed(void)
{
	uint32_t number = tp_cpu_signal();

	if (number)
		mask_signal(SIG_UNBLOCK, number);
}

/* ---- ignored ---- */

#define RESTORING (UINT32_C(1) << 31)
#define PATIENCE 1000 /* yields of the processor to the thread that restores the handler */

/*
 * How many threads of this process are starting a program while the kernel ignores the signal. The last of them restores our
 * handler, and a thread that comes meanwhile waits until it has: otherwise its program might start with the signal not ignored.
 * The wait has an end, as that thread may be the restoring one, interrupted by a signal handler that starts a program.
 */
static uint32_t starting;

static void begin_ignoring(void)
{
	uint32_t count = tp_load(&starting);

	for (uint32_t tries = 0; (count & RESTORING && tries < PATIENCE) || !tp_swap_if(&starting, count, count + 1);
	     tries++) {
		if (count & RESTORING)
			tp_syscall(SYS_sched_yield, 0, 0, 0, 0);
		count = tp_load(&starting);
	}
}

static void end_ignoring(uint32_t number)
{
	uint32_t count = tp_load(&starting);

	while (!tp_swap_if(&starting, count, (count & ~RESTORING) == 1 ? RESTORING : count - 1))
		count = tp_load(&starting);
	if ((count & ~RESTORING) != 1)
		return;
	if (tp_cpu_handled() == number) /* else the program has set a handler meanwhile */
		tp_cpu_restore(number);
	__atomic_fetch_and(&starting, ~RESTORING, __ATOMIC_RELEASE); /* pairs with begin_ignoring() */
}

/* A vfork child, and a forked one that did nothing yet, have dispositions of their own, and one thread. */
static bool is_own_process(void)
{
	return tp_sys_getpid() == tp_state.pid;
}

static bool is_kept_ignored(void)
{
	struct sigaction kept;

	return tp_cpu_kept(&kept) && kept.sa_handler == SIG_IGN;
}

static bool has_our_handler(uint32_t number)
{
	struct sigaction found;

	return tp_real.sigaction((int)number, NULL, &found) == 0 && tp_cpu_is_handler(&found);
}

/* Returns the signal's number; 0: there is nothing to restore. */
static uint32_t bequeath_ignored(void)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	uint32_t number = tp_cpu_handled();

	if (!number || !is_kept_ignored())
		return 0;
	if (is_own_process())
		begin_ignoring();
	else if (!has_our_handler(number)) /* the child has set what it wants */
		return 0;
	tp_real.sigaction((int)number, &ignored, NULL);
	return number;
}

/* ---- both ---- */

static void bequeath(struct tp_bequest *bequest, bool ignored)
{
	*bequest = (struct tp_bequest){ 0 };
	if (tp_load(&tp_sealed) || !tp_real.sigaction) /* no system calls any more; none of ours yet */
		return;
	if (ignored) /* before it is blocked, so that less is pending: tp_cpu_restore() */
		bequest->ignored = bequeath_ignored();
	bequest->blocked = tp_cpu_bequeath();
}

void tp_cpu_bequeath_all(struct tp_bequest *bequest)
{
	bequeath(bequest, true);
}

void tp_cpu_bequeath_and_wait(struct tp_bequest *bequest)
{
	bequeath(bequest, !tp_load(&tp_thread_several));
}

void tp_cpu_take_back(const struct tp_bequest *bequest)
{
	if (bequest->blocked)
		tp_cpu_bequeathed();
	if (!bequest->ignored)
		return;
	if (is_own_process())
		end_ignoring(bequest->ignored);
	else
		tp_cpu_install(bequest->ignored);
}

void tp_cpu_bequeath_forget(void)
{
	starting = 0;
}
