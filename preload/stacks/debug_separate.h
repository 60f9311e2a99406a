/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the separate debug file of a stripped one: by its build id in /usr/lib/debug/.build-id, or by the name in its
 * .gnu_debuglink, beside it, in .debug beside it, or in its folder under /usr/lib/debug (as gdb: "Debugging Information
 * in Separate Files").
 */
#ifndef TPROF_STACKS_DEBUG_SEPARATE_H
#define TPROF_STACKS_DEBUG_SEPARATE_H

#include "core/base.h"

/*
 * `fd`: of the stripped file; `path`: its absolute path. The debug file has the same build id; where there is none, the
 * checksum that the link gives, and at most 64 MiB. Returns a descriptor, which the caller closes; -1: there is none.
 */
int tpc_debug_separate_open(int fd, const char *path);

#endif
