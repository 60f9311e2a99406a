/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof of intervals of one process: what was allocated and what CPU time was used since the last profile, and what is live at its
 * end. Taken from the totals of each stack and op, so that the profiles of all intervals add up to the whole run's figures.
 */
#ifndef TPROF_EXPORT_PUSHED_H
#define TPROF_EXPORT_PUSHED_H

#include "export/export.h"

struct tpa_pushed; /* the totals that were told */

struct tpa_pushed *tpa_pushed_new(void);
void tpa_pushed_free(struct tpa_pushed *pushed); /* NULL: does nothing */

enum tpa_pushed_kind { TPA_PUSHED_MEMORY, TPA_PUSHED_CPU, TPA_PUSHED_KINDS };

/*
 * Writes the profile of [from_ns, to_ns) (unix time) to export->out, where export->run is of the process as it was at to_ns. *samples:
 * how many the profile has. False: `out` can't be written.
 */
bool tpa_pushed_write(struct tpa_pushed *pushed, struct tpa_export *export, enum tpa_pushed_kind kind, uint64_t from_ns,
		      uint64_t to_ns, size_t *samples);

#endif
