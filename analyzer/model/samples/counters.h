/* SPDX-License-Identifier: Apache-2.0 */
/* What performance counters rose by. */
#ifndef TPROF_MODEL_SAMPLES_COUNTERS_H
#define TPROF_MODEL_SAMPLES_COUNTERS_H

#include "trace/payload.h"

void tp_counters_add(struct tp_counters *to, const struct tp_counters *from);

#endif
