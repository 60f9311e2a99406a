/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/folded.h"

#include <string.h>

#include "base/varint.h"
#include "trace/impl.h"

#define MOST 1024 /* bytes of a FOLD record */
#define LAST (TPROF_FOLD_BUCKETS - 1)

bool tpa_folded_read(const struct tpa_trace *trace, uint64_t offset, struct tpa_folded *folded)
{
	uint8_t bytes[MOST + TPA_PADDING] = { 0 };
	size_t size = tpa_trace_bytes_at(tpa_impl(trace), bytes, MOST, offset);
	const uint8_t *at = bytes + 1, *end;
	uint64_t length;

	if (bytes[0] != TPROF_EVENT_FOLD << 2)
		return false;
	length = tpa_uvarint(&at);
	if (length > size || at + length > bytes + size)
		return false;
	end = at + length;
	tpa_uvarint(&at); /* dtime */
	tpa_uvarint(&at); /* op */
	return tpa_read_ok(bytes, at, end) && tpa_fold_read(folded, at, (size_t)(end - at));
}

/* False: `now` is less than `before`. */
static bool subtract(const struct tprof_fold *before, const struct tprof_fold *now, struct tprof_fold *added)
{
	bool good = now->calls >= before->calls && now->ticks >= before->ticks && now->units >= before->units;

	added->calls = now->calls - before->calls;
	added->ticks = now->ticks - before->ticks;
	added->units = now->units - before->units;
	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++) {
		good = good && now->histogram[i] >= before->histogram[i];
		added->histogram[i] = (uint16_t)(now->histogram[i] - before->histogram[i]);
	}
	return good;
}

/* Sets the shortest and the longest duration. */
static void find_extremes(const struct tprof_fold *before, struct tprof_fold *added)
{
	unsigned low = 0, high = LAST;
	uint32_t least, most;

	while (low < LAST && !added->histogram[low])
		low++;
	while (high > low && !added->histogram[high])
		high--;
	least = tprof_fold_low(low);
	most = high < LAST ? tprof_fold_low(high + 1) - 1 : added->max;
	if (added->min >= before->min && added->min < least)
		added->min = least;
	if (added->max <= before->max && added->max > most)
		added->max = most;
	if (added->min > added->max)
		added->min = added->max;
}

bool tpa_folded_added(const struct tpa_folded *before, const struct tpa_folded *now, struct tpa_folded *added)
{
	*added = *now;
	if (!subtract(&before->counts, &now->counts, &added->counts) || !added->counts.calls)
		return false;
	added->timed = now->timed - before->timed;
	if (added->counts.calls < added->timed) /* the earlier reading came in the middle of a call's end */
		added->counts.calls = added->timed;
	if (added->timed)
		find_extremes(&before->counts, &added->counts);
	added->lasted = now->lasted - before->lasted;
	added->lasted_calls = now->lasted_calls - before->lasted_calls;
	if (now->lasted < before->lasted || now->lasted_calls < before->lasted_calls ||
	    added->lasted_calls < added->timed || added->lasted_calls > added->counts.calls)
		added->lasted = added->lasted_calls = 0;
	return true;
}
