/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a chunk of events, for when it turns out that nobody will read it. */
#ifndef TPROF_CORE_RECORDED_H
#define TPROF_CORE_RECORDED_H

#include <tprof/format.h>

#include "core/base.h"

/* Allocations and frees in it, as many as hooks count when recording has stopped. 0 of a chunk of tables. */
uint64_t tpc_recorded_count(const struct tprof_chunk *chunk);

#endif
