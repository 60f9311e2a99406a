/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps/period.h"

#include <stdlib.h>
#include <string.h>

#include "trace/number_archive.h"
#include "base/memory.h"
#include "base/order.h"

#define COVERED 0.5   /* share of the sequence that the steps must cover */
#define AS_GOOD 0.004 /* candidates that differ by less are equally good */
#define PAIR_BITS 16  /* log2 of the size of the table that counts pairs of calls */

/* ---- the sequence ---- */

void tpa_sequence_add(struct tpa_sequence *sequence, uint32_t symbol)
{
	if (sequence->count < TPA_PERIOD_CALLS)
		tpa_grow(&sequence->ring, &sequence->room, (size_t)sequence->count + 1, sizeof(*sequence->ring));
	sequence->ring[sequence->count++ % TPA_PERIOD_CALLS] = symbol;
}

uint32_t *tpa_sequence_list(const struct tpa_sequence *sequence, size_t *count)
{
	uint64_t kept = sequence->count < TPA_PERIOD_CALLS ? sequence->count : TPA_PERIOD_CALLS;
	uint64_t first = sequence->count - kept;
	uint32_t *list = tpa_zalloc((size_t)kept, sizeof(*list));

	for (uint64_t i = 0; i < kept; i++)
		list[i] = sequence->ring[(first + i) % TPA_PERIOD_CALLS];
	*count = (size_t)kept;
	return list;
}

/*
 * Saves the op and the shape of a symbol separately, because loading may change the numbers of ops. Symbols are made in
 * model/replay/replay_steps.c.
 */
static void archive_symbol(struct tpa_archive *archive, uint32_t *symbol)
{
	uint32_t op = *symbol >> TPA_SYMBOL_SHAPE_BITS, shape = *symbol & TPA_SYMBOL_SHAPES;

	tpa_archive_op(archive, &op);
	TPA_ARCHIVE(archive, shape);
	*symbol = op << TPA_SYMBOL_SHAPE_BITS | (shape & TPA_SYMBOL_SHAPES);
}

void tpa_sequence_archive(struct tpa_archive *archive, struct tpa_sequence *sequence)
{
	size_t kept = sequence->count < TPA_PERIOD_CALLS ? (size_t)sequence->count : TPA_PERIOD_CALLS;

	TPA_ARCHIVE(archive, sequence->count);
	tpa_archive_array(archive, &sequence->ring, &kept, &sequence->room, sizeof(*sequence->ring));
	for (size_t i = 0; i < kept; i++)
		archive_symbol(archive, &sequence->ring[i]);
	if (!tpa_archive_check(archive,
			       kept == (sequence->count < TPA_PERIOD_CALLS ? sequence->count : TPA_PERIOD_CALLS),
			       "a sequence of calls is cut short"))
		sequence->count = 0;
}

/* ---- its period ---- */

struct search {
	const uint32_t *symbols;
	size_t count;
	uint32_t *sorted; /* each distinct symbol once */
	size_t distinct;
	uint32_t *ids;	  /* of each call: the index of its symbol in `sorted` */
	uint32_t *counts; /* number of calls by id */
	int32_t *pairs;	  /* by hash of the pair: how often the previous step had it */
};

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return TPA_UP(a, b);
}

static uint32_t id_of(const struct search *search, uint32_t symbol)
{
	const uint32_t *found = bsearch(&symbol, search->sorted, search->distinct, sizeof(*search->sorted), by_value);

	return (uint32_t)(found - search->sorted);
}

static void prepare(struct search *search)
{
	search->sorted = tpa_copy(search->symbols, search->count * sizeof(*search->sorted));
	search->ids = tpa_zalloc(search->count, sizeof(*search->ids));
	search->pairs = tpa_zalloc((size_t)1 << PAIR_BITS, sizeof(*search->pairs));
	search->counts = tpa_zalloc(search->count, sizeof(*search->counts));
	qsort(search->sorted, search->count, sizeof(*search->sorted), by_value);
	for (size_t i = 0; i < search->count; i++)
		if (!i || search->sorted[i] != search->sorted[search->distinct - 1])
			search->sorted[search->distinct++] = search->sorted[i];
	for (size_t i = 0; i < search->count; i++)
		search->counts[search->ids[i] = id_of(search, search->symbols[i])]++;
}

