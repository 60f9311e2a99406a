/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff_words.h"

#include <math.h>

static bool leaves_out(const struct tpa_interval *interval, double value)
{
	return interval->low > value || interval->high < value;
}

static bool is_within(const struct tpa_interval *interval, double low, double high)
{
	return interval->low >= low && interval->high <= high;
}

static bool is_known(const struct tpa_interval *interval)
{
	return !isnan(interval->low) || !isnan(interval->high);
}

enum tpa_diff_word tpa_diff_word(const struct tpa_difference *difference, double corrected, double larger)
{
	const struct tpa_interval *ratio = &difference->interval, *change = &difference->change;
	double matters = TPA_DIFF_MATTERS * fabs(larger);
	bool differs = is_known(ratio)	  ? leaves_out(ratio, 1)
		       : is_known(change) ? leaves_out(change, 0)
					  : difference->p < TPA_DIFF_LEVEL;

	if (differs)
		return corrected < TPA_DIFF_LEVEL ? TPA_DIFF_SURE : TPA_DIFF_LIKELY;
	return is_within(ratio, 1 / (1 + TPA_DIFF_MATTERS), 1 + TPA_DIFF_MATTERS) ||
			       is_within(change, -matters, matters)
		       ? TPA_DIFF_NONE
		       : TPA_DIFF_FEW_RUNS;
}

double tpa_diff_size(double seen, double larger)
{
	return fmax(fabs(seen), TPA_DIFF_MATTERS * fabs(larger));
}
