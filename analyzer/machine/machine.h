/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine's limits: its rates of multiply-adds, and of reads from each memory level, on one core and on all. They are
 * measured once, then stored in a file for each processor model and number of cores.
 *
 * The methods are established. FMA peak: independent chains of multiply-adds in registers, more than latency times
 * units (likwid-bench's peakflops). Bandwidth: unrolled loads, in one stream and in several, over a working set of half
 * a cache (a quarter of the last cache) or of several times the last cache; best of many runs (likwid-bench's load;
 * McCalpin, STREAM 1995).
 */
#ifndef TPROF_MACHINE_MACHINE_H
#define TPROF_MACHINE_MACHINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/flop/work.h"

enum tpa_width { TPA_WIDTH_SSE, TPA_WIDTH_AVX2, TPA_WIDTH_AVX512, TPA_WIDTH_AMX, TPA_WIDTHS };
enum tpa_level { TPA_LEVEL_L1, TPA_LEVEL_L2, TPA_LEVEL_L3, TPA_LEVEL_MEMORY, TPA_LEVELS };

struct tpa_rate {
	/* On one core and on all, in GFLOP/s or GB/s (10^9 bytes); 0: the machine does not have it */
	double one, all;
};

struct tpa_machine {
	char cpu[128];
	uint32_t cores; /* cores that this process may run on */
	struct tpa_rate flops[TPA_WIDTHS][TPA_PRECISIONS];
	struct tpa_rate bandwidth[TPA_LEVELS];
	/* Per core; a shared cache counts with its whole size. 0: none */
	uint64_t cache_bytes[TPA_LEVEL_MEMORY];
	uint64_t measured_unix_s;
};

extern const char *const tpa_width_names[TPA_WIDTHS], *const tpa_level_names[TPA_LEVELS];

/* CPU model, cores and caches of this machine; rates are 0. */
void tpa_machine_identify(struct tpa_machine *machine);

/*
 * Measures the machine, which takes some seconds. Calls `say`, unless it is NULL, with the name of each measurement
 * before it starts. Returns false if memory or threads can't be had.
 */
bool tpa_machine_measure(struct tpa_machine *machine, void (*say)(const char *what));

/*
 * The highest rate over all widths. For narrow types at least that of single precision: programs can convert numbers
 * if the processor has no units for them, or slow ones.
 */
struct tpa_rate tpa_machine_peak(const struct tpa_machine *machine, enum tpa_precision precision);

/*
 * The rate of `cores` cores out of `of`. FLOP/s scale with the cores; a shared bandwidth scales up to that of all
 * cores.
 */
double tpa_rate_at(const struct tpa_rate *rate, uint32_t cores, uint32_t of, bool shared);

/* The whole machine as JSON, each rate converted by `rate`. */
json_t *tpa_machine_json(const struct tpa_machine *machine, json_t *(*rate)(const struct tpa_rate *));

/* ---- the file ---- */

/* The path of this machine's file; the caller frees it. NULL: neither XDG_CACHE_HOME nor HOME is set. */
char *tpa_machine_path(const struct tpa_machine *machine);

/* Returns false with a reason in *error (static). Accepts another machine's file, as the user named it. */
bool tpa_machine_read(struct tpa_machine *machine, const char *path, const char **error);
/* Creates the folders. Writes the file completely or not at all. Returns false on failure. */
bool tpa_machine_write(const struct tpa_machine *machine, const char *path);

#endif
