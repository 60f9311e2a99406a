/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the events in a chunk that no reader will see. */
#ifndef TPROF_CORE_RECORDED_H
#define TPROF_CORE_RECORDED_H

#include <tprof/format.h>

#include "core/base.h"

/* Allocations and frees in the chunk, as hooks count them when recording has stopped. 0 for a chunk of tables. */
uint64_t tpc_recorded_count(const struct tprof_chunk *chunk);

#endif
