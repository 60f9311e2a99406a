/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/stack_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct tpa_chain { /* one stack that has the chain */
	uint32_t source, node;
};

struct tpa_chain_source {
	const struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	uint32_t *lines; /* number of the line's key, by number of its location; 0: not looked up yet */
	size_t room;
};

void tpa_chains_init(struct tpa_chains *chains, bool whole)
{
	memset(chains, 0, sizeof(*chains));
	chains->whole = whole;
	tpa_keys_init(&chains->keys);
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

/* Stacks come process by process, so search from the latest. */
static struct tpa_chain_source *source_of(struct tpa_chains *chains, const struct tpa_stack *stack)
{
	for (size_t i = chains->source_count; i-- > 0;)
		if (chains->sources[i].symbols == stack->symbols)
			return &chains->sources[i];
	tpa_grow(&chains->sources, &chains->source_room, chains->source_count + 1, sizeof(*chains->sources));
	chains->sources[chains->source_count] = (struct tpa_chain_source){ stack->trace, stack->symbols, NULL, 0 };
	return &chains->sources[chains->source_count++];
}

/* Makes room for the locations that are known by now. */
static void extend(struct tpa_chain_source *source)
{
	size_t need = tpa_symbols_locations(source->symbols), had = source->room;

	if (need <= had)
		return;
	tpa_grow(&source->lines, &source->room, need, sizeof(*source->lines));
	memset(source->lines + had, 0, (source->room - had) * sizeof(*source->lines));
}

/* Lines that are printed the same have the same number. */
static uint32_t line_number(struct tpa_chains *chains, struct tpa_chain_source *source, const struct tpa_line *line)
{
	uint32_t *known = &source->lines[line->location->number], *number;
	bool found;

	if (*known != 0)
		return *known;
	number = tpa_pairs_at(&chains->numbers, (uintptr_t)tpa_keys_get(&chains->keys, line, TPA_KEY_LINE), 0, &found);
	if (!found)
		*number = (uint32_t)chains->numbers.count;
	return *known = *number;
}

static size_t first_of(const struct tpa_chains *chains, const struct tpa_stack *stack)
{
	return chains->whole ? 0 : stack->first;
}

static uint64_t hash_of(struct tpa_chains *chains, struct tpa_chain_source *source, const struct tpa_stack *stack)
{
	uint64_t h = stack->last - first_of(chains, stack);

	for (size_t i = first_of(chains, stack); i < stack->last; i++) {
		h = (h ^ line_number(chains, source, &stack->lines[i])) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

/* Does `stack` have the same lines as the chain? The hashes are equal, and the stack's lines have numbers already. */
static bool is_same(struct tpa_chains *chains, const struct tpa_chain *chain, const struct tpa_chain_source *source,
		    const struct tpa_stack *stack)
{
	const struct tpa_chain_source *with = &chains->sources[chain->source];
	struct tpa_stack *other = &chains->other;
	size_t first = first_of(chains, stack), count = stack->last - first;
	const struct tpa_line *lines;
	bool same;

	if (with == source && chain->node == stack->node)
		return true;
	tpa_stack_read(other, with->trace, with->symbols, chain->node);
	lines = other->lines + first_of(chains, other);
	same = other->last - first_of(chains, other) == count;
	for (size_t i = 0; same && i < count; i++)
		same = with->lines[lines[i].location->number] ==
		       source->lines[stack->lines[first + i].location->number];
	return same;
}

static uint32_t add(struct tpa_chains *chains, const struct tpa_chain_source *source, uint32_t node)
{
	*TPA_APPEND(chains->list, chains->count, chains->room) =
		(struct tpa_chain){ (uint32_t)(source - chains->sources), node };
	return (uint32_t)chains->count;
}

uint32_t tpa_chains_number(struct tpa_chains *chains, const struct tpa_stack *stack)
{
	struct tpa_chain_source *source = source_of(chains, stack);
	uint64_t hash;

	extend(source);
	hash = hash_of(chains, source, stack);
	for (uint64_t others = 0;; others++) {
		bool found;
		uint32_t *at = tpa_pairs_at(&chains->index, hash, others, &found);

		if (!found)
			*at = add(chains, source, stack->node);
		if (is_same(chains, &chains->list[*at - 1], source, stack))
			return *at;
	}
}
