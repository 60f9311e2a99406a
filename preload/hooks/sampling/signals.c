/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaction, signal and similar functions. A program that asks about our signal is told that it is unused, or which
 * handler it set itself; a program that wants the signal gets it. What `signal` is depends on how the program was
 * compiled: in strict C (-std=c11) it is __sysv_signal. sigprocmask, pthread_sigmask, sighold: the kernel never blocks
 * our signal, or a thread that blocks everything (a pool's worker) could not be sampled, and one that then waits for
 * all signals would get ours.
 */
#include "hooks/sampling/signals.h"

#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"
#include "hooks/sampling/bequeath.h"

#include <errno.h>
#include <signal.h>

static bool is_handled(int number)
{
	return number > 0 && (uint32_t)number == tpc_cpu_handled();
}

/* A vfork child has its parent's memory, but its own handlers: what it sets does not concern us. */
static bool is_ours(int number)
{
	return is_handled(number) && tpc_sys_getpid() == tpc_state.pid;
}

/* Is it a handler of the program, or SIG_IGN? The default action is what the program sees anyway. */
static bool takes_over(__sighandler_t handler)
{
	return handler != SIG_DFL;
}

/* Ignores the signal, as signal() would. */
static bool keeps_ignored(int number)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN, .sa_flags = SA_RESTART };

	sigaddset(&ignored.sa_mask, number);
	return tpc_cpu_keep(&ignored);
}

/* The program's handlers must not block our signal while they run. */
static const struct sigaction *unmasked(const struct sigaction *action, struct sigaction *copy)
{
	if (!action || !tpc_cpu_signal() || sigismember(&action->sa_mask, (int)tpc_cpu_signal()) != 1)
		return action;
	*copy = *action;
	sigdelset(&copy->sa_mask, (int)tpc_cpu_signal());
	return copy;
}

/* A vfork child that has not set it has our handler, which it must not see either. */
static void conceal(int number, struct sigaction *found)
{
	if (is_handled(number) && tpc_cpu_is_handler(found))
		tpc_cpu_kept(found);
}

static __sighandler_t concealed(int number, __sighandler_t handler)
{
	struct sigaction found = { .sa_handler = handler };

	conceal(number, &found);
	return found.sa_handler;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(&a->sa_mask, number) != sigismember(&b->sa_mask, number))
			return false;
	}
	return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags;
}

/*
 * A handler with SA_RESTART is kept until the signal is sent: many programs set one for each signal, and use few. A
 * handler without it gets the signal at once: ours would have restarted the interrupted call.
 */
TPC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction copy, kept;
	int result = 0;
	bool was;

	tpc_start();
	if (!is_ours(number)) {
		result = tpc_real.sigaction(number, unmasked(action, &copy), old);
		if (result == 0 && old)
			conceal(number, old);
		return result;
	}
	was = tpc_cpu_kept(&kept);
	if (action && takes_over(action->sa_handler)) {
		if (!(was && is_same(action, &kept)) && !tpc_cpu_keep(action)) {
			tpc_cpu_step_aside();
			result = tpc_real.sigaction(number, action, NULL);
			tpc_cpu_let_go();
		}
	} else if (action) {
		tpc_cpu_drop();
	}
	if (old)
		*old = kept;
	return result;
}

void tpc_cpu_set_by_syscall(long number)
{
	struct sigaction kept;

	if (number != (int)number || !is_ours((int)number))
		return;
	tpc_cpu_kept(&kept);
	tpc_cpu_step_aside();
	tpc_real.sigaction((int)number, &kept, NULL);
	tpc_cpu_let_go();
}

/* `real` points to the real function: this may be the process's first call. */
static __sighandler_t set_handler(__sighandler_t (**real)(int, __sighandler_t), int number, __sighandler_t handler)
{
	struct sigaction kept;
	__sighandler_t old;

	tpc_start();
	if (!is_ours(number))
		return concealed(number, (*real)(number, handler));
	tpc_cpu_kept(&kept);
	if (!takes_over(handler)) {
		tpc_cpu_drop();
		return kept.sa_handler;
	}
	if (handler == SIG_IGN && (kept.sa_handler == SIG_IGN || keeps_ignored(number)))
		return kept.sa_handler;
	tpc_cpu_step_aside();
	old = (*real)(number, handler);
	tpc_cpu_let_go();
	return old == SIG_ERR ? SIG_ERR : kept.sa_handler;
}

