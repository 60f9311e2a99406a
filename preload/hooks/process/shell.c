/* SPDX-License-Identifier: Apache-2.0 */
/* system() and popen() start the shell past the hooks of exec and posix_spawn (process/exec.c). */
#include "hooks/gate/start.h"
#include "hooks/link/real.h"
#include "hooks/sampling/bequeath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void bequeath(void (*how)(struct tp_bequest *), struct tp_bequest *bequest)
{
	int saved = errno;

	how(bequest);
	errno = saved;
}

static void take_back(const struct tp_bequest *bequest)
{
	int saved = errno;

	tp_cpu_take_back(bequest);
	errno = saved;
}

TP_EXPORT int system(const char *command)
{
	struct tp_bequest bequest;
	int status;

	if (!tp_real.system) /* the process's very first call */
		tp_start();
	bequeath(tp_cpu_bequeath_and_wait, &bequest);
	status = tp_real.system(command);
	take_back(&bequest);
	return status;
}

TP_EXPORT FILE *popen(const char *command, const char *mode)
{
	struct tp_bequest bequest;
	FILE *stream;

	if (!tp_real.popen)
		tp_start();
	bequeath(tp_cpu_bequeath_all, &bequest);
	stream = tp_real.popen(command, mode);
	take_back(&bequest);
	return stream;
}
