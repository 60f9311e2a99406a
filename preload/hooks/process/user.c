/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers fork workers that give up root before they do anything else. What the worker's new user may not create in the
 * trace's directory is created before.
 */
#include "hooks/process/user.h"

#include "core/state.h"
#include "core/sys.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

void tpc_user_changes(void)
{
	if (tpc_state_is_child() && tpc_syscall(SYS_geteuid, 0, 0, 0, 0) == 0)
		tpc_start();
}

bool tpc_user_is_changed_by(long number)
{
	return number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid || number == SYS_setgid ||
	       number == SYS_setregid || number == SYS_setresgid || number == SYS_setgroups;
}

/* The body of a hook. */
#define CHANGE(function, ...)                                                                                          \
	do {                                                                                                           \
		if (!tpc_real.function) /* the process's very first call */                                            \
			tpc_start();                                                                                   \
		tpc_user_changes();                                                                                    \
		if (tpc_real.function)                                                                                 \
			return tpc_real.function(__VA_ARGS__);                                                         \
		errno = ENOSYS;                                                                                        \
		return -1;                                                                                             \
	} while (0)

TPC_EXPORT int setuid(uid_t user)
{
	CHANGE(setuid, user);
}

TPC_EXPORT int seteuid(uid_t user)
{
	CHANGE(seteuid, user);
}

TPC_EXPORT int setreuid(uid_t real, uid_t effective)
{
	CHANGE(setreuid, real, effective);
}

TPC_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	CHANGE(setresuid, real, effective, saved);
}

TPC_EXPORT int setgid(gid_t group)
{
	CHANGE(setgid, group);
}

TPC_EXPORT int setegid(gid_t group)
{
	CHANGE(setegid, group);
}

TPC_EXPORT int setregid(gid_t real, gid_t effective)
{
	CHANGE(setregid, real, effective);
}

TPC_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved)
{
	CHANGE(setresgid, real, effective, saved);
}

TPC_EXPORT int setgroups(size_t count, const gid_t *groups)
{
	CHANGE(setgroups, count, groups);
}
