/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"

void tpa_marks_add(struct tpa_marks *marks, uint64_t time_ns, uint32_t thread, const char *text, size_t length)
{
	marks->all++;
	if (marks->count == TPA_MARKS_MAX)
		return;
	*TPA_APPEND(marks->list, marks->count, marks->room) =
		(struct tpa_mark){ time_ns, thread, tpa_strndup(text, length) };
}

void tpa_marks_free(struct tpa_marks *marks)
{
	for (size_t i = 0; i < marks->count; i++)
		free(marks->list[i].text);
	free(marks->list);
	memset(marks, 0, sizeof(*marks));
}

void tpa_marks_archive(struct tpa_archive *archive, struct tpa_marks *marks)
{
	TPA_ARCHIVE(archive, marks->all);
	tpa_archive_array(archive, &marks->list, &marks->count, &marks->room, sizeof(*marks->list));
	for (size_t i = 0; archive->loading && i < marks->count; i++)
		marks->list[i].text = NULL;
	for (size_t i = 0; i < marks->count; i++)
		tpa_archive_text(archive, &marks->list[i].text);
}
