/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_EXPORT_PERFETTO_HEAP_H
#define TPROF_EXPORT_PERFETTO_HEAP_H

#include "export/export.h"
#include "export/perfetto_packets.h"

/*
 * Writes two heap profiles of each process of export->run: what was alive at its peak, at that time; and all that was allocated and
 * freed, at its end.
 */
void tpa_perfetto_heaps(struct tpa_perfetto *perfetto, struct tpa_export *export);

#endif
