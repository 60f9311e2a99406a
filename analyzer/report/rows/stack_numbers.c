/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/stack_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct tpa_chain { /* a stack that has it */
	uint32_t source, node;
};

struct tpa_chain_source {
	const struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	uint32_t *lines; /* numbers of keys, by the location's number; 0: not asked for yet */
	size_t room;
};

bool tpa_chains_init(struct tpa_chains *chains, bool whole)
{
	memset(chains, 0, sizeof(*chains));
	chains->whole = whole;
	return tpa_keys_init(&chains->keys);
}

void tpa_chains_free(struct tpa_chains *chains)
{
	for (size_t i = 0; i < chains->source_count; i++)
		free(chains->sources[i].lines);
	free(chains->sources);
	free(chains->list);
	tpa_pairs_free(&chains->index);
	tpa_pairs_free(&chains->numbers);
	tpa_keys_free(&chains->keys);
	tpa_stack_free(&chains->other);
	memset(chains, 0, sizeof(*chains));
}

/* Those of one process come behind each other: the last is the first to be looked at. NULL: no memory. */
static struct tpa_chain_source *source_of(struct tpa_chains *chains, const struct tpa_stack *stack)
{
	for (size_t i = chains->source_count; i-- > 0;)
		if (chains->sources[i].symbols == stack->symbols)
			return &chains->sources[i];
	tpa_grow(&chains->sources, &chains->source_room, chains->source_count + 1, sizeof(*chains->sources));
	chains->sources[chains->source_count] = (struct tpa_chain_source){ stack->trace, stack->symbols, NULL, 0 };
	return &chains->sources[chains->source_count++];
}

/* Numbers of the locations that are known by now. */
static bool extend(struct tpa_chain_source *source)
{
	size_t need = tpa_symbols_locations(source->symbols), had = source->room;

	if (need <= had)
		return true;
	tpa_grow(&source->lines, &source->room, need, sizeof(*source->lines));
	memset(source->lines + had, 0, (source->room - had) * sizeof(*source->lines));
	return true;
}

/* The same for lines that are printed the same. 0: no memory. */
static uint32_t line_number(struct tpa_chains *chains, struct tpa_chain_source *source, const struct tpa_line *line)
{
	uint32_t *known = &source->lines[line->location->number], *number;
	bool found = false;
	const char *key;

	if (*known != 0)
		return *known;
	key = tpa_keys_get(&chains->keys, line, TPA_KEY_LINE);
	number = key ? tpa_pairs_at(&chains->numbers, (uintptr_t)key, 0, &found) : NULL;
	if (!number)
		return 0;
	if (!found)
		*number = (uint32_t)chains->numbers.count;
	return *known = *number;
}

static size_t first_of(const struct tpa_chains *chains, const struct tpa_stack *stack)
{
	return chains->whole ? 0 : stack->first;
}

static bool hash_of(struct tpa_chains *chains, struct tpa_chain_source *source, const struct tpa_stack *stack,
		    uint64_t *hash)
{
	uint64_t h = stack->last - first_of(chains, stack);

	for (size_t i = first_of(chains, stack); i < stack->last; i++) {
		uint32_t number = line_number(chains, source, &stack->lines[i]);

		if (!number)
			return false;
		h = (h ^ number) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	*hash = h;
	return true;
}

/* Its lines have their numbers already. False in *same: they only have the hash in common. False: no memory. */
static bool compare(struct tpa_chains *chains, const struct tpa_chain *chain, const struct tpa_chain_source *source,
		    const struct tpa_stack *stack, bool *same)
{
	const struct tpa_chain_source *with = &chains->sources[chain->source];
	struct tpa_stack *other = &chains->other;
	size_t first = first_of(chains, stack), count = stack->last - first;
	const struct tpa_line *lines;

	*same = true;
	if (with == source && chain->node == stack->node)
		return true;
	if (!tpa_stack_read(other, with->trace, with->symbols, chain->node))
		return false;
	lines = other->lines + first_of(chains, other);
	*same = other->last - first_of(chains, other) == count;
	for (size_t i = 0; *same && i < count; i++)
		*same = with->lines[lines[i].location->number] ==
			source->lines[stack->lines[first + i].location->number];
	return true;
}

/* Its number. 0: no memory. */
static uint32_t add(struct tpa_chains *chains, const struct tpa_chain_source *source, uint32_t node)
{
	tpa_grow(&chains->list, &chains->room, chains->count + 1, sizeof(*chains->list));
	chains->list[chains->count++] = (struct tpa_chain){ (uint32_t)(source - chains->sources), node };
	return (uint32_t)chains->count;
}

bool tpa_chains_number(struct tpa_chains *chains, const struct tpa_stack *stack, uint32_t *number)
{
	struct tpa_chain_source *source = source_of(chains, stack);
	bool found, same = false;
	uint64_t hash;

	if (!source || !extend(source) || !hash_of(chains, source, stack, &hash))
		return false;
	for (uint64_t others = 0; !same; others++) {
		uint32_t *at = tpa_pairs_at(&chains->index, hash, others, &found);

		if (!at)
			return false;
		if (!found)
			*at = add(chains, source, stack->node);
		if (!*at || !compare(chains, &chains->list[*at - 1], source, stack, &same))
			return false;
		*number = *at;
	}
	return true;
}
