/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/late_frees.h"

#include "base/archive.h"
#include "base/reserve.h"

void tp_outlived_add(struct tp_outlived *outlived, const struct tp_block *block)
{
	if (outlived->count == TP_OUTLIVED_MANY ||
	    !tp_reserve(&outlived->list, &outlived->room, outlived->count + 1, sizeof(*outlived->list)))
		return;
	outlived->list[outlived->count++] = (struct tp_outlived_block){ block->time, block->size, block->site };
}

void tp_outlived_archive(struct tp_archive *archive, struct tp_outlived *outlived)
{
	TP_ARCHIVE(archive, outlived->step_ended);
	tp_archive_array(archive, &outlived->list, &outlived->count, &outlived->room, sizeof(*outlived->list));
}
