/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of the trace, kept open: forked children create their traces there after chroot(2), pivot_root(2), or a
 * mount over it, when its path leads elsewhere or nowhere. The descriptor has a high number and is closed by exec.
 */
#ifndef TPROF_CORE_DIRECTORY_H
#define TPROF_CORE_DIRECTORY_H

#include "core/base.h"

#include <sys/stat.h>

/*
 * Opens the directory of this file, whose path is absolute, unless it is kept already. Where other threads could notice
 * the number that it has for a moment (core/private_fds.h), or if there is no high number, nothing is kept.
 */
TPC_SLOW void tpc_directory_keep(const char *path);

/* Has the root directory changed since the trace's directory was first opened? False if that is unknown. */
TPC_SLOW bool tpc_directory_root_changed(void);

/*
 * System calls on a file, by its absolute path: in the kept directory if the file is in that, else by the path. Return
 * what the kernel returns.
 */
TPC_SLOW int tpc_directory_open(const char *path, int flags, int mode);
TPC_SLOW int tpc_directory_lstat(const char *path, struct stat *status);
TPC_SLOW int tpc_directory_unlink(const char *path);
/* Both files are in one directory. `flags`: as for renameat2(2). */
TPC_SLOW int tpc_directory_rename(const char *from, const char *to, unsigned int flags);
TPC_SLOW int tpc_directory_link(const char *from, const char *to);

#endif
