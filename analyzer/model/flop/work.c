/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flop/work_impl.h"

static uint64_t whole(tpa_real number)
{
	return number < 0 ? 0 : number >= 18446744073709551616.0L ? UINT64_MAX : (uint64_t)(number + 0.5L);
}

static tpa_real flop_of(const struct tpa_work_count *count, const struct tpa_work *work, bool complex)
{
	if (!complex)
		return count->multiplications + count->additions;
	if (work->flags & TPROF_WORK_REAL) /* complex times real: no cross terms */
		return 2 * count->multiplications + 2 * count->additions;
	return 6 * count->multiplications + 2 * count->additions;
}

static const struct tpa_dtype *of(uint8_t dtype, const struct tpa_dtype *first)
{
	return dtype ? tpa_dtype(dtype) : first;
}

static tpa_real bytes_of(const struct tpa_work_count *count, const struct tpa_dtype *first,
			 const struct tpa_dtype *second, const struct tpa_dtype *result)
{
	return (count->elements - count->second - count->result) * first->bytes + count->second * second->bytes +
	       count->result * result->bytes;
}

struct tpa_work_amount tpa_work_amount(const struct tpa_work *work)
{
	const struct tpa_work_row *row = tpa_work_row(work->kind);
	const struct tpa_dtype *type = tpa_dtype(work->dtype);
	struct tpa_work_amount amount = { .precision = type ? type->precision : TPA_UNSAID };
	struct tpa_work_dims dims = { .right = work->flags & TPROF_WORK_RIGHT,
				      .backward = work->flags & TPROF_WORK_BACKWARD,
				      .weights = work->flags & TPROF_WORK_WEIGHTS,
				      .complex = type && type->complex };
	struct tpa_work_count count;

	if (work->flags & TPROF_WORK_QUERY)
		amount.flop_known = amount.bytes_known = true;
	if (work->flags & TPROF_WORK_QUERY || !row || !row->formula || !type)
		return amount;
	for (size_t i = 0; i < TPROF_WORK_DIMS; i++)
		dims.d[i] = (tpa_real)work->dim[i];
	count = row->formula(&dims);
	amount.flop_known = count.additions >= 0;
	amount.bytes_known = count.elements >= 0 && of(work->second, type) && of(work->result, type);
	if (amount.flop_known)
		amount.flop = whole(flop_of(&count, work, type->complex && !row->real));
	if (amount.bytes_known)
		amount.bytes = whole(bytes_of(&count, type, of(work->second, type), of(work->result, type)));
	return amount;
}

uint64_t tpa_work_times(uint64_t amount, uint64_t count)
{
	uint64_t product;

	return __builtin_mul_overflow(amount, count, &product) ? UINT64_MAX : product;
}

/* Kinds with one dimension do work proportional to it, so the work of the summed dimension is the sum of the work. */
struct tpa_work_amount tpa_fold_amount(const struct tpa_folded *folded)
{
	struct tpa_work_amount amount;
	struct tpa_work sum = folded->work;

	if (folded->sums) {
		sum.dim[0] = folded->counts.units;
		return tpa_work_amount(&sum);
	}
	amount = tpa_work_amount(&folded->work);
	amount.flop = tpa_work_times(amount.flop, folded->counts.calls);
	amount.bytes = tpa_work_times(amount.bytes, folded->counts.calls);
	return amount;
}
