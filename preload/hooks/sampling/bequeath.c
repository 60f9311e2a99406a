/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/sampling/bequeath.h"

#include "core/assert.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"
#include "hooks/link/real.h"
#include "hooks/sampling/signals.h"

#include <signal.h>

/* ---- blocked ---- */

bool tpc_cpu_blocked(struct tpc_thread *thread)
{
	uint32_t pid;

	if (!thread->vfork_child)
		return thread->signal_blocked;
	pid = tpc_sys_getpid();
	if (pid == thread->vfork_child)
		return thread->vfork_child_blocked;
	if (pid == tpc_state.pid)
		thread->vfork_child = 0; /* the parent runs again: the child is gone */
	return thread->signal_blocked;
}

void tpc_cpu_note_blocked(struct tpc_thread *thread, bool blocked)
{
	uint32_t pid;

	if (tpc_cpu_blocked(thread) == blocked)
		return;
	pid = tpc_sys_getpid();
	if (pid == tpc_state.pid) {
		thread->signal_blocked = blocked;
	} else {
		thread->vfork_child_blocked = blocked;
		thread->vfork_child = pid;
	}
}

/* Changes the kernel's mask. Was the signal blocked? */
static bool mask_signal(int how, uint32_t number)
{
	uint64_t set = UINT64_C(1) << (number - 1), before = 0;

	tpc_syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof(set));
	return before & set;
}

void tpc_cpu_unblock(struct tpc_thread *thread)
{
	if (mask_signal(SIG_UNBLOCK, tpc_cpu_signal()))
		thread->signal_blocked = true;
}

void tpc_cpu_settle_mask(struct tpc_thread *thread)
{
	uint32_t number = tpc_cpu_handled();

	if (!number || !tpc_cpu_blocked(thread))
		return;
	mask_signal(SIG_BLOCK, number);
	tpc_cpu_note_blocked(thread, false);
}

bool tpc_cpu_bequeath(void)
{
	uint32_t number = tpc_cpu_handled();

	return number && tpc_self && tpc_cpu_blocked(tpc_self) && !mask_signal(SIG_BLOCK, number);
}

void tpc_cpu_bequeathed(void)
{
	uint32_t number = tpc_cpu_signal();

	if (number)
		mask_signal(SIG_UNBLOCK, number);
}

/* ---- ignored ---- */

#define RESTORING (UINT32_C(1) << 31)
#define PATIENCE 1000 /* times that the processor is yielded to the restoring thread */

/*
 * How many threads of this process are starting a program while the kernel ignores the signal. The last one restores
 * our handler, and a thread that comes meanwhile waits for that: otherwise its program might start with the signal not
 * ignored. The wait is limited, because that thread may be the restoring one, interrupted by a signal handler that
 * starts a program.
 */
static tpc_shared_u32 starting;

static void begin_ignoring(void)
{
	uint32_t count = tpc_load(&starting);

	for (uint32_t tries = 0; (count & RESTORING && tries < PATIENCE) || !tpc_swap_if(&starting, count, count + 1);
	     tries++) {
		if (count & RESTORING)
			tpc_syscall(SYS_sched_yield, 0, 0, 0, 0);
		count = tpc_load(&starting);
	}
}

static void end_ignoring(uint32_t number)
{
	uint32_t count = tpc_load(&starting);

	tpc_assert((count & ~RESTORING) > 0);
	while (!tpc_swap_if(&starting, count, (count & ~RESTORING) == 1 ? RESTORING : count - 1))
		count = tpc_load(&starting);
	if ((count & ~RESTORING) != 1)
		return;
	if (tpc_cpu_handled() == number) /* else the program has set its own handler meanwhile */
		tpc_cpu_restore(number);
	tpc_clear_bits_release(&starting, RESTORING); /* pairs with begin_ignoring() */
}

/* A vfork child, and a forked child that did nothing yet, have their own dispositions, and one thread. */
static bool is_own_process(void)
{
	return tpc_sys_getpid() == tpc_state.pid;
}

static bool is_kept_ignored(void)
{
	struct sigaction kept;

	return tpc_cpu_kept(&kept) && kept.sa_handler == SIG_IGN;
}

static bool has_our_handler(uint32_t number)
{
	struct sigaction found;

	return tpc_real.sigaction((int)number, NULL, &found) == 0 && tpc_cpu_is_handler(&found);
}

/* Returns the number of the signal; 0: there is nothing to restore. */
static uint32_t bequeath_ignored(void)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	uint32_t number = tpc_cpu_handled();

	if (!number || !is_kept_ignored())
		return 0;
	if (is_own_process())
		begin_ignoring();
	else if (!has_our_handler(number)) /* the child has set what it wants */
		return 0;
	tpc_real.sigaction((int)number, &ignored, NULL);
	return number;
}

/* ---- both ---- */

static void bequeath(struct tpc_bequest *bequest, bool ignored)
{
	*bequest = (struct tpc_bequest){ 0 };
	if (tpc_load(&tpc_sealed) || !tpc_real.sigaction) /* no more system calls; or no handler yet */
		return;
	if (ignored) /* before it is blocked, so that less is pending: tpc_cpu_restore() */
		bequest->ignored = bequeath_ignored();
	bequest->blocked = tpc_cpu_bequeath();
}

void tpc_cpu_bequeath_all(struct tpc_bequest *bequest)
{
	bequeath(bequest, true);
}

void tpc_cpu_bequeath_and_wait(struct tpc_bequest *bequest)
{
	bequeath(bequest, !tpc_load(&tpc_thread_several));
}

void tpc_cpu_take_back(const struct tpc_bequest *bequest)
{
	if (bequest->blocked)
		tpc_cpu_bequeathed();
	if (!bequest->ignored)
		return;
	if (is_own_process())
		end_ignoring(bequest->ignored);
	else
		tpc_cpu_install(bequest->ignored);
}

void tpc_cpu_bequeath_forget(void)
{
	tpc_unshared(starting) = 0;
}
