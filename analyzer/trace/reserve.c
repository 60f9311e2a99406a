/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/reserve.h"

#include <stdlib.h>
#include <string.h>

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
