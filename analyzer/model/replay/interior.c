/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/interior.h"

#include "base/order.h"

#define STRING_HEAD 24u /* length, capacity, count of references */
#define COUNT_MOST 0xfffffffu

struct interior {
	const struct tpa_reach_block *block;
	const struct tpa_reach_roots *roots;
	tpa_reach_read *read;
	void *context;
	uint64_t pointer;
};

static bool read_words(const struct interior *at, uint64_t address, uint64_t *words, size_t count)
{
	return at->read(at->context, address, words, 8 * count) == 8 * count;
}

/*
 * Whether a length of all that follows stands in front, or a number of elements that divides it, as new writes it in front of
 * an array of objects with destructors.
 */
static bool follows_count(const struct interior *at)
{
	uint64_t count, rest = at->block->size - 8;

	if (at->pointer - at->block->address != 8 || !read_words(at, at->block->address, &count, 1))
		return false;
	return count && (count == rest || (count <= COUNT_MOST && rest % count == 0));
}

/*
 * Whether it is the text of a libstdc++ string from before C++11: the length, the capacity and a count are in front, a 0 behind
 * it.
 */
static bool is_string(const struct interior *at)
{
	uint64_t words[2];

	return at->pointer - at->block->address == STRING_HEAD && read_words(at, at->block->address, words, 2) &&
	       words[0] <= COUNT_MOST && words[0] <= words[1] && words[1] + 1 + STRING_HEAD == at->block->size;
}

static bool is_of_file(const struct tpa_reach_roots *roots, uint64_t address)
{
	size_t at = TPA_UP_TO(roots->files, roots->file_count, high, address);

	return at < roots->file_count && address >= roots->files[at].low;
}

/*
 * Whether a table of virtual functions stands there that belongs to the object's beginning: in front of the table is the
 * distance of this part from it (Itanium C++ ABI, 2.5.2).
 */
static bool has_table(const struct interior *at, uint64_t part)
{
	uint64_t table, head[3]; /* to the beginning; typeid; the first function */

	return read_words(at, part, &table, 1) && table % 8 == 0 && is_of_file(at->roots, table) &&
	       is_of_file(at->roots, table - 16) && read_words(at, table - 16, head, 3) &&
	       head[0] == at->block->address - part && (!head[1] || is_of_file(at->roots, head[1])) &&
	       (!head[2] || is_of_file(at->roots, head[2]));
}

static bool is_second_base(const struct interior *at)
{
	return at->pointer % 8 == 0 && has_table(at, at->block->address) && has_table(at, at->pointer);
}

bool tpa_interior_is_block(const struct tpa_reach_block *block, uint64_t pointer, const struct tpa_reach_roots *roots,
			   tpa_reach_read *read, void *context)
{
	const struct interior at = { block, roots, read, context, pointer };

	if (block->size < 16 || pointer <= block->address)
		return false;
	return follows_count(&at) || is_string(&at) || is_second_base(&at);
}
