/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of the process: reads /proc/self/maps without libc's streams. */
#ifndef TPROF_CORE_MAPS_H
#define TPROF_CORE_MAPS_H

#include "core/base.h"

struct tpc_mapping {
	struct tpc_range range;
	bool readable, shared;
	const char *path;  /* "" if it has none */
	const char *label; /* such as "[heap]"; "" if it has none */
};

/* Parses one line of maps: "low-high rwxs offset device inode path". path and label point into the line. */
bool tpc_maps_parse(const char *line, struct tpc_mapping *mapping);

/*
 * Calls look() for each line of a file until it returns true; that line then stays in `buffer`. Skips lines longer than
 * `size` bytes. Any thread; makes a few system calls. False: the file could not be opened.
 */
bool tpc_lines_each(const char *file, char *buffer, size_t size, bool (*look)(char *line, void *data), void *data);

/*
 * Calls look() for each mapping, by ascending address, until it returns true; the path passed to it then stays in
 * `buffer`. Skips lines longer than `size` bytes. Any thread; makes a few system calls.
 */
void tpc_maps_each(char *buffer, size_t size, bool (*look)(const struct tpc_mapping *mapping, void *data), void *data);

/*
 * The readable mapping that contains `address`; { 0, 0 }: there is none, or maps can't be read. *path is set to the
 * path of its file in `buffer`, NUL-terminated, or to "". Skips lines longer than `size` bytes. The kernel gives full
 * paths, as they are now; " (deleted)" follows that of a deleted file. Any thread; makes a few system calls.
 */
struct tpc_range tpc_maps_find(uintptr_t address, char *buffer, size_t size, const char **path);

#endif
