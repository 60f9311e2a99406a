/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/warmup.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* A quartile (1 to 3) of n sorted values, by nearest rank. */
static double quartile(const uint64_t *sorted, size_t n, size_t of_four)
{
	size_t rank = (n * of_four + 3) / 4;

	return (double)sorted[rank - 1];
}

size_t tpa_warmup(const uint64_t *durations, size_t count)
{
	uint64_t sorted[TPA_HISTOGRAM_EXACT];
	size_t half, rest, warm = 1;
	double fence;

	count = count < TPA_HISTOGRAM_EXACT ? count : TPA_HISTOGRAM_EXACT;
	if (count < 2)
		return 0;
	if (count < TPA_WARMUP_MIN)
		return 1;
	half = count / 2;
	rest = count - half;
	memcpy(sorted, durations + half, rest * sizeof(*sorted));
	TPA_SORT_NUMBERS(sorted, rest);
	fence = 2.5 * quartile(sorted, rest, 3) - 1.5 * quartile(sorted, rest, 1);
	while (warm < half && (double)durations[warm] > fence)
		warm++;
	return warm;
}

size_t tpa_warmup_of(const struct tpa_histogram *durations)
{
	return tpa_warmup(durations->few,
			  durations->count < TPA_HISTOGRAM_EXACT ? (size_t)durations->count : TPA_HISTOGRAM_EXACT);
}
