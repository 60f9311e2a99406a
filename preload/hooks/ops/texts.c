/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/texts.h"

#include "core/space.h"

#define BLOCK (1u << 20)
#define BLOCKS 16u

static TPC_SHARED(char *) blocks[BLOCKS]; /* block_of()'s swap pairs with its loads */
static tpc_shared_u64 used;		  /* of all blocks, including ends of blocks that were too short */

static char *block_of(uint64_t number)
{
	char *block = tpc_load_acquire(&blocks[number]), *made;

	if (block)
		return block;
	made = tpc_space_take(BLOCK);
	if (made && !tpc_swap_if(&blocks[number], NULL, made))
		tpc_space_give_back(made, BLOCK); /* another thread was first */
	return tpc_load_acquire(&blocks[number]);
}

void *tpc_text_room(size_t bytes)
{
	uint64_t at;
	char *block;

	bytes = (bytes + 7) & ~(size_t)7;
	do {
		if (tpc_load(&used) >= (uint64_t)BLOCKS * BLOCK)
			return NULL;
		at = tpc_add(&used, bytes);
	} while (at % BLOCK + bytes > BLOCK);
	if (at >= (uint64_t)BLOCKS * BLOCK)
		return NULL;
	block = block_of(at / BLOCK);
	return block ? block + at % BLOCK : NULL;
}

const char *tpc_text_keep(const char *text)
{
	size_t length = text ? strnlen(text, TPC_TEXT_BYTES - 1) : 0;
	char *kept = tpc_text_room(length + 1);

	if (!kept)
		return "?";
	if (length)
		memcpy(kept, text, length); /* the rest is zero */
	return kept;
}

const char *tpc_text_narrow(const wchar_t *text, char to[TPC_TEXT_BYTES])
{
	size_t length = 0;

	for (; text && text[length] && length < TPC_TEXT_BYTES - 1; length++)
		to[length] = (char)(text[length] >= ' ' && text[length] < 127 ? text[length] : '?');
	to[length] = 0;
	return to;
}
