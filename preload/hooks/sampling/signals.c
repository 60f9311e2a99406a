/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaction and signal: a program that asks about our signal hears that it is unused, one that takes it gets it.
 * sigprocmask and pthread_sigmask: it is never blocked, or a thread that blocks everything (a pool's worker) could not
 * be sampled, and one that then waits for all signals would be handed ours.
 */
#include "hooks/sampling/signals.h"

#include "hooks/lifecycle.h"
#include "hooks/real.h"

#include <errno.h>
#include <signal.h>

static bool is_ours(int number)
{
	return number > 0 && (uint32_t)number == tp_cpu_signal();
}

TP_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	tp_start();
	if (is_ours(number)) {
		if (!action) {
			if (old)
				*old = (struct sigaction){ .sa_handler = SIG_DFL };
			return 0;
		}
		tp_cpu_step_aside();
		if (old) {
			int result = tp_real.sigaction(number, action, NULL);

			*old = (struct sigaction){ .sa_handler = SIG_DFL };
			return result;
		}
	}
	return tp_real.sigaction(number, action, old);
}

TP_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	__sighandler_t old;

	tp_start();
	if (!is_ours(number))
		return tp_real.signal(number, handler);
	tp_cpu_step_aside();
	old = tp_real.signal(number, handler);
	return old == SIG_ERR ? SIG_ERR : SIG_DFL;
}

/* The set without our signal, if it would be blocked. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	if (!set || how == SIG_UNBLOCK || !tp_cpu_signal() || sigismember(set, (int)tp_cpu_signal()) != 1)
		return set;
	*copy = *set;
	sigdelset(copy, (int)tp_cpu_signal());
	return copy;
}

TP_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	tp_start();
	return tp_real.sigprocmask(how, without_ours(how, set, &copy), old);
}

TP_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	tp_start();
	return tp_real.pthread_sigmask(how, without_ours(how, set, &copy), old);
}
