/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flop/work_impl.h"

static uint64_t whole(tp_real number)
{
	return number < 0 ? 0 : number >= 18446744073709551616.0L ? UINT64_MAX : (uint64_t)(number + 0.5L);
}

static tp_real flop_of(const struct tp_work_count *count, const struct tp_work *work, bool complex)
{
	if (!complex)
		return count->multiplications + count->additions;
	if (work->flags & TPROF_WORK_REAL) /* by a real number: no cross terms */
		return 2 * count->multiplications + 2 * count->additions;
	return 6 * count->multiplications + 2 * count->additions;
}

static const struct tp_dtype *of(uint8_t dtype, const struct tp_dtype *first)
{
	return dtype ? tp_dtype(dtype) : first;
}

static tp_real bytes_of(const struct tp_work_count *count, const struct tp_dtype *first, const struct tp_dtype *second,
			const struct tp_dtype *result)
{
	return (count->elements - count->second - count->result) * first->bytes + count->second * second->bytes +
	       count->result * result->bytes;
}

struct tp_work_amount tp_work_amount(const struct tp_work *work)
{
	const struct tp_work_row *row = tp_work_row(work->kind);
	const struct tp_dtype *type = tp_dtype(work->dtype);
	struct tp_work_amount amount = { .precision = type ? type->precision : TP_UNSAID };
	struct tp_work_dims dims = { .right = work->flags & TPROF_WORK_RIGHT,
				     .backward = work->flags & TPROF_WORK_BACKWARD,
				     .weights = work->flags & TPROF_WORK_WEIGHTS,
				     .complex = type && type->complex };
	struct tp_work_count count;

	if (work->flags & TPROF_WORK_QUERY)
		amount.flop_known = amount.bytes_known = true;
	if (work->flags & TPROF_WORK_QUERY || !row || !row->formula || !type)
		return amount;
	for (size_t i = 0; i < TPROF_WORK_DIMS; i++)
		dims.d[i] = (tp_real)work->dim[i];
	count = row->formula(&dims);
	amount.flop_known = count.additions >= 0;
	amount.bytes_known = count.elements >= 0 && of(work->second, type) && of(work->result, type);
	if (amount.flop_known)
		amount.flop = whole(flop_of(&count, work, type->complex && !row->real));
	if (amount.bytes_known)
		amount.bytes = whole(bytes_of(&count, type, of(work->second, type), of(work->result, type)));
	return amount;
}

uint64_t tp_work_times(uint64_t amount, uint64_t count)
{
	uint64_t product;

	return __builtin_mul_overflow(amount, count, &product) ? UINT64_MAX : product;
}

/* Of one dimension the work is proportional to it, so that of the sum is the sum of the work. */
struct tp_work_amount tp_fold_amount(const struct tp_folded *folded)
{
	struct tp_work_amount amount;
	struct tp_work sum = folded->work;

	if (folded->sums) {
		sum.dim[0] = folded->counts.units;
		return tp_work_amount(&sum);
	}
	amount = tp_work_amount(&folded->work);
	amount.flop = tp_work_times(amount.flop, folded->counts.calls);
	amount.bytes = tp_work_times(amount.bytes, folded->counts.calls);
	return amount;
}
