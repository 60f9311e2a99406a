/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/root.h"

#include "core/config.h"
#include "core/directory.h"
#include "core/output.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"

#include <errno.h>
#include <unistd.h>

void tpc_root_changes(void)
{
	bool fork = tpc_state_is_child(); /* one that did nothing yet: its parent's directory is its own */

	if (!tpc_config.children || tpc_load(&tpc_sealed) || (!fork && !tpc_state_has_trace()))
		return;
	if (fork || tpc_sys_getpid() == tpc_state.pid) /* else a vfork child: the memory is its parent's */
		tpc_directory_keep(tpc_output_path());
}

TPC_EXPORT int chroot(const char *path)
{
	if (!tpc_real.chroot) /* the process's very first call */
		tpc_start();
	tpc_root_changes();
	if (tpc_real.chroot)
		return tpc_real.chroot(path);
	errno = ENOSYS;
	return -1;
}