TPC_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	return set_handler(&tpc_real.signal, number, handler);
}

TPC_EXPORT __sighandler_t ssignal(int number, __sighandler_t handler)
{
	return set_handler(&tpc_real.signal, number, handler);
}

__sighandler_t bsd_signal(int number, __sighandler_t handler);
__sighandler_t __sysv_signal(int number, __sighandler_t handler);

TPC_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler)
{
	return set_handler(&tpc_real.signal, number, handler);
}

TPC_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(&tpc_real.sysv_signal, number, handler);
}

TPC_EXPORT __sighandler_t __sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(&tpc_real.sysv_signal, number, handler);
}

TPC_EXPORT int sigignore(int number)
{
	tpc_start();
	if (!is_ours(number))
		return tpc_real.sigignore(number);
	return set_handler(&tpc_real.signal, number, SIG_IGN) == SIG_ERR ? -1 : 0;
}

/* Sets the handler and changes the mask. With SIG_HOLD it keeps the handler: ours. */
TPC_EXPORT __sighandler_t sigset(int number, __sighandler_t handler)
{
	struct sigaction kept;
	__sighandler_t old;

	tpc_start();
	if (is_handled(number) && tpc_self && !is_ours(number))
		tpc_cpu_settle_mask(tpc_self);
	if (!is_ours(number))
		return concealed(number, tpc_real.sigset(number, handler));
	tpc_cpu_kept(&kept);
	tpc_cpu_step_aside();
	if (tpc_self)
		tpc_cpu_settle_mask(tpc_self);
	old = tpc_real.sigset(number, handler);
	if (handler != SIG_HOLD)
		tpc_cpu_let_go();
	return old == SIG_ERR || old == SIG_HOLD ? old : kept.sa_handler;
}

TPC_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	tpc_start();
	if (stack)
		tpc_cpu_alternate_stack(stack->ss_sp, stack->ss_flags & SS_DISABLE ? 0 : stack->ss_size);
	return tpc_real.sigaltstack(stack, old);
}

/*
 * Changes a mask without our signal, but tells the program, and lets it restore, a mask as if the signal were in it. In
 * the sampler's handler (libunwind asks, in the verifying build) the mask is the handler's: without our signal in it, a
 * second handler would begin on the stack of the first.
 */
static int change_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	struct tpc_thread *thread = tpc_self;
	int number = (int)tpc_cpu_signal(), result;
	bool named = set && number && sigismember(set, number) == 1, was;
	sigset_t copy;

	if (!thread || (uintptr_t)&copy - (uintptr_t)thread->handler_stack < sizeof(thread->handler_stack))
		return real(how, set, old);
	if (!number) {
		tpc_cpu_settle_mask(thread);
		return real(how, set, old);
	}
	if (set)
		tpc_cpu_new_segment(thread);
	was = tpc_cpu_blocked(thread);
	if (named && how != SIG_UNBLOCK) {
		copy = *set;
		sigdelset(&copy, number);
		result = real(how, &copy, old);
	} else {
		result = real(how, set, old);
	}
	if (result == 0 && set && (named || how == SIG_SETMASK))
		tpc_cpu_note_blocked(thread, named && how != SIG_UNBLOCK);
	if (result == 0 && old && was)
		sigaddset(old, number);
	return result;
}

TPC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	tpc_start();
	return change_mask(tpc_real.sigprocmask, how, set, old);
}

TPC_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	tpc_start();
	return change_mask(tpc_real.pthread_sigmask, how, set, old);
}

static int hold(int (*real)(int), int how, int number)
{
	sigset_t one = { 0 };

	if (!is_handled(number))
		return real(number);
	sigaddset(&one, number);
	return change_mask(tpc_real.sigprocmask, how, &one, NULL);
}

TPC_EXPORT int sighold(int number)
{
	tpc_start();
	return hold(tpc_real.sighold, SIG_BLOCK, number);
}

TPC_EXPORT int sigrelse(int number)
{
	tpc_start();
	return hold(tpc_real.sigrelse, SIG_UNBLOCK, number);
}
