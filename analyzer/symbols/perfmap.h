/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a JIT compiler made, from the file that it writes: /tmp/perf-PID.map, lines "START SIZE name" in
 * hex.
 */
#ifndef TPROF_SYMBOLS_PERFMAP_H
#define TPROF_SYMBOLS_PERFMAP_H

#include <stdint.h>

struct tpa_perfmap;

/* Reads FOLDER/perf-PID.map. NULL: there is none. */
struct tpa_perfmap *tpa_perfmap_open(const char *folder, uint32_t pid);
void tpa_perfmap_close(struct tpa_perfmap *jit);

/* NULL: no such code. Of several entries for an address the last one written applies. */
const char *tpa_perfmap_find(const struct tpa_perfmap *jit, uint64_t address);

#endif
