/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"

#include <stdlib.h>

#define COMPARE(name, type)                                                                                            \
	static int name(const void *a, const void *b, void *at)                                                        \
	{                                                                                                              \
		type x = *(const type *)(const void *)((const char *)a + *(const size_t *)at);                         \
		type y = *(const type *)(const void *)((const char *)b + *(const size_t *)at);                         \
                                                                                                                       \
		return TPA_UP(x, y);                                                                                   \
	}

COMPARE(compare_u32, uint32_t)
COMPARE(compare_u64, uint64_t)
COMPARE(compare_double, double)

void tpa_sort(void *list, size_t count, size_t size, size_t at, enum tpa_number number)
{
	static int (*const compare[])(const void *a, const void *b, void *at) = {
		[TPA_NUMBER_U32] = compare_u32,
		[TPA_NUMBER_U64] = compare_u64,
		[TPA_NUMBER_DOUBLE] = compare_double,
	};

	if (count)
		qsort_r(list, count, size, compare[number], &at);
}
