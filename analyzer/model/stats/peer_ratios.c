/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/peer_ratios.h"

#include <math.h>

#include "model/stats/student.h"

/* Statistics of all ratios except one. */
struct others {
	double count, mean, variance; /* mean, variance: of their logarithms */
	double errors;		      /* mean of their squared errors */
};

static struct others others_of(const struct tpa_among *list, size_t count, size_t without)
{
	struct others others = { .count = (double)count - 1 };

	for (size_t i = 0; i < count; i++)
		if (i != without) {
			others.mean += list[i].log_ratio / others.count;
			others.errors += list[i].error * list[i].error / others.count;
		}
	for (size_t i = 0; i < count; i++)
		if (i != without)
			others.variance += pow(list[i].log_ratio - others.mean, 2) / (others.count - 1);
	return others;
}

/* The variance of the others includes their own errors. Those are subtracted, and the error of this ratio is added. */
static double p_of(const struct tpa_among *one, const struct others *others)
{
	double variance =
		fmax(others->variance - others->errors, 0) + one->error * one->error + others->variance / others->count;

	if (!(variance > 0))
		return fabs(one->log_ratio - others->mean) > 0 ? 0 : 1;
	return tpa_student_p((one->log_ratio - others->mean) / sqrt(variance), others->count - 1);
}

void tpa_among_test(struct tpa_among *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct others others;

		list[i].p = NAN;
		if (count <= TPA_AMONG_LEAST)
			continue;
		others = others_of(list, count, i);
		list[i].p = p_of(&list[i], &others);
	}
}
