/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a gzip file piece by piece. */
#ifndef TPROF_EXPORT_GZIP_H
#define TPROF_EXPORT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tpa_gzip;

/* The caller frees it by tpa_gzip_end(), which does not close `out`. */
struct tpa_gzip *tpa_gzip_begin(FILE *out);
void tpa_gzip_write(struct tpa_gzip *gzip, const void *bytes, size_t size);

/* Writes what is left. False: `out` could not be written, here or before. */
bool tpa_gzip_end(struct tpa_gzip *gzip);

#endif
