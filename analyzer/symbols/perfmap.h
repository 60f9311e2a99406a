/* SPDX-License-Identifier: Apache-2.0 */
/* Names of JIT-compiled code from the compiler's file /tmp/perf-PID.map, with lines "START SIZE name" in hex. */
#ifndef TPROF_SYMBOLS_PERFMAP_H
#define TPROF_SYMBOLS_PERFMAP_H

#include <stdint.h>

struct tpa_perfmap;

/* Reads FOLDER/perf-PID.map. Returns NULL if there is none. */
struct tpa_perfmap *tpa_perfmap_open(const char *folder, uint32_t pid);
void tpa_perfmap_close(struct tpa_perfmap *jit);

/* Returns NULL if there is no such code. If several entries contain the address, the last one in the file applies. */
const char *tpa_perfmap_find(const struct tpa_perfmap *jit, uint64_t address);

#endif
