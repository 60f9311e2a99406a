/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reserve.h"

#include "base/memory.h"

/*
 * jemalloc's settings (jemalloc(3), TUNING): large pages, where the kernel leaves the choice to programs. Sites and nodes are
 * looked up all over some hundred MB: `summary` of a training run took half as long with them.
 */
extern const char *malloc_conf;
const char *malloc_conf = "thp:always";

bool tpa_reserve(void *list, size_t *room, size_t need, size_t size)
{
	tpa_grow(list, room, need, size);
	return true;
}
