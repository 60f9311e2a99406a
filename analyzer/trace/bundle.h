/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bundles: archives (base/tar.h) of compact traces, which are read where they lie. A trace in one is named by a path that goes on
 * behind the archive's own, as if that were a directory: run.tprof/train/trace.bin.
 */
#ifndef TPROF_TRACE_BUNDLE_H
#define TPROF_TRACE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/part.h"

/* Is the file an archive? It need not hold a trace. */
bool tpa_bundle_is(const char *file);

/*
 * Names the traces of a bundle that can be opened: paths as above, a list of heap strings; of what can't be read, `say` is given a
 * sentence, which names the bundle. NULL, and *count is 0: no trace can be read.
 */
char **tpa_bundle_list(const char *file, size_t *count, void (*say)(const char *sentence));

/*
 * open(2) for reading, with these flags; also of a trace in a bundle. *part: what belongs to it. Returns -1 with errno; ENOENT: the
 * bundle has no such trace. May be called by several threads.
 */
int tpa_bundle_open(const char *file, int flags, struct tpa_part *part);

/* The name of the bundle that a path of a trace in it goes through; a heap string. NULL: it goes through no file. */
char *tpa_bundle_of(const char *path);

/* Is it a part of the file, not all of it? */
bool tpa_bundle_member(const struct tpa_part *part);

#endif