static int32_t *pair_at(const struct search *search, size_t call)
{
	uint64_t pair = (uint64_t)search->ids[call] << 32 | search->ids[call + 1];

	return &search->pairs[(pair * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PAIR_BITS)];
}

/* Counts the pairs of calls that the steps [a, b) and [b, c) have in common. */
static size_t alike(const struct search *search, size_t a, size_t b, size_t c)
{
	size_t common = 0;

	for (size_t i = a; i < b; i++)
		++*pair_at(search, i);
	for (size_t i = b; i < c; i++) {
		int32_t *left = pair_at(search, i);

		common += *left > 0;
		--*left;
	}
	for (size_t i = a; i < c; i++)
		*pair_at(search, i) = 0;
	return common;
}

/* Rates how alike the steps are that this op's calls cut the sequence into, weighted by their length. */
static struct tpa_period judge(const struct search *search, uint32_t id)
{
	size_t first = 0, before = 0, last = 0, steps = 0;
	double common = 0, weight = 0;

	for (size_t i = 0; i + 1 < search->count; i++) {
		if (search->ids[i] != id)
			continue;
		if (steps++ == 0)
			first = i;
		if (steps > 2) {
			size_t longer = last - before > i - last ? last - before : i - last;

			common += (double)alike(search, before, last, i) / (double)longer * (double)(i - before);
			weight += (double)(i - before);
		}
		before = last;
		last = i;
	}
	if (steps < TPA_PERIOD_REPEATS + 1 || (double)(last - first) < COVERED * (double)search->count)
		return (struct tpa_period){ .found = false };
	return (struct tpa_period){
		.found = common >= TPA_PERIOD_ALIKE * weight,
		.symbol = search->sorted[id],
		.calls = (double)(last - first) / (double)(steps - 1),
		.repeats = steps - 1,
		.confidence = weight > 0 ? common / weight : 0,
	};
}

/* Lists the ids to try. Ops called equally often cut the sequence alike, so only the first of them is tried. */
static uint32_t *candidates(const struct search *search, size_t *count)
{
	uint32_t *list = tpa_zalloc(search->distinct, sizeof(*list));
	bool *taken = tpa_zalloc(search->count, sizeof(*taken));

	*count = 0;
	for (size_t i = 0; i < search->count; i++) {
		uint32_t id = search->ids[i], calls = search->counts[id];

		if (calls <= TPA_PERIOD_REPEATS || calls > search->count / 2 || taken[calls])
			continue;
		taken[calls] = true;
		list[(*count)++] = id;
	}
	free(taken);
	return list;
}

static bool is_better(const struct tpa_period *a, const struct tpa_period *b, double best)
{
	return a->found && a->confidence >= best - AS_GOOD && (!b->found || a->repeats > b->repeats);
}

static struct tpa_period find(const struct search *search)
{
	struct tpa_period best = { .found = false }, *judged;
	double confidence = 0;
	size_t count;
	uint32_t *list = candidates(search, &count);

	judged = tpa_zalloc(count, sizeof(*judged));
	for (size_t i = 0; i < count; i++) {
		judged[i] = judge(search, list[i]);
		if (judged[i].found && judged[i].confidence > confidence)
			confidence = judged[i].confidence;
	}
	for (size_t i = 0; i < count; i++)
		if (is_better(&judged[i], &best, confidence))
			best = judged[i];
	free(list);
	free(judged);
	return best;
}

struct tpa_period tpa_period_find(const uint32_t *symbols, size_t count)
{
	struct search search = { .symbols = symbols, .count = count };
	struct tpa_period period;

	if (count <= TPA_PERIOD_REPEATS)
		return (struct tpa_period){ .found = false };
	prepare(&search);
	period = find(&search);
	free(search.sorted);
	free(search.ids);
	free(search.pairs);
	free(search.counts);
	return period;
}
