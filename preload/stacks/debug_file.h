/* SPDX-License-Identifier: Apache-2.0 */
/* Finds .debug_frame in an ELF file, by system calls only. What a file says is not trusted. */
#ifndef TPROF_STACKS_DEBUG_FILE_H
#define TPROF_STACKS_DEBUG_FILE_H

#include "core/base.h"

/* A module as it is loaded. */
struct tpc_debug_module {
	const char *path;
	uintptr_t start, end, bias;
};

struct tpc_debug_place { /* in the file, bytes */
	uint64_t offset, size;
};

/* Is the file the one that was loaded as `module`? Its headers and build id are compared with those in memory. */
bool tpc_debug_file_is(int fd, const struct tpc_debug_module *module);

#define TPC_DEBUG_MOST (UINT64_C(64) << 20) /* bytes that are read of a file, within a hook */

/* The section with that name and type (SHT_*), as it is in the file. False: there is none, or it is compressed. */
bool tpc_debug_file_section(int fd, const char *name, uint32_t type, struct tpc_debug_place *place);

/* False: there is no .debug_frame, or it is compressed or too large. */
bool tpc_debug_file_find(int fd, struct tpc_debug_place *place);

/* Reads place.size bytes. False: not all of them are there. */
bool tpc_debug_file_read(int fd, void *to, struct tpc_debug_place place);

#endif
