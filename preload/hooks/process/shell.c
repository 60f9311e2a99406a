/* SPDX-License-Identifier: Apache-2.0 */
/* system() and popen() start the shell without the hooks of exec and posix_spawn (process/exec.c). */
#include "hooks/gate/start.h"
#include "hooks/link/real.h"
#include "hooks/sampling/bequeath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void bequeath(void (*how)(struct tpc_bequest *), struct tpc_bequest *bequest)
{
	int saved = errno;

	how(bequest);
	errno = saved;
}

static void take_back(const struct tpc_bequest *bequest)
{
	int saved = errno;

	tpc_cpu_take_back(bequest);
	errno = saved;
}

TPC_EXPORT int system(const char *command)
{
	struct tpc_bequest bequest;
	int status;

	if (!tpc_real.system) /* the process's very first call */
		tpc_start();
	bequeath(tpc_cpu_bequeath_and_wait, &bequest);
	status = tpc_real.system(command);
	take_back(&bequest);
	return status;
}

TPC_EXPORT FILE *popen(const char *command, const char *mode)
{
	struct tpc_bequest bequest;
	FILE *stream;

	if (!tpc_real.popen)
		tpc_start();
	bequeath(tpc_cpu_bequeath_all, &bequest);
	stream = tpc_real.popen(command, mode);
	take_back(&bequest);
	return stream;
}
