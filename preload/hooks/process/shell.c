/* SPDX-License-Identifier: Apache-2.0 */
/* system() and popen() start the shell without the hooks of exec and posix_spawn (process/exec.c). */
#include "core/follow.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"
#include "hooks/process/exec.h"
#include "hooks/sampling/bequeath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct shell {
	struct tpc_bequest bequest;
	struct tprof_untraced *note;
};

static void before(const char *command, void (*how)(struct tpc_bequest *), struct shell *shell)
{
	int saved = errno;

	shell->note = tpc_exec_shell(command);
	how(&shell->bequest);
	errno = saved;
}

static void after(const struct shell *shell, bool started)
{
	int saved = errno;

	tpc_cpu_take_back(&shell->bequest);
	if (!started)
		tpc_follow_undo(shell->note);
	errno = saved;
}

TPC_EXPORT int system(const char *command)
{
	struct shell shell;
	int status;

	if (!tpc_real.system) /* the process's very first call */
		tpc_start();
	before(command, tpc_cpu_bequeath_and_wait, &shell);
	status = tpc_real.system(command);
	after(&shell, status != -1);
	return status;
}

TPC_EXPORT FILE *popen(const char *command, const char *mode)
{
	struct shell shell;
	FILE *stream;

	if (!tpc_real.popen)
		tpc_start();
	before(command, tpc_cpu_bequeath_all, &shell);
	stream = tpc_real.popen(command, mode);
	after(&shell, stream != NULL);
	return stream;
}
