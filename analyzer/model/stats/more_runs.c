/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/more_runs.h"

#include <math.h>

#include "model/stats/student.h"

#define LEVEL 0.05
#define MISSED 0.2 /* share of differences of that size that may be missed */

/* Is a difference of `size` found with that many runs? Uses Student's quantiles in place of noncentral ones. */
static bool is_found(const double variances[2], const double runs[2], double size, double level)
{
	double a = variances[0] / runs[0], b = variances[1] / runs[1], error = sqrt(a + b), degrees;

	if (!(error > 0))
		return true;
	degrees = (a + b) * (a + b) / (a * a / (runs[0] - 1) + b * b / (runs[1] - 1));
	return (tpa_student_t(level, degrees) + tpa_student_t(2 * MISSED, degrees)) * error <= fabs(size);
}

size_t tpa_more_runs(const struct tpa_difference *difference, const size_t runs[2], double size, size_t tests)
{
	const double *variances = difference->variances;
	size_t low = 1, high = TPA_MORE_RUNS_MOST + 1;

	if (!runs[0] || !runs[1] || !(variances[0] + variances[1] >= 0) || !(fabs(size) > 0))
		return 0;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const double made[2] = { (double)(runs[0] + middle), (double)(runs[1] + middle) };

		if (is_found(variances, made, size, LEVEL / (double)(tests ? tests : 1)))
			high = middle;
		else
			low = middle + 1;
	}
	return low > TPA_MORE_RUNS_MOST ? 0 : low;
}
