/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says is mapped where: lines of /proc/self/maps, read without libc's streams. */
#ifndef TPROF_CORE_MAPS_H
#define TPROF_CORE_MAPS_H

#include "core/base.h"

struct tpc_mapping {
	struct tpc_range range;
	bool readable, shared;
	const char *path;  /* "" if it has none */
	const char *label; /* "[heap]" and its like; "" if it has none */
};

/* One line of maps: "low-high rwxs offset device inode path". path and label point into it. */
bool tpc_maps_parse(const char *line, struct tpc_mapping *mapping);

/*
 * Calls look() for each line of a file until it returns true; that line then stays in `buffer`. Longer lines than that
 * (`size` bytes) are left out. Any thread; takes a few system calls. False: the file could not be opened.
 */
bool tpc_lines_each(const char *file, char *buffer, size_t size, bool (*look)(char *line, void *data), void *data);

/*
 * Calls look() for each mapping, addresses ascending, until it returns true; the path that it was given then stays in `buffer`.
 * Lines longer than that (`size` bytes) are not looked at. Any thread; takes a few system calls.
 */
void tpc_maps_each(char *buffer, size_t size, bool (*look)(const struct tpc_mapping *mapping, void *data), void *data);

/*
 * The readable mapping that holds `address`; { 0, 0 }: there is none, or maps can't be read. *path is its file, NUL-
 * terminated, in `buffer` (of `size` bytes, which lines longer than that are not found in); "" if it has none. The kernel
 * says whole paths, as they are by now; " (deleted)" stands behind that of a file which is gone. Any thread; takes a few
 * system calls.
 */
struct tpc_range tpc_maps_find(uintptr_t address, char *buffer, size_t size, const char **path);

#endif
