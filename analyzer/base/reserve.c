/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reserve.h"

#include <stdlib.h>
#include <string.h>

/*
 * jemalloc's settings (jemalloc(3), TUNING): large pages, where the kernel leaves the choice to programs. Sites and nodes are
 * looked up all over some hundred MB: `summary` of a training run took half as long with them.
 */
extern const char *malloc_conf;
const char *malloc_conf = "thp:always";

bool tp_reserve(void *list, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 16;
	void *old, *new;

	if (need <= *room)
		return true;
	while (wanted < need)
		wanted *= 2;
	memcpy(&old, list, sizeof(old));
	new = reallocarray(old, wanted, size);
	if (!new)
		return false;
	memcpy(list, &new, sizeof(new));
	*room = wanted;
	return true;
}
