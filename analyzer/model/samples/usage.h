/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counted of the process, as the latest USAGE record says: ever growing. */
#ifndef TPROF_MODEL_SAMPLES_USAGE_H
#define TPROF_MODEL_SAMPLES_USAGE_H

#include "trace/payload.h"

/* Modulo 2^64, field by field. */
struct tp_usage tp_usage_less(const struct tp_usage *usage, const struct tp_usage *before);
void tp_usage_add(struct tp_usage *to, const struct tp_usage *from);

#endif
