/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats.h"

#include <math.h>

struct tp_interval tp_interval_share(double hits, double trials)
{
	const double z2 = TP_NORMAL_95 * TP_NORMAL_95;
	double share, centre, half;

	if (!(trials > 0))
		return (struct tp_interval){ 0, 1 };
	share = hits / trials;
	centre = (share + z2 / (2 * trials)) / (1 + z2 / trials);
	half = TP_NORMAL_95 * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials);
	/* At shares of 0 and 1 one end is the share itself, but for rounding. */
	return (struct tp_interval){ hits > 0 ? fmax(centre - half, 0) : 0,
				     hits < trials ? fmin(centre + half, 1) : 1 };
}

double tp_interval_half(double variance)
{
	return variance > 0 ? TP_NORMAL_95 * sqrt(variance) : 0;
}

struct tp_interval tp_interval_estimate(double estimate, double variance)
{
	double half = tp_interval_half(variance);

	return (struct tp_interval){ estimate > half ? estimate - half : 0, estimate + half };
}

uint64_t tp_round(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p63 ? (uint64_t)llround(value) : UINT64_MAX;
}
