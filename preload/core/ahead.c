/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ahead.h"

#include <tprof/format.h>

#include "core/output.h"
#include "core/reserve.h"
#include "core/sys.h"

static tpc_shared_u64 allocated; /* places; threads that allocate the same ones at once do no harm */

static uint64_t offset_of(uint64_t place)
{
	return TPROF_HEADER_SIZE + place * TPROF_CHUNK_SIZE;
}

void tpc_ahead_begin(void)
{
	tpc_unshared(allocated) = 0;
}

uint64_t tpc_ahead_allocate(uint64_t places)
{
	uint64_t have = tpc_load(&allocated);
	int fd = have < places ? tpc_output_reach() : -1;

	if (fd < 0) /* there is enough, or it is not known */
		return places;
	while (have < places && tpc_reserve_ahead(fd, offset_of(have), TPROF_CHUNK_SIZE))
		have++;
	tpc_sys_close(fd);
	if (have > tpc_load(&allocated))
		tpc_store(&allocated, have);
	return have;
}
