/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flop/work_impl.h"

#include <string.h>

/* ---- reading ---- */

static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static void take_types(struct tp_work *work, uint64_t types)
{
	work->second = TPROF_WORK_TYPE_SECOND(types);
	work->result = TPROF_WORK_TYPE_RESULT(types);
}

bool tp_work_read(struct tp_work *work, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;
	uint64_t kind, number;

	memset(work, 0, sizeof(*work));
	if (!read_number(&at, end, &kind) || end - at < 2)
		return false;
	work->kind = kind < UINT32_MAX ? (uint32_t)kind : UINT32_MAX;
	work->dtype = *at++;
	work->flags = *at++;
	while (at < end && work->dims < TPROF_WORK_DIMS + 1) {
		if (!read_number(&at, end, &number))
			return false;
		if (at == end && work->flags & TPROF_WORK_TYPES)
			take_types(work, number);
		else if (work->dims < TPROF_WORK_DIMS)
			work->dim[work->dims++] = number;
		else
			break;
	}
	return true;
}

/* What stands before the counts. Written before the last of its calls was counted: it may be one more. */
static void read_lasted(struct tp_folded *folded, const uint8_t *counts, size_t before)
{
	uint64_t lasted = 0;

	if (folded->counts.flags & TPROF_FOLD_LASTED && before >= sizeof(lasted))
		memcpy(&lasted, counts - sizeof(lasted), sizeof(lasted));
	folded->lasted = (uint32_t)lasted;
	folded->lasted_calls = (uint32_t)(lasted >> 32);
	if (folded->lasted_calls > folded->counts.calls)
		folded->lasted_calls = folded->counts.calls;
	if (folded->lasted_calls < folded->timed || !folded->lasted_calls)
		folded->lasted = folded->lasted_calls = 0;
}

bool tp_fold_read(struct tp_folded *folded, const uint8_t *bytes, size_t length)
{
	uint32_t timed = 0;

	memset(&folded->work, 0, sizeof(folded->work));
	if (length < 1 + sizeof(folded->counts) || bytes[0] > length - 1 - sizeof(folded->counts))
		return false;
	if (bytes[0] && !tp_work_read(&folded->work, bytes + 1, bytes[0]))
		return false;
	memcpy(&folded->counts, bytes + length - sizeof(folded->counts), sizeof(folded->counts));
	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		timed += folded->counts.histogram[i];
	folded->timed = timed;
	/* The writer may have been killed between the two. */
	if (!(folded->counts.flags & TPROF_FOLD_SHARE) || folded->counts.calls < timed)
		folded->counts.calls = timed;
	read_lasted(folded, bytes + length - sizeof(folded->counts), length - 1 - bytes[0] - sizeof(folded->counts));
	folded->sums = folded->work.dims == 1 && folded->counts.flags & TPROF_FOLD_MIXED;
	return true;
}

/* ---- amounts ---- */

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
