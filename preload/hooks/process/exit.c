/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process ends that run no atexit handler. Each notes what it knows and calls the real function; the trace is complete
 * without it.
 */
#include "hooks/process/lifecycle.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"

#include "core/sys.h"

#include <signal.h>
#include <tprof/format.h>

static void end_process(const void *frame, void (**real)(int), int status, uint32_t way) __attribute__((noreturn));
static void end_process(const void *frame, void (**real)(int), int status, uint32_t way)
{
	if (!*real) /* the process's very first call */
		tpc_start();
	tpc_mark_way(way);
	tpc_last_sample(frame);
	tpc_mark_end(TPROF_END_EXIT, status & 0xff);
	if (*real)
		(*real)(status);
	for (;;)
		tpc_syscall(SYS_exit_group, status, 0, 0, 0);
}

void _exit(int status) __attribute__((noreturn));
void _Exit(int status) __attribute__((noreturn));
void quick_exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));

TPC_EXPORT void _exit(int status)
{
	end_process(__builtin_frame_address(0), &tpc_real._exit, status, TPROF_WAY_UNDERSCORE_EXIT);
}

TPC_EXPORT void _Exit(int status)
{
	end_process(__builtin_frame_address(0), &tpc_real._Exit, status, TPROF_WAY_UPPERCASE_EXIT);
}

/* Runs at_quick_exit handlers first; if one of them ends the process in another way, that notes its own end. */
TPC_EXPORT void quick_exit(int status)
{
	end_process(__builtin_frame_address(0), &tpc_real.quick_exit, status, TPROF_WAY_QUICK_EXIT);
}

TPC_EXPORT void abort(void)
{
	tpc_mark_end(TPROF_END_SIGNAL, SIGABRT);
	if (tpc_real.abort)
		tpc_real.abort();
	for (;;)
		tpc_syscall(SYS_tgkill, tpc_sys_getpid(), tpc_sys_gettid(), SIGABRT, 0);
}
