/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/batches.h"

#include <math.h>

#define SHUFFLED_MAX 256u /* pieces into which calls in an unknown order are cut, at most */

static void add_log(struct tpa_batches *batches, double value, uint64_t calls)
{
	batches->calls += calls;
	tpa_series_add(&batches->series, batches->means, TPA_BATCH_MAX, value, calls);
}

static double log_of(double ns)
{
	return log(ns > 1 ? ns : 1);
}

void tpa_batches_add(struct tpa_batches *batches, double ns, uint64_t calls)
{
	add_log(batches, log_of(ns), calls);
}

/* Returns a pseudo-random number below `below`, by Marsaglia's xorshift. */
static uint64_t any_below(uint64_t *state, uint64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % below;
}

/*
 * If there are more than SHUFFLED_MAX calls, adds them in pieces. All calls of a piece get the duration of the call in
 * its middle, and each piece comes from another part of the distribution. So the batches differ by more than they
 * really did, never by less.
 */
void tpa_batches_add_parts(struct tpa_batches *batches, const struct tpa_batch_part *parts, size_t count)
{
	double values[SHUFFLED_MAX];
	uint64_t calls = 0, piece, state = 88172645463325252u, behind = 0;
	size_t pieces, part = 0;

	for (size_t i = 0; i < count; i++)
		calls += parts[i].calls;
	if (!calls)
		return;
	pieces = calls < SHUFFLED_MAX ? (size_t)calls : SHUFFLED_MAX;
	piece = calls / pieces;
	for (size_t i = 0; i < pieces; i++) {
		/* Find the call in the middle of the piece. */
		while (part + 1 < count && behind + parts[part].calls <= i * piece + piece / 2)
			behind += parts[part++].calls;
		values[i] = log_of(parts[part].ns);
	}
	for (size_t i = pieces; i-- > 0;) {
		size_t other = (size_t)any_below(&state, i + 1);
		double value = values[other];

		values[other] = values[i];
		add_log(batches, value, i ? piece : calls - piece * (pieces - 1));
	}
}

void tpa_batches_scale(struct tpa_batches *batches, double factor)
{
	for (size_t i = 0; i < batches->series.count; i++)
		batches->means[i] += log(factor);
	batches->series.open_sum += (double)batches->series.open * log(factor);
}

void tpa_batches_append(struct tpa_batches *to, const struct tpa_batches *from)
{
	for (size_t i = 0; i < from->series.count; i++)
		add_log(to, from->means[i], from->series.size);
	if (from->series.open)
		add_log(to, from->series.open_sum / (double)from->series.open, from->series.open);
}
