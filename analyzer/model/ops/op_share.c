/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/op_share.h"

#include <math.h>

#include "model/stats/student.h"

void tpa_op_share_add(struct tpa_op_share *share, unsigned which, uint64_t amount, double ticks)
{
	share->squares[which] += (double)amount * (double)amount;
	share->crossed[which] += (double)amount * ticks;
	share->before[which] += amount;
}

struct tpa_whole tpa_op_share_whole(const struct tpa_op_spans *spans, const struct tpa_op_share *share, unsigned which,
				    double recorded)
{
	double whole = (double)spans->whole, n = (double)spans->count, rate, left, variance;

	if (!(spans->time > 0))
		return (struct tpa_whole){ NAN, NAN };
	if (!(whole > spans->time))
		return (struct tpa_whole){ recorded, 0 };
	if (spans->count < 2)
		return (struct tpa_whole){ recorded * whole / spans->time, NAN };
	rate = (double)share->before[which] / spans->time;
	left = share->squares[which] - 2 * rate * share->crossed[which] + rate * rate * spans->square;
	variance =
		whole * whole * (1 - spans->time / whole) * n / (n - 1) * fmax(left, 0) / (spans->time * spans->time);
	return (struct tpa_whole){ recorded * whole / spans->time, tpa_student_t(0.05, n - 1) * sqrt(variance) };
}

void tpa_op_whole_add(struct tpa_op_whole *to, const struct tpa_op_whole *from)
{
	to->limited |= from->limited;
	for (unsigned which = 0; which < TPA_SHARES; which++) {
		to->amounts[which].value += from->amounts[which].value;
		to->amounts[which].half = hypot(to->amounts[which].half, from->amounts[which].half);
	}
}
