/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a JIT compiler made, from the file that it writes: /tmp/perf-PID.map, lines "START SIZE name" in
 * hex.
 */
#ifndef TPROF_SYMBOLS_PERFMAP_H
#define TPROF_SYMBOLS_PERFMAP_H

#include <stdint.h>

struct tp_perfmap;

/* Reads FOLDER/perf-PID.map. NULL: there is none (or out of memory). */
struct tp_perfmap *tp_perfmap_open(const char *folder, uint32_t pid);
void tp_perfmap_close(struct tp_perfmap *jit);

/* NULL: no such code. Of several entries for an address the last one written applies. */
const char *tp_perfmap_find(const struct tp_perfmap *jit, uint64_t address);

#endif
