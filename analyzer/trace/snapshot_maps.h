/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a process's mappings; a part of trace/snapshot.h. */
#ifndef TPROF_TRACE_SNAPSHOT_MAPS_H
#define TPROF_TRACE_SNAPSHOT_MAPS_H

#include "trace/snapshot.h"

/* A file of the process's in /proc. -1: see errno. */
int tpa_frozen_proc(pid_t pid, const char *name);

/* Fills maps. False: see errno. */
bool tpa_frozen_read_maps(struct tpa_frozen *frozen);

#endif
