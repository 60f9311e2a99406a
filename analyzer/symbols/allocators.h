/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocators whose blocks the hooks do not see, recognized by the symbols of the modules: allocators with names of
 * their own that are linked in (_rjem_malloc, tc_malloc), and pools that hand out parts of blocks (GLib's slices).
 * allocators.c has the table of known ones.
 */
#ifndef TPROF_SYMBOLS_ALLOCATORS_H
#define TPROF_SYMBOLS_ALLOCATORS_H

#include "trace/trace.h"

/* Cache of modules' symbols, shared by traces with the same modules. Initialize with zeros. */
struct tpa_allocators {
	struct tpa_allocators_module *list;
	size_t count, room;
	struct tpa_embedded **embedded; /* whose texts the traces' lists have */
	size_t embedded_count, embedded_room;
};

/* Fills trace->unseen of an open trace. */
void tpa_allocators_find(struct tpa_allocators *known, struct tpa_trace *trace, const char *debug_dir);
void tpa_allocators_free(struct tpa_allocators *known);

#endif
