/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats: each function writes the whole export to export->out. False: it can't be written, or export->error says what else is
 * wrong.
 */
#ifndef TPROF_EXPORT_FORMATS_H
#define TPROF_EXPORT_FORMATS_H

#include <stdbool.h>

struct tpa_export;

bool tpa_export_chrome(struct tpa_export *export);
bool tpa_export_pprof(struct tpa_export *export);
bool tpa_export_speedscope(struct tpa_export *export);
bool tpa_export_perfetto(struct tpa_export *export);
bool tpa_export_firefox(struct tpa_export *export);
bool tpa_export_callgrind(struct tpa_export *export);
bool tpa_export_massif(struct tpa_export *export);
bool tpa_export_dhat(struct tpa_export *export);
bool tpa_export_csv(struct tpa_export *export);
bool tpa_export_ndjson(struct tpa_export *export);
bool tpa_export_sqlite(struct tpa_export *export);
bool tpa_export_openmetrics(struct tpa_export *export);

#endif
