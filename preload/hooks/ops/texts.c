/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/texts.h"

#include "core/space.h"

#define ROOM (1u << 20)

static char *texts;
static uint64_t used;

const char *tp_text_keep(const char *text)
{
	char *all = tp_load_acquire(&texts), *made;
	size_t length = text ? strnlen(text, TP_TEXT_BYTES - 1) : 0;
	uint64_t at;

	if (!all) {
		made = tp_space_take(ROOM);
		if (made && !tp_swap_if(&texts, (char *)NULL, made))
			tp_space_give_back(made, ROOM); /* another thread was first */
		all = tp_load_acquire(&texts);
	}
	at = all && tp_load(&used) < ROOM ? tp_add(&used, length + 1) : ROOM;
	if (at + length >= ROOM)
		return "?";
	if (length)
		memcpy(all + at, text, length); /* the rest is zero */
	return all + at;
}

const char *tp_text_narrow(const wchar_t *text, char to[TP_TEXT_BYTES])
{
	size_t length = 0;

	for (; text && text[length] && length < TP_TEXT_BYTES - 1; length++)
		to[length] = (char)(text[length] >= ' ' && text[length] < 127 ? text[length] : '?');
	to[length] = 0;
	return to;
}
